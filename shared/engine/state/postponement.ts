import { asJson, conditionsOf, patchConditions, type ConditionPatch } from '../../model/conditions.ts'
import type { EngineState, StoredObject } from '../../model/stored-object.ts'
import type { Conclusion, RunFacts } from './conclusion.ts'

/** Why a run is put off. */
export interface Postponement {
  readonly waiting: 'RateLimited' | 'HotLoop'
  readonly untilMs: number
  /** When its reservation is for, if it has one. */
  readonly reservedMs?: number
  /** What people are told of a hot loop. */
  readonly hotLoop?: ConditionPatch
}

/** The next state of an object whose run is put off: what it knew stays, failures of its generation included. */
export function postponed(
  live: StoredObject,
  { waiting, untilMs, reservedMs, hotLoop }: Postponement,
  facts: RunFacts,
): Conclusion {
  const conditions = hotLoop && patchConditions(conditionsOf(live.object), { HotLoop: hotLoop }, facts)
  const object =
    conditions !== undefined && facts.hasStatus
      ? { ...live.object, status: { ...live.object.status, conditions: asJson(conditions) } }
      : live.object
  const { generation } = facts
  const wait = { generation, waiting, nextRunAtMs: untilMs, ...(reservedMs === undefined ? {} : { reservedMs }) }
  return { object, engine: { ...known(granted(live.engine, untilMs), generation), ...wait } }
}

/** A wish for an earlier run cannot be met: as a timer that is due it would be found again and again until then. */
function granted({ wakeAtMs, ...engine }: EngineState, untilMs: number): EngineState {
  return wakeAtMs === undefined || wakeAtMs <= untilMs ? engine : { ...engine, wakeAtMs }
}

function known({ hold: _, ...engine }: EngineState, generation: number): EngineState {
  if (engine.generation === generation) return engine
  const { attempt: __, lastError: ___, sameErrors: ____, unended: _____, ...rest } = engine
  return rest
}
