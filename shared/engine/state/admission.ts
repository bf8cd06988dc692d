import { deletionPolicyAnnotation, isPaused, ownResyncMs } from '../../model/control-annotations.ts'
import { dueAtMs } from '../../model/engine-state.ts'
import { isDeleting, type ApiObject } from '../../model/object.ts'
import type { ServedKind } from '../../model/served-kind.ts'
import type { StoredObject } from '../../model/stored-object.ts'
import type { Controller } from '../../reconciler/controller.ts'
import { backoffMsMax, isRetryAhead } from './backoff.ts'
import { shortWaitMsMax, type Turn } from './turn.ts'

/** What becomes of a turn before anything runs. A limit may still put off what is admitted to `run`. */
export type Admission =
  /** Nothing is to run: the messages are settled. */
  | { readonly kind: 'drop' }
  /** The turn comes again after a short time. */
  | { readonly kind: 'retry'; readonly afterMs: number }
  /** The time of the object is further away than a message may be hidden: the sweep wakes it then. */
  | { readonly kind: 'sleep'; readonly atMs: number }
  /** A timer's message came early: it is hidden for the rest. */
  | { readonly kind: 'hide'; readonly untilMs: number }
  /** The object says that it is paused. */
  | { readonly kind: 'pause' }
  /** A deleted object waits for finalizers of others only: no timer stays behind. */
  | { readonly kind: 'rest' }
  /** What is stored is not what its reconciler expects: it stops and says where, and nobody's code is called. */
  | { readonly kind: 'refuse'; readonly message: string }
  /** Runs of this object do not come to their end: it says so, and is tried again slowly. */
  | { readonly kind: 'stall' }
  | { readonly kind: 'run' }

export interface AdmissionFacts {
  readonly controller: Pick<Controller, 'finalizer' | 'onRemoved' | 'deletionPolicy'>
  /** Undefined: this process does not know the kind. */
  readonly kind: ServedKind | undefined
  /** Undefined: the object is gone. */
  readonly stored: StoredObject | undefined
  /** Why the reconciler cannot be given what is stored, by its type. */
  readonly faults?: string | undefined
  readonly turn: Pick<Turn, 'wakeUps' | 'receiveCount'>
  readonly nowMs: number
}

/**
 * Decides by the object as it is. The wake-ups tell only whether a timer came too early, or too late for its object.
 */
export function admit({ controller, kind, stored, faults, turn, nowMs }: AdmissionFacts): Admission {
  if (stored === undefined) return { kind: 'drop' }
  if (kind === undefined) return turn.receiveCount < looksMax ? { kind: 'retry', afterMs: lookMs } : { kind: 'drop' }
  const waitMs = waitBeforeRun(turn, stored, nowMs)
  if (waitMs > shortWaitMsMax) return { kind: 'sleep', atMs: nowMs + waitMs }
  if (waitMs > 0)
    return isTimer(turn) && hasMoved(stored) ? { kind: 'drop' } : { kind: 'hide', untilMs: nowMs + waitMs }
  if (isPaused(stored.object)) return { kind: 'pause' }
  const isOver = isDeleting(stored.object) && !isHeldBy(controller.finalizer, stored.object)
  if (isOver && controller.onRemoved !== 'reconcile') return { kind: 'rest' }
  if (faults !== undefined && !isRetained(controller, stored.object)) return { kind: 'refuse', message: faults }
  // What a user has changed since may be what ended the process.
  const isStalled = (stored.engine.memory?.unended ?? 0) >= unendedMax && !hasMoved(stored)
  return { kind: isStalled ? 'stall' : 'run' }
}

/**
 * A definition may be newer than what this process knows of kinds. It is looked for longer than the catalog goes
 * without a look.
 */
const lookMs = 2_000
const looksMax = 5

/**
 * So many runs by a reservation in a row did not come to their end. The messages do not show it where keys wait in
 * line: each wait counts as received, as a run does that took its process down.
 */
const unendedMax = 5

/**
 * How long until the object is to run; 0: now, Infinity: not for this turn. It runs now after a change, and for a
 * resync unless it has a period of its own; a timer's message is a hint: the object knows when it wants to run. A
 * message that is back ahead of its hold was woken. One that comes for the first time was never held: the message of
 * the hold could not be hidden, and is gone. A resync that is paced waits for no change that is not observed yet: its
 * message stands behind.
 */
function waitBeforeRun(
  { wakeUps, receiveCount }: AdmissionFacts['turn'],
  { object, engine }: StoredObject,
  nowMs: number,
): number {
  const hasOwnPeriod = ownResyncMs(object) !== undefined
  const isHint = (origin: string): boolean => origin === 'timer' || (origin === 'resync' && hasOwnPeriod)
  const now = wakeUps.filter(({ origin }) => !isHint(origin))
  if (now.length === 0) {
    if (receiveCount > 1 && engine.hold !== undefined && engine.hold.untilMs > nowMs) return 0
    if (wakeUps.some(({ origin }) => origin === 'resync') && isBeyondPeriod({ object, engine }, nowMs)) return 0
    return Math.max(0, (dueAtMs(engine) ?? Infinity) - nowMs)
  }
  if (engine.change !== undefined && now.some(({ origin }) => origin === 'resync')) return 0
  return Math.max(0, Math.min(...now.map(({ notBeforeMs = 0 }) => notBeforeMs)) - nowMs)
}

/**
 * A clock that was ahead has set the time of an object with a period of its own: what waits for anything else than a
 * limit, or for the time that a failure named, comes with that period at the latest.
 */
function isBeyondPeriod({ object, engine: { wait } }: StoredObject, nowMs: number): boolean {
  const periodMs = ownResyncMs(object) ?? 0
  if (periodMs === 0 || wait?.atMs === undefined || wait.atMs - nowMs <= periodMs) return false
  if (wait.kind === 'Backoff') return !isRetryAhead(wait.atMs, nowMs, backoffMsMax)
  return wait.kind === 'Resync' || wait.kind === 'Requeue' || wait.kind === 'Expectation' || wait.kind === 'Stopped'
}

/** None of them is a change, which may be debounced: that message is the only one of it. */
function isTimer({ wakeUps }: Pick<Turn, 'wakeUps'>): boolean {
  return wakeUps.every(({ origin }) => origin !== 'change')
}

/**
 * The object was changed since the run that asked for the timer. The change has a message of its own on its way, which
 * would stand behind the timer's for as long as that is hidden; its sender knew of no hold that it could have ended.
 */
function hasMoved({ object: { metadata }, engine: { wait } }: StoredObject): boolean {
  return wait !== undefined && wait.generation !== metadata.generation
}

/** A deleted object whose clean-up is not called: what it made outside stays, whatever its spec says. */
function isRetained({ deletionPolicy }: AdmissionFacts['controller'], object: ApiObject): boolean {
  const policy = object.metadata.annotations?.[deletionPolicyAnnotation] ?? deletionPolicy
  return isDeleting(object) && deletionPolicy !== undefined && policy === 'Retain'
}

/** Whether the object carries this finalizer. */
export function isHeldBy(finalizer: string | undefined, { metadata }: ApiObject): boolean {
  return finalizer !== undefined && (metadata.finalizers ?? []).includes(finalizer)
}
