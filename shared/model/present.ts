import type { JsonObject } from './json.ts'
import type { ApiObject } from './object.ts'
import type { AcceptedChange, EngineState, StoredObject } from './stored-object.ts'
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
}: EngineState): JsonObject | undefined {
  if (waiting === undefined) return undefined
  const shown: JsonObject = { waiting }
  if (attempt !== undefined) shown['attempt'] = attempt
  if (nextRunAtMs !== undefined) shown['nextRunAt'] = microTimestamp(nextRunAtMs)
  if (lastError !== undefined) shown['lastError'] = lastError
  if (sameErrors !== undefined) shown['sameErrors'] = sameErrors
  if (change !== undefined) shown['change'] = presentChange(change)
  return shown
}

function presentChange({ verb, by, fields, atMs }: AcceptedChange): JsonObject {
  return { at: microTimestamp(atMs), by, verb, ...(fields === undefined ? {} : { fields }) }
}
