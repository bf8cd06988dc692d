import { keyOf } from '../../../model/object-key.ts'
import type { ApiObject } from '../../../model/object.ts'
import type { StoredObject } from '../../../model/stored-object.ts'
import type { Controller } from '../../../reconciler/controller.ts'
import { isOf } from '../../../reconciler/kind.ts'
import type { EngineOptions } from '../../turn/engine-options.ts'
import type { Route } from '../../wake/routes.ts'
import { writeNewest } from '../../turn/write-newest.ts'
import { recordKey, withRemoved } from '../../state/removed-record.ts'

/**
 * Keeps the last state of what is removed, and only then wakes its key. A new object of the same name does not wait
 * behind a hold of the record: the two share their key, so that they never run at once.
 */
export function createRemovedRoute(
  { name, kind }: Controller,
  { store, clock }: Pick<EngineOptions, 'store' | 'clock'>,
): Route {
  const keep = async (removed: ApiObject): Promise<StoredObject> => {
    const next = (record: StoredObject | undefined): StoredObject => withRemoved(record, removed, clock.nowMs())
    return (await writeNewest(store, recordKey(keyOf(removed)), next, () => ['meta'])).stored
  }

  return {
    name,
    debounceMs: 0,
    targets: async ({ type, stored: { object } }) => {
      if (!isOf(object, kind)) return []
      const key = keyOf(object)
      const record = type === 'removed' ? await keep(object) : await store.get(recordKey(key))
      if (record === undefined || (type !== 'removed' && record.engine.hold === undefined)) return []
      const what = type === 'removed' ? 'was removed' : 'is there again'
      return [{ key, stored: record, lane: 'urgent', reason: `${object.kind} ${object.metadata.name} ${what}` }]
    },
  }
}
