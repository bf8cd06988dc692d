import { DefinitionError } from '../model/errors.ts'

/** What a reconciler may read and write in AWS Secrets Manager and Parameter Store, by the beginnings of names. */
export interface VaultGrants {
  readonly reads?: readonly VaultPrefix[]
  /** To read, too. */
  readonly writes?: readonly VaultPrefix[]
}

/**
 * Names begin with it. `{namespace}` stands for the namespace of the object that is reconciled: `shop/{namespace}/`.
 * With it, who may write into one namespace has none of another one read.
 */
export type VaultPrefix = { readonly secretsManager: string } | { readonly parameter: string }

const prefixPattern = /^[\w+=.@-]+(\/[\w+=.@-]+|\/\{namespace\})*\/$/

/** The grants, if they are some. Throws a DefinitionError. */
export function checkVaultGrants(reconciler: string, grants: VaultGrants): VaultGrants {
  for (const prefix of [...(grants.reads ?? []), ...(grants.writes ?? [])]) {
    const [name = ''] = Object.values(prefix)
    if (!prefixPattern.test(name))
      throw new DefinitionError(
        `${reconciler}: vault: ${JSON.stringify(name)} must be the beginning of names, such as shop/{namespace}/: with a slash at its end and none ahead`,
      )
  }
  return grants
}
