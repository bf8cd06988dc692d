import type { ApiObject } from '../model/object.ts'
import { labelSelector } from '../model/selector.ts'
import { touches, type Touched } from '../model/stored-object.ts'
import type { Change } from '../ports/change-feed.ts'

/**
 * Which changes wake a controller. A predicate must be a pure function. It is asked about changes only: timers,
 * retries, the resync, wake-ups by other objects, deletion and the annotations that speak to the engine pass it by. So
 * it saves runs and never loses one; it is no way to choose which objects a controller is for.
 */
export type Predicate<Read = ApiObject> = (change: ObservedChange<Read>) => boolean

/**
 * A change as a predicate sees it: what the object is now, which may be later than this change, and which parts were
 * touched.
 */
export interface ObservedChange<Read = ApiObject> {
  readonly type: Change['type']
  readonly object: Read
  readonly touched: Touched
}

/** Changes of the desired state, creation and removal; not those of labels, annotations, other metadata or status. */
export const generationChanged: Predicate<unknown> = whenTouched('spec', 'delete')

/** Changes of labels, creation and removal. */
export const labelsChanged: Predicate<unknown> = whenTouched('labels')

/** Changes of annotations, creation and removal. */
export const annotationsChanged: Predicate<unknown> = whenTouched('annotations')

/** Every change: what holds without a predicate, as a word to build others with. */
export const resourceVersionChanged: Predicate<unknown> = () => true

function whenTouched(...parts: Touched): Predicate<unknown> {
  return ({ type, touched }) => type !== 'modified' || touches(touched, ...parts)
}

/**
 * Changes of objects whose labels match, as they are now: `app=web,tier in (a,b),!legacy`. Throws BAD_REQUEST for no
 * selector.
 */
export function matchesLabels(selector: string): Predicate<unknown> {
  const matches = labelSelector(selector)
  return ({ object }) => matches(object as ApiObject)
}

/** Changes that all of them let pass. */
export function and<Read>(...predicates: readonly Predicate<Read>[]): Predicate<Read> {
  return (change) => predicates.every((passes) => passes(change))
}

/** Changes that one of them lets pass. */
export function or<Read>(...predicates: readonly Predicate<Read>[]): Predicate<Read> {
  return (change) => predicates.some((passes) => passes(change))
}

/** Changes that it does not let pass. Creation and removal always pass, so that every object has its first run. */
export function not<Read>(predicate: Predicate<Read>): Predicate<Read> {
  return (change) => change.type !== 'modified' || !predicate(change)
}
