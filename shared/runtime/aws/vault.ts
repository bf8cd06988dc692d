import { createAwsVault } from '../../adapters/aws/vault/aws-vault.ts'
import type { Vault } from '../../ports/vault.ts'
import type { AwsBoundary } from './boundary.ts'

/**
 * Of a function that runs a reconciler with `vault`; the bundles of others have nothing in the place of this module.
 */
export function openAwsVault({ vault = {} }: AwsBoundary): Vault {
  return createAwsVault(vault)
}
