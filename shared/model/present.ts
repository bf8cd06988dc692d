import type { JsonObject } from './json.ts'
import type { ApiObject } from './object.ts'
import { failureOf, type AcceptedChange, type Deadlines, type EngineState } from './engine-state.ts'
import type { StoredObject } from './stored-object.ts'
import { microTimestamp } from './time.ts'

/**
 * The object as clients see it: with `status.reconcile`, the engine's visible state, while there is something to say.
 */
export function present(stored: StoredObject): ApiObject {
  const reconcile = presentEngine(stored.engine)
  if (reconcile === undefined) return stored.object
  return { ...stored.object, status: { ...stored.object.status, reconcile } }
}

function presentEngine(engine: EngineState): JsonObject | undefined {
  const { wait, change, memory: { expectations, syncedAtMs } = {} } = engine
  if (wait === undefined && expectations === undefined) return undefined
  const failure = failureOf(engine)
  const shown: JsonObject = {}
  if (wait !== undefined) shown['waiting'] = wait.kind
  if (failure !== undefined && failure.attempt > 0) shown['attempt'] = failure.attempt
  if (wait?.atMs !== undefined) shown['nextRunAt'] = microTimestamp(wait.atMs)
  if (failure !== undefined) shown['lastError'] = failure.error
  if (failure?.sameErrors !== undefined) shown['sameErrors'] = failure.sameErrors
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
