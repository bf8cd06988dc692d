import type { Applied, Context } from '../context.ts'
import type { BodyOf, Kind, ObjectOf } from '../kind.ts'

/**
 * One node of a workflow: objects of one kind that the primary owns, when they are wanted, and when those that depend
 * on them may follow. All functions may be called any number of times and change nothing.
 */
export interface Dependent<Primary, K, Name extends string> {
  readonly kind: K
  /** Made after these are ready, deleted before them. */
  readonly dependsOn?: readonly Name[]
  /** What is wanted: one object, or any number. Objects of this node that are not among them are deleted. */
  readonly desired: (primary: Primary, ctx: Context) => Desired<K> | Promise<Desired<K>>
  /**
   * False: the node's objects are deleted, and those of all nodes that depend on it. It is not asked once the primary
   * is being deleted. Default: always wanted.
   */
  readonly wantedWhen?: When<Primary>
  /** Of each object; those that depend on the node wait until it holds for all. Default: it is there. */
  readonly readyWhen?: (object: ObjectOf<K>, primary: Primary) => boolean
  /**
   * The nodes that this node depends on stay until this holds. Default: none of the node's objects is there. No event
   * tells when it holds, so a workflow asks each minute. A reconciler that calls `run` itself returns `again` while a
   * state is `going`.
   */
  readonly goneWhen?: When<Primary>
  /** False: nothing is done about the node, not even deletion; its kind need not be served. Default: always active. */
  readonly activeWhen?: When<Primary>
}

export type Desired<K> = Applied<BodyOf<K>> | readonly Applied<BodyOf<K>>[]

export type When<Primary> = (primary: Primary, ctx: Context) => boolean | Promise<boolean>

/** Nodes by name, as the executor knows them: types of kinds left behind. */
export type AnyDependents<Primary> = Readonly<Record<string, Dependent<Primary, Kind, string>>>
