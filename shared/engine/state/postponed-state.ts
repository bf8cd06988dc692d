import { asJson, conditionsOf, patchConditions, type ConditionPatch } from '../../model/conditions.ts'
import { failureOf, retryAtMsOf, withMemory, type EngineState } from '../../model/engine-state.ts'
import type { StoredObject } from '../../model/stored-object.ts'
import type { TurnFacts } from './run-facts.ts'

/** Why a run is put off. */
export interface Postponement {
  readonly kind: 'RateLimited' | 'HotLoop'
  readonly untilMs: number
  /** When its reservation is for, if it has one. */
  readonly reservedMs?: number
  /** What people read of a hot loop. */
  readonly hotLoop?: ConditionPatch
}

/**
 * The state of an object whose run is put off. What it knew stays, the failures of its generation and the time of their
 * retry included.
 */
export function toPostponedState(live: StoredObject, postponement: Postponement, facts: TurnFacts): StoredObject {
  const { object } = live
  const { hotLoop } = postponement
  const engine = toPostponedEngine(live.engine, postponement, facts.generation)
  if (hotLoop === undefined || !facts.showsStatus) return { object, engine }
  const conditions = patchConditions(conditionsOf(object), { HotLoop: hotLoop }, facts)
  return { object: { ...object, status: { ...object.status, conditions: asJson(conditions) } }, engine }
}

function toPostponedEngine(
  { wakeAtMs, hold: _, ...engine }: EngineState,
  { kind, untilMs, reservedMs }: Postponement,
  generation: number,
): EngineState {
  const isSame = engine.wait === undefined || engine.wait.generation === generation
  const failure = isSame ? failureOf(engine) : undefined
  const retryAtMs = isSame ? retryAtMsOf(engine) : undefined
  const next: EngineState = {
    ...engine,
    wait: {
      kind,
      generation,
      atMs: untilMs,
      ...(failure && { failure }),
      ...(retryAtMs !== undefined && { retryAtMs }),
    },
    // A wish for an earlier run cannot be met: as a timer that is due, the sweep would find it again and again until
    // then.
    ...(wakeAtMs !== undefined && wakeAtMs > untilMs && { wakeAtMs }),
  }
  const { memory = {} } = engine
  return withMemory(next, {
    ...memory,
    reservedMs: reservedMs ?? memory.reservedMs,
    unended: isSame ? memory.unended : undefined,
  })
}
