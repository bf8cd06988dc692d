import { absentIfDamaged } from '../../../model/damage.ts'
import { hasCode } from '../../../model/errors.ts'
import { keyOf } from '../../../model/object-key.ts'
import type { ApiObject } from '../../../model/object.ts'
import { isOfRemovedKind, removedKindOf } from '../../../model/removed-kind.ts'
import { wakesItself, type StoredObject } from '../../../model/stored-object.ts'
import type { Change } from '../../../ports/change-feed.ts'
import type { Controller } from '../../../reconciler/controller.ts'
import { isOf } from '../../../reconciler/kind.ts'
import type { EngineOptions } from '../../turn/engine-options.ts'
import { timerTargets, type Route } from '../../wake/routes.ts'
import type { Target } from '../../wake/wake-up.ts'
import { writeNewest } from '../../turn/write-newest.ts'
import { recordKey, withRemoved } from '../../state/removed-record.ts'

/**
 * Keeps the last state of what is removed, and only then wakes its key. A new object of the same name does not wait
 * behind a hold of the record: the two share their key, so that they never run at once.
 */
export function createRemovedRoute(
  { name, kind }: Controller,
  { store, clock, events, logger }: Pick<EngineOptions, 'store' | 'clock' | 'events' | 'logger'>,
): Route {
  const keep = async (removed: ApiObject): Promise<StoredObject | undefined> => {
    const next = (record: StoredObject | undefined): StoredObject => withRemoved(record, removed, clock.nowMs())
    try {
      return (await writeNewest(store, recordKey(keyOf(removed)), next, () => ['meta'])).stored
    } catch (error) {
      if (!hasCode(error, 'TOO_LARGE', 'DAMAGED')) throw error
      await tellLost(removed, String(error))
      return undefined
    }
  }

  /** Many large objects of one name, whose last runs go on failing, or a damaged record: nobody else waits for that. */
  const tellLost = async (removed: ApiObject, error: string): Promise<void> => {
    const { namespace, name: object, uid } = removed.metadata
    logger.error('no last run of a removed object: it cannot be kept', {
      controller: name,
      namespace,
      object,
      uid,
      error,
    })
    const message = `It was removed, and gets no last run of ${name}, since its last state cannot be kept: ${error}`
    await events.record(removed, { type: 'Warning', reason: 'LastRunLost', message, component: name })
  }

  const waitsOf = timerTargets({ kind: removedKindOf(kind) })
  /** A record's wait goes on with a message of its key. Beside a new object the key is that one's: the sweep has it. */
  const continueWait = async (change: Change): Promise<readonly Target[]> => {
    const [wait] = waitsOf(change)
    if (wait === undefined) return []
    const key = { ...wait.key, group: kind.group, kind: kind.kind }
    return (await absentIfDamaged(() => store.get(key))) === undefined ? [{ ...wait, key }] : []
  }

  return {
    name,
    debounceMs: 0,
    targets: async (change) => {
      const { type, touched } = change
      const { object } = change.stored
      if (isOfRemovedKind(object)) return continueWait(change)
      // What its runs write themselves wakes no object, whatever its record waits for.
      if (!isOf(object, kind) || (type !== 'removed' && !wakesItself(touched))) return []
      const key = keyOf(object)
      const record = await (type === 'removed' ? keep(object) : absentIfDamaged(() => store.get(recordKey(key))))
      if (record === undefined || (type !== 'removed' && record.engine.hold === undefined)) return []
      const what = type === 'removed' ? 'was removed' : 'is there again'
      return [{ key, stored: record, lane: 'urgent', reason: `${object.kind} ${object.metadata.name} ${what}` }]
    },
  }
}
