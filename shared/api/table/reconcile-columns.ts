import { isPaused } from '../../model/control-annotations.ts'
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

/** A pause is no wait of the engine's, which ends by itself: it is in the annotation and the condition. */
function waitCell(object: ApiObject): Json {
  return isPaused(object) ? 'Paused' : reconcileField(object, 'waiting')
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
