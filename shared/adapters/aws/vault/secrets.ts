import type { SecretsManagerClientConfig } from '@aws-sdk/client-secrets-manager'
import { randomUUID } from 'node:crypto'
import { OperatingError } from '../../../model/errors.ts'
import type { VaultOwner } from '../../../ports/vault.ts'
import { clientTimeouts } from '../client/client-timeouts.ts'
import { loadOnce } from '../../../model/load-once.ts'
import { errorNameOf, vaultFailure, isOwned, refuseLength, entryTags, type Entries } from './entries.ts'

const bytesMax = 65_536

/** Secrets of Secrets Manager. The client is loaded by the first call. */
export function createSecrets(config: SecretsManagerClientConfig): Entries {
  const load = loadOnce(async () => {
    const sdk = await import('@aws-sdk/client-secrets-manager')
    const requestHandler = clientTimeouts({ connectMs: 1_000, answerMs: 3_000 })
    return { sdk, client: new sdk.SecretsManagerClient({ requestHandler, ...config }) }
  })

  async function read(name: string): Promise<string | undefined> {
    const { sdk, client } = await load()
    try {
      const { SecretString: text } = await client.send(new sdk.GetSecretValueCommand({ SecretId: name }))
      if (text === undefined) throw new OperatingError('UNAVAILABLE', `the secret ${name} holds bytes, and no text`)
      return text
    } catch (error) {
      // Of a secret that is to be deleted, or has no value yet.
      if (isAbsent(error) || errorNameOf(error) === 'InvalidRequestException') return undefined
      throw vaultFailure(error, `read the secret ${name}`)
    }
  }

  /** `leaving`: ours, and scheduled for deletion by a person. */
  async function look(name: string, owner: VaultOwner): Promise<'ours' | 'leaving' | 'foreign' | 'absent'> {
    const { sdk, client } = await load()
    try {
      const { Tags, DeletedDate } = await client.send(new sdk.DescribeSecretCommand({ SecretId: name }))
      if (!isOwned(Tags, owner)) return 'foreign'
      return DeletedDate === undefined ? 'ours' : 'leaving'
    } catch (error) {
      if (isAbsent(error)) return 'absent'
      throw vaultFailure(error, `look at the secret ${name}`)
    }
  }

  return {
    read,
    write: async (name, text, owner) => {
      refuseLength(text, bytesMax, `secret ${name}`)
      const found = await look(name, owner)
      if (found === 'foreign') return found
      if (found === 'leaving') throw isToBeDeleted(name)
      if (found === 'ours' && (await read(name)) === text) return 'unchanged'
      const { sdk, client } = await load()
      // So that a request that the client repeats makes one version.
      const given = { SecretString: text, ClientRequestToken: randomUUID() }
      try {
        if (found === 'ours') await client.send(new sdk.PutSecretValueCommand({ SecretId: name, ...given }))
        else await client.send(new sdk.CreateSecretCommand({ Name: name, ...given, Tags: entryTags(owner) }))
        return 'written'
      } catch (error) {
        throw vaultFailure(error, `write the secret ${name}`)
      }
    },
    remove: async (name, owner) => {
      const found = await look(name, owner)
      if (found === 'foreign' || found === 'absent') return found
      const { sdk, client } = await load()
      try {
        await client.send(new sdk.DeleteSecretCommand({ SecretId: name, ForceDeleteWithoutRecovery: true }))
      } catch (error) {
        if (isAbsent(error)) return 'absent'
        throw vaultFailure(error, `remove the secret ${name}`)
      }
      return 'removed'
    },
  }
}

function isToBeDeleted(name: string): OperatingError {
  const hint = 'restore it, or wait until it is gone'
  return new OperatingError('UNAVAILABLE', `the secret ${name} is to be deleted: ${hint}`)
}

function isAbsent(error: unknown): boolean {
  return errorNameOf(error) === 'ResourceNotFoundException'
}
