import { asJson, conditionsOf, patchConditions } from '../../model/conditions.ts'
import { isPaused } from '../../model/control-annotations.ts'
import { attemptsOf, failureOf, withMemory, type EngineState } from '../../model/engine-state.ts'
import type { JsonObject } from '../../model/json.ts'
import type { ApiObject } from '../../model/object.ts'
import type { StoredObject } from '../../model/stored-object.ts'
import { backoffMs, backoffMsMax, isRetryAhead } from './backoff.ts'
import type { TurnFacts } from './run-facts.ts'

/** What an object says whose runs do not come to their end. */
export const notEnded = {
  reason: 'RunNotEnded',
  message: 'no run ended: the worker crashed, ran out of time or memory, or could not reach the store',
} as const

/** As after very many failures: about a quarter of an hour. */
export function slowBackoffMs(chance: number): number {
  return backoffMs(Infinity, chance)
}

/**
 * The state of an object whose runs do not end: it is Stalled, and is tried again slowly. Unchanged while that wait
 * runs.
 */
export function toStalledState(live: StoredObject, facts: Omit<TurnFacts, 'generation'>): StoredObject {
  const { object, engine } = live
  if (isStalled(live, facts.nowMs)) {
    const waiting = withoutWishBy(engine, engine.wait?.atMs ?? 0)
    return waiting === engine ? live : { object, engine: waiting }
  }
  const { generation } = object.metadata
  const atMs = facts.nowMs + slowBackoffMs(facts.chance)
  const failure = { attempt: attemptsOf(engine, generation) + 1, error: notEnded.message }
  const next = { ...withoutWishBy(engine, atMs), wait: { kind: 'Backoff', generation, atMs, failure } } as const
  return {
    object: facts.showsStatus ? { ...object, status: toStalledStatus(object, facts.nowMs) } : object,
    engine: withMemory(next, { ...engine.memory, unended: undefined }),
  }
}

/** A wish for an earlier run would end the wait at once. The run at the end of the wait is for the wish, too. */
function withoutWishBy(engine: EngineState, atMs: number): EngineState {
  const { wakeAtMs, netMs: _, ...others } = engine
  return wakeAtMs === undefined || wakeAtMs > atMs ? engine : others
}

/** An earlier message has said so, and the time that it set has not come. */
export function isStalled({ object, engine }: StoredObject, nowMs: number): boolean {
  const { wait } = engine
  if (failureOf(engine)?.error !== notEnded.message) return false
  return wait?.generation === object.metadata.generation && isRetryAhead(wait.atMs, nowMs, backoffMsMax)
}

function toStalledStatus(object: ApiObject, nowMs: number): JsonObject {
  const patches = {
    Ready: { status: 'False', ...notEnded },
    Stalled: { status: 'True', ...notEnded },
    // Only the next run takes Paused away, and there is none.
    ...(isPaused(object) ? {} : { Paused: null }),
  } as const
  const at = { nowMs, generation: object.metadata.generation }
  return { ...object.status, conditions: asJson(patchConditions(conditionsOf(object), patches, at)) }
}
