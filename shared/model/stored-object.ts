import type { Json } from './json.ts'
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
  /** A run that somebody else has asked for, at the latest; kept until a run has begun that knew of it. */
  readonly wakeAtMs?: number
  /** Side effects that are to happen once, by the reconciler's key. Kept as long as the object. */
  readonly once?: { readonly [key: string]: OnceRecord }
  /** What the reconciler has noted for its later runs, by its own keys. Kept as long as the object. */
  readonly notes?: { readonly [key: string]: Json }
  /** When things outside were last made as declared, or found so, if the reconciler says. For people only. */
  readonly syncedAtMs?: number
  /** Runs within the time of the controller's rate limit. */
  readonly window?: RunWindow
  /** When its run may begin by the rate limit of the whole controller; struck out before it does. */
  readonly reservedMs?: number
  /** How many runs by such a reservation have begun since one came to its end. */
  readonly unended?: number
  /** Why it waits. */
  readonly waiting?: Waiting
  /** Message of the last failure, without times and ids, so that equal failures stay equal. */
  readonly lastError?: string
  /** How many of the failures in a row had this message; from 2 on. */
  readonly sameErrors?: number
  /** The change of the desired state that is not observed yet. For people and metrics only: no run learns of it. */
  readonly change?: AcceptedChange
  /** When what the reconciler expects must have come true, by name; see engine/expectation.ts. */
  readonly expectations?: Deadlines
  /** The queue message that is held back for the wait; whoever changes the object can wake it. */
  readonly hold?: Hold
}

export type Waiting =
  'Backoff' | 'Requeue' | 'RetryAfter' | 'RateLimited' | 'HotLoop' | 'Stopped' | 'Expectation' | 'Resync'

/** Milliseconds since the epoch, by name. */
export type Deadlines = { readonly [name: string]: number }

/** When the object wants to run, for whatever reason. */
export function dueAtMs({ nextRunAtMs, wakeAtMs }: EngineState): number | undefined {
  return nextRunAtMs === undefined || wakeAtMs === undefined
    ? (nextRunAtMs ?? wakeAtMs)
    : Math.min(nextRunAtMs, wakeAtMs)
}

/** Who changed what, and when. */
export type AcceptedChange = {
  readonly verb: 'created' | 'changed' | 'deleted'
  readonly atMs: number
  /** When the first change was accepted that has not been observed, if it is another. */
  readonly sinceMs?: number
  /** The field manager. */
  readonly by: string
  /** Paths of fields that it changed, the first few. */
  readonly fields?: string[]
}

export type OnceRecord = {
  /** Digest of what the effect is about. */
  readonly of: string
  readonly state: 'begun' | 'done'
  readonly result?: Json
}

/** How often the object has run since a moment. */
export type RunWindow = { readonly startMs: number; readonly runs: number }

/** `receives`: how often the message had been handed out by then. */
export type Hold = { readonly handle: string; readonly untilMs: number; readonly receives?: number }

/** The parts of an object that a write touched, for those who decide by it whether to act. Creation touches the spec. */
export type Touched = readonly Part[]

/**
 * `spec` and `delete` move the generation. `control` is an annotation that speaks to the engine, `meta` is owners and
 * finalizers. `fields` is who manages which field and in which version it is kept; it, `status` and `engine` wake nobody's
 * own controller. `timer` asks the relay for a message to be the timer of the wait that the engine has just written.
 */
export type Part =
  'spec' | 'labels' | 'annotations' | 'control' | 'meta' | 'fields' | 'status' | 'engine' | 'timer' | 'delete'

/** Whether a write of the object concerns its own controller. */
export function wakesItself(touched: Touched): boolean {
  return touches(touched, 'spec', 'labels', 'annotations', 'control', 'meta', 'delete')
}

/** Whether a write touched any of these parts. */
export function touches(touched: Touched, ...parts: readonly Part[]): boolean {
  return touched.some((part) => parts.includes(part))
}
