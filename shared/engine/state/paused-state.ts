import { asJson, conditionsOf, patchConditions } from '../../model/conditions.ts'
import { isPaused } from '../../model/control-annotations.ts'
import { withMemory } from '../../model/engine-state.ts'
import type { StoredObject } from '../../model/stored-object.ts'
import type { TurnFacts } from './run-facts.ts'

/**
 * The state of a paused object: a condition says so, and no timer is set. An object that was unpaused since the turn
 * began keeps its wait.
 */
export function toPausedState(live: StoredObject, facts: TurnFacts): StoredObject {
  const { object, engine } = live
  if (!isPaused(object)) return live
  const { reservedMs: _reservedMs, unended: _unended, ...memory } = engine.memory ?? {}
  const { wait: _wait, wakeAtMs: _wakeAtMs, netMs: _netMs, hold: _hold, ...timeless } = engine
  return {
    object: facts.showsStatus ? withCondition(live, facts) : object,
    engine: withMemory(timeless, memory),
  }
}

function withCondition({ object }: StoredObject, facts: TurnFacts): StoredObject['object'] {
  const message = 'nothing is done for this object until the annotation is removed'
  const Paused = { status: 'True', reason: 'PausedByAnnotation', message } as const
  const conditions = patchConditions(conditionsOf(object), { Paused }, facts)
  return { ...object, status: { ...object.status, conditions: asJson(conditions) } }
}
