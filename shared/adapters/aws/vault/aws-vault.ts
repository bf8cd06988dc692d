import type { SecretsManagerClientConfig } from '@aws-sdk/client-secrets-manager'
import type { SSMClientConfig } from '@aws-sdk/client-ssm'
import type { Vault, VaultEntry } from '../../../ports/vault.ts'
import type { Entries } from './entries.ts'
import { createParameters } from './parameters.ts'
import { createSecrets } from './secrets.ts'

/** Both services. */
export function createAwsVault(client: SecretsManagerClientConfig & SSMClientConfig): Vault {
  const secrets = createSecrets(client)
  const parameters = createParameters(client)
  const find = (entry: VaultEntry): readonly [Entries, string] =>
    'parameter' in entry ? [parameters, entry.parameter] : [secrets, entry.secretsManager]
  return {
    read: (entry) => {
      const [entries, name] = find(entry)
      return entries.read(name)
    },
    write: (entry, text, owner) => {
      const [entries, name] = find(entry)
      return entries.write(name, text, owner)
    },
    remove: (entry, owner) => {
      const [entries, name] = find(entry)
      return entries.remove(name, owner)
    },
  }
}
