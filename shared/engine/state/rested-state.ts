import { asJson, conditionOf, conditionsOf, patchConditions } from '../../model/conditions.ts'
import { withLasting } from '../../model/engine-state.ts'
import type { ApiObject } from '../../model/object.ts'
import type { StoredObject } from '../../model/stored-object.ts'
import type { TurnFacts } from './run-facts.ts'

/** The state of a deleted object that waits for the finalizers of others only: no run is to come, and no timer. */
export function toRestedState({ object, engine }: StoredObject, facts: TurnFacts): StoredObject {
  return { object: withoutTroubles(object, facts), engine: withLasting({}, engine.memory) }
}

/**
 * Nothing is stalled, paused or in a hot loop any more of which no run is to come. A clean-up that failed is behind one
 * that has succeeded. Itself if nothing was.
 */
export function withoutTroubles(object: ApiObject, facts: TurnFacts, isCleanedUp = false): ApiObject {
  const isStalled = conditionOf(object, 'Stalled') !== undefined
  const isUnready = isStalled || (isCleanedUp && conditionOf(object, 'Ready')?.status === 'False')
  const isTroubled = isUnready || ['Paused', 'HotLoop'].some((type) => conditionOf(object, type) !== undefined)
  if (!facts.showsStatus || !isTroubled) return object
  const patches = { Stalled: null, Paused: null, HotLoop: null, ...(isUnready && { Ready: cleanedUp }) }
  return {
    ...object,
    status: { ...object.status, conditions: asJson(patchConditions(conditionsOf(object), patches, facts)) },
  }
}

const cleanedUp = { status: 'False', reason: 'CleanedUp', message: 'it waits for the finalizers of others' } as const
