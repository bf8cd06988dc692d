import type { EngineState } from './engine-state.ts'
import type { ApiObject } from './object.ts'

/**
 * What the store holds for one object: what the user sees, and what the engine remembers about it.
 * The two travel together, because one conditional write of one item is what keeps them consistent.
 */
export interface StoredObject {
  readonly object: ApiObject
  readonly engine: EngineState
}

/**
 * The parts of an object that a write touched, for those who decide by it whether to act. Creation touches the spec.
 */
export type Touched = readonly Part[]

/**
 * `spec` and `delete` move the generation. `control` is an annotation that speaks to the engine, `meta` is owners and
 * finalizers. `fields` is who manages which field and in which version it is kept; it, `status` and `engine` wake
 * nobody's own controller. `timer` asks the relay for a message to be the timer of the wait that the engine has just
 * written. `references` asks it to wake the object when it has noted what the status has begun to refer to.
 */
export type Part =
  | 'spec'
  | 'labels'
  | 'annotations'
  | 'control'
  | 'meta'
  | 'fields'
  | 'status'
  | 'references'
  | 'engine'
  | 'timer'
  | 'delete'

/** Whether a write of the object concerns its own controller. */
export function wakesItself(touched: Touched): boolean {
  return touches(touched, 'spec', 'labels', 'annotations', 'control', 'meta', 'delete')
}

/** Whether a write touched any of these parts. */
export function touches(touched: Touched, ...parts: readonly Part[]): boolean {
  return touched.some((part) => parts.includes(part))
}

/** The stored object with this resourceVersion. */
export function withVersion({ object, engine }: StoredObject, rv: number): StoredObject {
  return { object: { ...object, metadata: { ...object.metadata, resourceVersion: String(rv) } }, engine }
}
