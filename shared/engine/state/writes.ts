import { dueAtMs, type EngineState } from '../../model/engine-state.ts'
import { equal } from '../../model/json.ts'
import { wakesItself, type StoredObject, type Touched } from '../../model/stored-object.ts'
import { isReleased } from '../../resources/states.ts'
import { findTouched } from '../../resources/transitions.ts'
import { shortWaitMsMax, type Turn } from './turn.ts'

/** How the end of a turn is written. */
export type StateWrite =
  | { readonly kind: 'none' }
  | { readonly kind: 'replace'; readonly touched: Touched }
  /** The last finalizer is gone: the object goes. */
  | { readonly kind: 'remove' }

/** What to write so that `live` becomes `next`. Nothing if they are equal: equal status is never written. */
export function writeOf(live: StoredObject, next: StoredObject): StateWrite {
  if (live.object !== next.object && isReleased(next.object) && !isReleased(live.object)) return { kind: 'remove' }
  const touched: Touched = [
    ...(equal(live.object.metadata.finalizers, next.object.metadata.finalizers) ? [] : (['meta'] as const)),
    ...(equal(live.object.status, next.object.status) ? [] : (['status'] as const)),
    ...(equal(live.engine, next.engine) ? [] : (['engine'] as const)),
  ]
  return touched.length === 0 ? { kind: 'none' } : { kind: 'replace', touched }
}

/** What becomes of a turn's messages after its write. */
export type Release =
  | { readonly kind: 'settle' }
  /** The wait is short, and the message cannot be hidden for it: the relay sends another one, which can. */
  | { readonly kind: 'settleWithTimer' }
  /**
   * The message is hidden until then. `isWakeable`: a change of the object ends the wait, by the handle in the object.
   * `isTimed`: the object has the time, too, and runs then even if the message is lost. `isOpen`: the turn is not over
   * by it.
   */
  | {
      readonly kind: 'hold'
      readonly untilMs: number
      readonly isWakeable: boolean
      readonly isTimed: boolean
      readonly isOpen?: true
    }

/** After a run: a short wait is a hidden message, a longer one is the sweep's. */
export function releaseAfterRun(
  engine: EngineState,
  {
    nowMs,
    turn,
    isOverrun,
  }: { readonly nowMs: number; readonly turn: Pick<Turn, 'isNearReceiveLimit'>; readonly isOverrun: boolean },
): Release {
  const untilMs = dueAtMs(engine)
  if (untilMs === undefined || untilMs - nowMs > shortWaitMsMax || isOverrun) return { kind: 'settle' }
  return turn.isNearReceiveLimit
    ? { kind: 'settleWithTimer' }
    : { kind: 'hold', untilMs, isWakeable: true, isTimed: true }
}

/** A wait for a rate limit records no handle: a change could not make the object run sooner. */
export function releaseAfterPostponement(
  { kind, untilMs }: { readonly kind: 'RateLimited' | 'HotLoop'; readonly untilMs: number },
  { nowMs, turn }: { readonly nowMs: number; readonly turn: Pick<Turn, 'isNearReceiveLimit'> },
): Release {
  if (kind !== 'RateLimited' || untilMs - nowMs > shortWaitMsMax) return { kind: 'settle' }
  return turn.isNearReceiveLimit
    ? { kind: 'settleWithTimer' }
    : { kind: 'hold', untilMs, isWakeable: false, isTimed: true }
}

/** Something that wakes the object has changed since the turn began. */
export function isOvertaken(begun: StoredObject, live: StoredObject): boolean {
  return begun.object !== live.object && wakesItself(findTouched(begun.object, live.object))
}
