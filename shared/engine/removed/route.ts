import { hasCode } from '../../model/errors.ts'
import { keyOf } from '../../model/object-key.ts'
import type { ApiObject } from '../../model/object.ts'
import type { StoredObject } from '../../model/stored-object.ts'
import type { Controller } from '../controller.ts'
import { isOf } from '../kind.ts'
import type { EngineOptions } from '../reconcile-key.ts'
import type { Route } from '../routes.ts'
import { recordKey, withRemoved } from './record.ts'

/**
 * Keeps the last state of what is removed, and only then wakes its key. A new object of the same name does not wait behind a
 * hold of the record: the two share their key, so that they never run at once.
 */
export function removedRoute(
  { name, kind }: Controller,
  { store, clock }: Pick<EngineOptions, 'store' | 'clock'>,
): Route {
  return {
    name,
    debounceMs: 0,
    targets: async ({ type, stored: { object } }) => {
      if (!isOf(object, kind)) return []
      const key = keyOf(object)
      const record = type === 'removed' ? await keep(object, store, clock.nowMs()) : await store.get(recordKey(key))
      if (record === undefined || (type !== 'removed' && record.engine.hold === undefined)) return []
      const what = type === 'removed' ? 'was removed' : 'is there again'
      return [{ key, stored: record, lane: 'urgent', reason: `${object.kind} ${object.metadata.name} ${what}` }]
    },
  }
}

async function keep(removed: ApiObject, store: EngineOptions['store'], nowMs: number): Promise<StoredObject> {
  for (let tries = 1; ; tries++) {
    const before = await store.get(recordKey(keyOf(removed)))
    const record = withRemoved(before, removed, nowMs)
    if (record === before) return before
    try {
      return await (before === undefined ? store.create(record) : store.replace(record, ['meta']))
    } catch (error) {
      if (!hasCode(error, 'VERSION_CONFLICT', 'ALREADY_EXISTS', 'NOT_FOUND') || tries === triesMax) throw error
    }
  }
}

const triesMax = 10
