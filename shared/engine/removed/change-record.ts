import { hasCode } from '../../model/errors.ts'
import type { ObjectKey } from '../../model/object-key.ts'
import type { StoredObject } from '../../model/stored-object.ts'
import type { ObjectStore } from '../../ports/object-store.ts'

/**
 * Writes what `next` makes of the record as it is, `undefined` if there is none; called anew when another writer was ahead. Nothing is
 * written if it gives back what it was given. The record as it is then.
 */
export async function changeRecord<Before extends StoredObject | undefined>(
  store: ObjectStore,
  key: ObjectKey,
  next: (before: StoredObject | undefined) => StoredObject | Before,
): Promise<StoredObject | Before> {
  for (let tries = 1; ; tries++) {
    const before = await store.get(key)
    const after = next(before)
    if (after === undefined || after === before) return after
    try {
      return await (before === undefined ? store.create(after) : store.replace(after, ['meta']))
    } catch (error) {
      if (!hasCode(error, 'VERSION_CONFLICT', 'ALREADY_EXISTS', 'NOT_FOUND') || tries === triesMax) throw error
    }
  }
}

const triesMax = 10
