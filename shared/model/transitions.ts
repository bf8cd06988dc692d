import { conditionOf, type Condition } from './conditions.ts'
import { keyOf, type ObjectKey } from './object-key.ts'
import type { ApiObject } from './object.ts'

/**
 * Moments of an object's life that others may want to act on: it became Ready, it was Ready and is not any more, or it
 * Failed, that is, it is Stalled: nothing is tried again until something changes.
 */
export interface Transition {
  readonly type: 'Ready' | 'NotReady' | 'Failed'
  readonly key: ObjectKey
  readonly uid: string
  readonly generation: number
  /** Of the state that it was found in. With the uid, it tells a transition from the same one told twice. */
  readonly resourceVersion: string
  readonly condition: {
    readonly type: string
    readonly before: Condition | undefined
    readonly after: Condition
  }
}

/** The transitions between two states of one object; none into or out of being there. */
export function transitionsOf(before: ApiObject | undefined, after: ApiObject): readonly Transition[] {
  return [...readiness(before, after), ...failure(before, after)]
}

function readiness(before: ApiObject | undefined, after: ApiObject): readonly Transition[] {
  const is = conditionOf(after, 'Ready')
  const was = before && conditionOf(before, 'Ready')
  if (is === undefined || isTrue(is) === isTrue(was)) return []
  return [transition(isTrue(is) ? 'Ready' : 'NotReady', after, { type: 'Ready', before: was, after: is })]
}

function failure(before: ApiObject | undefined, after: ApiObject): readonly Transition[] {
  const is = conditionOf(after, 'Stalled')
  const was = before && conditionOf(before, 'Stalled')
  if (is === undefined || !isTrue(is) || isTrue(was)) return []
  return [transition('Failed', after, { type: 'Stalled', before: was, after: is })]
}

function isTrue(condition: Condition | undefined): boolean {
  return condition?.status === 'True'
}

function transition(type: Transition['type'], object: ApiObject, condition: Transition['condition']): Transition {
  const { uid, generation, resourceVersion } = object.metadata
  return { type, key: keyOf(object), uid, generation, resourceVersion, condition }
}
