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
 * The engine's own fields. Empty for an object at rest, so a no-op run writes nothing.
 * Shown to people as `status.reconcile` (see present.ts); no client can write it.
 */
export type EngineState = {
  /** Failures in a row of `generation`. */
  readonly attempt?: number
  /** The generation the waiting below is about: a newer one starts from nothing. */
  readonly generation?: number
  /** The next run, at the latest. Durable: the sweep finds it after any restart. */
  readonly nextRunAtMs?: number
  /** Why it waits. */
  readonly waiting?: Waiting
  /** Message of the last failure, without times and ids, so that equal failures stay equal. */
  readonly lastError?: string
  /** The queue message that is held back for the wait; whoever changes the object can wake it. */
  readonly hold?: Hold
}

export type Waiting = 'Backoff' | 'Requeue' | 'RetryAfter' | 'RateLimited' | 'Stopped'

export type Hold = { readonly handle: string; readonly untilMs: number }

/**
 * What a write touched, for those who decide by it whether to act: `spec` and `delete` move the generation;
 * `meta` is labels, annotations, owners and finalizers; `status` and `engine` wake nobody's own controller.
 */
export type Touched = 'spec' | 'meta' | 'status' | 'engine' | 'delete'
