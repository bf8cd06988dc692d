import { keyText, type ObjectKey } from '../../../model/object-key.ts'

/**
 * The objects that were found damaged: they stay where they are, cannot be read, and hurt no other. They leave it when
 * they are deleted.
 */
export interface Quarantine {
  note(key: ObjectKey): void
  release(key: ObjectKey): void
  /** The first thousand of them. */
  keys(): readonly ObjectKey[]
}

const keysMax = 1_000

export function createQuarantine(): Quarantine {
  const found = new Map<string, ObjectKey>()
  return {
    note: (key) => {
      if (found.size < keysMax) found.set(keyText(key), key)
    },
    release: (key) => {
      if (found.size > 0) found.delete(keyText(key))
    },
    keys: () => [...found.values()],
  }
}
