import { withLasting, withMemory, type EngineState } from '../../model/engine-state.ts'
import { isDeleting } from '../../model/object.ts'
import type { StoredObject } from '../../model/stored-object.ts'
import type { Controller } from '../../reconciler/controller.ts'
import { isHeldBy } from './admission.ts'
import { withoutTroubles } from './rested-state.ts'
import type { TurnFacts } from './run-facts.ts'

/**
 * The state that a run begins with: before anything outside is made, the finalizer is there and the reservation is
 * used. The same reference if all that is so already.
 */
export function toBegunState(stored: StoredObject, { finalizer }: Pick<Controller, 'finalizer'>): StoredObject {
  const engine = withoutReservation(stored.engine)
  const { object } = stored
  if (finalizer === undefined || isDeleting(object) || isHeldBy(finalizer, object))
    return engine === stored.engine ? stored : { object, engine }
  const finalizers = [...(object.metadata.finalizers ?? []), finalizer]
  return { object: { ...object, metadata: { ...object.metadata, finalizers } }, engine }
}

/** A run is under way that has not ended. */
function withoutReservation(engine: EngineState): EngineState {
  const { reservedMs, unended = 0, ...memory } = engine.memory ?? {}
  return reservedMs === undefined ? engine : withMemory(engine, { ...memory, unended: unended + 1 })
}

/** The state after a clean-up: the finalizer is gone. A wish of another holder for a run stays. */
export function toReleasedState(live: StoredObject, finalizer: string, facts: TurnFacts): StoredObject {
  const { engine } = live
  const { finalizers = [] } = live.object.metadata
  if (!finalizers.includes(finalizer)) return live
  const object = finalizers.length === 1 ? live.object : withoutTroubles(live.object, facts, true)
  const { finalizers: _, ...metadata } = object.metadata
  const left = finalizers.filter((name) => name !== finalizer)
  if (left.length === 0) return { object: { ...object, metadata }, engine: {} }
  const { wakeAtMs } = engine
  return {
    object: { ...object, metadata: { ...metadata, finalizers: left } },
    engine: withLasting(wakeAtMs === undefined ? {} : { wakeAtMs }, engine.memory),
  }
}
