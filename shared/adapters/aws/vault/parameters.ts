import type { GetParameterHistoryResult, ParameterHistory, SSMClientConfig } from '@aws-sdk/client-ssm'
import type { VaultOwner } from '../../../ports/vault.ts'
import { clientTimeouts } from '../client/client-timeouts.ts'
import { loadOnce } from '../../../model/load-once.ts'
import { errorNameOf, vaultFailure, isOwned, refuseLength, entryTags, type Entries } from './entries.ts'

/** Of a standard parameter, which costs nothing. */
const bytesMax = 4_096

/** Parameters of Systems Manager, those that are written as SecureStrings. The client is loaded by the first call. */
export function createParameters(config: SSMClientConfig): Entries {
  const load = loadOnce(async () => {
    const sdk = await import('@aws-sdk/client-ssm')
    const requestHandler = clientTimeouts({ connectMs: 1_000, answerMs: 3_000 })
    return { sdk, client: new sdk.SSMClient({ requestHandler, ...config }) }
  })

  async function read(name: string): Promise<string | undefined> {
    const { sdk, client } = await load()
    try {
      const command = new sdk.GetParameterCommand({ Name: pathOf(name), WithDecryption: true })
      return (await client.send(command)).Parameter?.Value
    } catch (error) {
      if (isAbsent(error)) return undefined
      throw vaultFailure(error, `read the parameter ${name}`)
    }
  }

  async function isOurs(name: string, owner: VaultOwner): Promise<boolean> {
    const { sdk, client } = await load()
    const command = new sdk.ListTagsForResourceCommand({ ResourceType: 'Parameter', ResourceId: pathOf(name) })
    try {
      return isOwned((await client.send(command)).TagList, owner)
    } catch (error) {
      throw vaultFailure(error, `look at the parameter ${name}`)
    }
  }

  return {
    read,
    write: async (name, text, owner) => {
      refuseLength(text, bytesMax, `parameter ${name}`)
      const found = await read(name)
      if (found !== undefined && !(await isOurs(name, owner))) return 'foreign'
      if (found === text) return 'unchanged'
      const { sdk, client } = await load()
      const given = { Name: pathOf(name), Type: 'SecureString', Value: text } as const
      // AWS takes tags for a new parameter only. Without Overwrite it refuses one that somebody else made since.
      const history = sdk.paginateGetParameterHistory({ client }, { Name: pathOf(name) })
      const how =
        found === undefined ? { Tags: entryTags(owner) } : { Overwrite: true, ...(await keyIn(history, name)) }
      try {
        await client.send(new sdk.PutParameterCommand({ ...given, ...how }))
      } catch (error) {
        throw vaultFailure(error, `write the parameter ${name}`)
      }
      return 'written'
    },
    remove: async (name, owner) => {
      if ((await read(name)) === undefined) return 'absent'
      if (!(await isOurs(name, owner))) return 'foreign'
      const { sdk, client } = await load()
      try {
        await client.send(new sdk.DeleteParameterCommand({ Name: pathOf(name) }))
      } catch (error) {
        if (isAbsent(error)) return 'absent'
        throw vaultFailure(error, `remove the parameter ${name}`)
      }
      return 'removed'
    },
  }
}

/** A value for which no key is named is encrypted with AWS's own, whatever key the one before was encrypted with. */
async function keyIn(
  history: AsyncIterable<GetParameterHistoryResult>,
  name: string,
): Promise<Pick<ParameterHistory, 'KeyId'>> {
  const versions: ParameterHistory[] = []
  try {
    for await (const { Parameters = [] } of history) versions.push(...Parameters)
  } catch (error) {
    throw vaultFailure(error, `look at the key of the parameter ${name}`)
  }
  const { KeyId } = versions.toSorted((a, b) => (a.Version ?? 0) - (b.Version ?? 0)).at(-1) ?? {}
  return KeyId === undefined ? {} : { KeyId }
}

/** A name with parts begins with a slash. */
function pathOf(name: string): string {
  return name.includes('/') && !name.startsWith('/') && !name.startsWith('arn:') ? `/${name}` : name
}

function isAbsent(error: unknown): boolean {
  return errorNameOf(error) === 'ParameterNotFound'
}
