import { isPaused } from '../../model/control-annotations.ts'
import { conditionOf } from '../../model/conditions.ts'
import { isObject, type Json } from '../../model/json.ts'
import type { ApiObject } from '../../model/object.ts'
import { parseTimestamp } from '../../model/time.ts'
import type { Column } from './column.ts'
import { humanDuration } from '../../model/human-duration.ts'

/** What every kind of users' own shows with `-o wide`: why its objects wait, and until when. */
export const reconcileColumns: readonly Column[] = [
  wide('Waiting', 'string', 'Why the next run is not now.', waitCell),
  wide('Attempt', 'integer', 'Failures in a row.', (object) => reconcileField(object, 'attempt')),
  wide('Next Run', 'string', 'The next run, at the latest.', nextRun),
  wide('Last Error', 'string', 'Message of the last failure.', (object) => reconcileField(object, 'lastError')),
]

function wide(name: string, type: string, description: string, cell: Column['cell']): Column {
  return { name, type, description, priority: 1, cell }
}

/**
 * A pause is no wait of the engine's, which ends by itself: it is in the annotation and the condition. Nor is it one
 * when an object is not ready for want of something else, such as what it refers to: that is in the condition alone.
 */
function waitCell(object: ApiObject): Json {
  return isPaused(object) ? 'Paused' : (reconcileField(object, 'waiting') ?? reasonNotReady(object))
}

function reasonNotReady(object: ApiObject): Json {
  const ready = conditionOf(object, 'Ready')
  return ready?.status === 'False' && ready.observedGeneration === object.metadata.generation ? ready.reason : null
}

function reconcileField({ status }: ApiObject, field: string): Json {
  const reconcile = status?.['reconcile']
  return (isObject(reconcile) ? reconcile[field] : undefined) ?? null
}

function nextRun(object: ApiObject, nowMs: number): Json {
  const atMs = parseTimestamp(String(reconcileField(object, 'nextRunAt')))
  if (atMs === undefined) return null
  return atMs <= nowMs ? 'now' : `in ${humanDuration(atMs - nowMs)}`
}
