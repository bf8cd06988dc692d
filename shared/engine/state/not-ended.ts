import { asJson, conditionsOf, patchConditions } from '../../model/conditions.ts'
import { isPaused } from '../../model/control-annotations.ts'
import type { JsonObject } from '../../model/json.ts'
import type { ApiObject } from '../../model/object.ts'
import type { EngineState, StoredObject } from '../../model/stored-object.ts'
import { backoffMs } from './backoff.ts'
import { failuresOf } from './conclusion.ts'

/** What an object says whose runs do not come to their end: that it is Stalled, and when it is tried again. */
export const notEnded = {
  reason: 'RunNotEnded',
  message: 'no run came to its end: the worker crashed, ran out of time or memory, or could not reach the store',
} as const

/** The count of failures whose backoff is the longest. */
const slowAttempt = 11

/** A quarter of an hour. */
export function slowBackoffMs(chance: number): number {
  return backoffMs(slowAttempt, chance)
}

export interface Stall {
  readonly nowMs: number
  readonly retryAtMs: number
  readonly showsStatus: boolean
}

/** The object as it says that. As it is, if it has said so and the time it set has not come. */
export function stalled(live: StoredObject, { nowMs, retryAtMs, showsStatus }: Stall): StoredObject {
  const { object, engine } = live
  if (isStalled(live, nowMs)) return live
  const { generation } = object.metadata
  const { sameErrors: _, unended: __, ...kept } = engine
  const waiting = {
    generation,
    attempt: failuresOf(engine, generation) + 1,
    waiting: 'Backoff',
    nextRunAtMs: retryAtMs,
    lastError: notEnded.message,
  } satisfies EngineState
  return {
    object: showsStatus ? { ...object, status: stalledStatus(object, nowMs) } : object,
    engine: { ...kept, ...waiting },
  }
}

/** An earlier message has said so, and the time it set has not come. */
function isStalled({ object, engine }: StoredObject, nowMs: number): boolean {
  const { lastError, generation, nextRunAtMs = 0 } = engine
  return lastError === notEnded.message && generation === object.metadata.generation && nextRunAtMs > nowMs
}

function stalledStatus(object: ApiObject, nowMs: number): JsonObject {
  const conditions = patchConditions(
    conditionsOf(object),
    {
      Ready: { status: 'False', ...notEnded },
      Stalled: { status: 'True', ...notEnded },
      // The next run would take it away, and there is none.
      ...(isPaused(object) ? {} : { Paused: null }),
    },
    { nowMs, generation: object.metadata.generation },
  )
  return { ...object.status, conditions: asJson(conditions) }
}
