import type { JsonObject } from './json.ts'
import type { ApiObject } from './object.ts'
import type { AcceptedChange, Deadlines, EngineState, StoredObject } from './stored-object.ts'
import { microTimestamp } from './time.ts'

/** The object as clients see it: with `status.reconcile`, the engine's visible state, while there is something to say. */
export function present(stored: StoredObject): ApiObject {
  const reconcile = presentEngine(stored.engine)
  if (reconcile === undefined) return stored.object
  return { ...stored.object, status: { ...stored.object.status, reconcile } }
}

function presentEngine({
  attempt,
  nextRunAtMs,
  waiting,
  lastError,
  sameErrors,
  change,
  expectations,
  syncedAtMs,
}: EngineState): JsonObject | undefined {
  if (waiting === undefined && expectations === undefined) return undefined
  const shown: JsonObject = {}
  if (waiting !== undefined) shown['waiting'] = waiting
  if (attempt !== undefined) shown['attempt'] = attempt
  if (nextRunAtMs !== undefined) shown['nextRunAt'] = microTimestamp(nextRunAtMs)
  if (lastError !== undefined) shown['lastError'] = lastError
  if (sameErrors !== undefined) shown['sameErrors'] = sameErrors
  if (change !== undefined) shown['change'] = presentChange(change)
  if (syncedAtMs !== undefined) shown['lastSyncTime'] = microTimestamp(syncedAtMs)
  if (expectations !== undefined) shown['expectations'] = presentDeadlines(expectations)
  return shown
}

function presentDeadlines(deadlines: Deadlines): JsonObject {
  return Object.fromEntries(Object.entries(deadlines).map(([name, untilMs]) => [name, microTimestamp(untilMs)]))
}

function presentChange({ verb, by, fields, atMs }: AcceptedChange): JsonObject {
  return { at: microTimestamp(atMs), by, verb, ...(fields === undefined ? {} : { fields }) }
}
