import type { Deadlines, EngineState } from '../../model/stored-object.ts'
import type { RunFacts } from './conclusion.ts'

/**
 * The engine state with what is expected. Of an object that rests or runs again anyway, the next run is at the next deadline
 * at the latest; a failed, stopped or postponed one keeps its own time. Deadlines that have passed wake nobody again.
 */
export function expecting(engine: EngineState, { expectations = {}, nowMs, generation }: RunFacts): EngineState {
  const kept = { ...engine, ...expectationsField(expectations) }
  const nextRunAtMs = Math.min(...Object.values(expectations).filter((untilMs) => untilMs > nowMs))
  const isFree = engine.waiting === undefined || engine.waiting === 'Requeue' || engine.waiting === 'Resync'
  if (!isFree || nextRunAtMs >= (engine.nextRunAtMs ?? Infinity)) return kept
  return { ...kept, generation, waiting: 'Expectation', nextRunAtMs }
}

/** No field if nothing is expected: an object at rest has no trace of the engine. */
export function expectationsField(expectations: Deadlines = {}): Pick<EngineState, 'expectations'> {
  return Object.keys(expectations).length === 0 ? {} : { expectations }
}
