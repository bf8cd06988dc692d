import { OperatingError } from '../model/errors.ts'
import type { Vault, VaultEntry, VaultOwner } from '../ports/vault.ts'

/** In the place of Secrets Manager and Parameter Store, for `createTestEnv({ vault })`. */
export interface TestVault extends Vault {
  /** What is in it: by `secretsManager` or `parameter`, a colon and the name. */
  readonly texts: ReadonlyMap<string, string>
  /** Puts in what somebody else has made. */
  put(entry: VaultEntry, text: string): void
  /** How often it was written to, or asked to remove something that was there. */
  readonly writes: number
}

interface Kept {
  readonly text: string
  readonly owner?: VaultOwner
}

export function createTestVault(): TestVault {
  const kept = new Map<string, Kept>()
  let writes = 0
  const isOwned = (found: Kept, { uid, controller }: VaultOwner): boolean =>
    found.owner?.uid === uid && found.owner.controller === controller
  return {
    get texts() {
      return new Map([...kept].map(([name, { text }]) => [name, text]))
    },
    get writes() {
      return writes
    },
    put: (entry, text) => void kept.set(nameOf(entry), { text }),
    read: async (entry) => kept.get(nameOf(entry))?.text,
    write: async (entry, text, owner) => {
      refuseLength(entry, text)
      const found = kept.get(nameOf(entry))
      if (found !== undefined && !isOwned(found, owner)) return 'foreign'
      if (found?.text === text) return 'unchanged'
      writes++
      kept.set(nameOf(entry), { text, owner })
      return 'written'
    },
    remove: async (entry, owner) => {
      const found = kept.get(nameOf(entry))
      if (found === undefined) return 'absent'
      if (!isOwned(found, owner)) return 'foreign'
      writes++
      kept.delete(nameOf(entry))
      return 'removed'
    },
  }
}

/** A parameter is the same with a slash ahead of its name; a secret is another one. */
function nameOf(entry: VaultEntry): string {
  return 'parameter' in entry
    ? `parameter:${entry.parameter.replace(/^\//, '')}`
    : `secretsManager:${entry.secretsManager}`
}

/** As AWS would. */
function refuseLength(entry: VaultEntry, text: string): void {
  const bytesMax = 'parameter' in entry ? 4_096 : 65_536
  const bytes = new TextEncoder().encode(text).length
  if (bytes === 0) throw new OperatingError('INVALID', 'the entry would be empty, and AWS keeps no empty text')
  if (bytes > bytesMax)
    throw new OperatingError('INVALID', `the entry would hold ${bytes} bytes, and can hold ${bytesMax}`)
}
