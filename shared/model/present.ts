import type { JsonObject } from './json.ts'
import type { ApiObject } from './object.ts'
import type { EngineState, StoredObject } from './stored-object.ts'
import { microTimestamp } from './time.ts'

/** The object as clients see it: with `status.reconcile`, the engine's visible state, while there is something to say. */
export function present(stored: StoredObject): ApiObject {
  const reconcile = presentEngine(stored.engine)
  if (reconcile === undefined) return stored.object
  return { ...stored.object, status: { ...stored.object.status, reconcile } }
}

function presentEngine({ attempt, nextRunAtMs, waiting, lastError }: EngineState): JsonObject | undefined {
  if (waiting === undefined) return undefined
  const shown: JsonObject = { waiting }
  if (attempt !== undefined) shown['attempt'] = attempt
  if (nextRunAtMs !== undefined) shown['nextRunAt'] = microTimestamp(nextRunAtMs)
  if (lastError !== undefined) shown['lastError'] = lastError
  return shown
}
