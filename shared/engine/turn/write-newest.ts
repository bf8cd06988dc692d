import { hasCode } from '../../model/errors.ts'
import { isOvertakenWrite, onNewest } from '../../model/on-newest.ts'
import type { ObjectKey } from '../../model/object-key.ts'
import type { StoredObject, Touched } from '../../model/stored-object.ts'
import type { ObjectStore } from '../../ports/object-store.ts'

export interface Newest<Stored extends StoredObject | undefined> {
  /** As it is now. */
  readonly stored: Stored
  /** Not if it was as it should be. */
  readonly isWritten: boolean
}

/**
 * Writes what `next` makes of an object as it is, `undefined` if there is none; called anew when another writer was
 * ahead. Nothing is written if it gives back what it was given. Ten tries, then the store's error: whoever writes waits
 * for the queue to bring it again.
 */
export async function writeNewest<Stored extends StoredObject | undefined>(
  store: ObjectStore,
  key: ObjectKey,
  next: (before: StoredObject | undefined) => Stored,
  touched: (before: StoredObject, after: StoredObject) => Touched,
): Promise<Newest<Stored | StoredObject>> {
  return onNewest(
    async () => {
      const before = await store.get(key)
      const after = next(before)
      if (after === undefined || after === before) return { stored: after, isWritten: false }
      const stored = await (before === undefined ? store.create(after) : store.replace(after, touched(before, after)))
      return { stored, isWritten: true }
    },
    { isConflict: isOvertaken },
  )
}

function isOvertaken(error: unknown): boolean {
  return isOvertakenWrite(error) || hasCode(error, 'ALREADY_EXISTS')
}
