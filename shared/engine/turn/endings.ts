import { dueAtMs } from '../../model/engine-state.ts'
import type { ServedKind } from '../../model/served-kind.ts'
import type { StoredObject } from '../../model/stored-object.ts'
import type { Controller } from '../../reconciler/controller.ts'
import type { Verdict } from '../../reconciler/verdict.ts'
import type { RecordedEvent } from '../insight/event-recorder.ts'
import type { Admission } from '../state/admission.ts'
import { toReleasedState } from '../state/begun-state.ts'
import { toRestedState } from '../state/rested-state.ts'
import { nextState } from '../state/next-state.ts'
import { toPausedState } from '../state/paused-state.ts'
import { toPostponedState, type Postponement } from '../state/postponed-state.ts'
import { toRefusedState, specInvalid } from '../state/refused-state.ts'
import type { RunFacts, TurnFacts } from '../state/run-facts.ts'
import { notEnded, toStalledState } from '../state/stalled-state.ts'
import type { Turn } from '../state/turn.ts'
import { releaseAfterPostponement, releaseAfterRun, type Release } from '../state/writes.ts'
import type { Ending } from './commit.ts'
import type { RunResult } from './run.ts'

/** How turns end: each function makes of a decision what `commit` writes and releases. */

/** What every ending of a turn is made from. */
export interface TurnBasis {
  readonly turn: Turn
  /** The object as the turn began with it. */
  readonly stored: StoredObject
  readonly kind: ServedKind
  readonly controller: Controller
  readonly facts: TurnFacts
}

const settle: Release = { kind: 'settle' }

/** A turn whose object does not run now, and says why, or waits. */
export function withoutRun(
  admission: Exclude<Admission, { readonly kind: 'drop' | 'retry' | 'run' }>,
  basis: TurnBasis,
): Ending {
  const { stored, kind, controller, facts } = basis
  const ending = { ...endingBasisOf(basis), release: settle }
  switch (admission.kind) {
    case 'sleep':
      return { ...ending, next: (live) => withWakeUpBy(live, admission.atMs) }
    case 'hide': {
      // Changes may have ended its hold again and again: the queue would soon give it up.
      if (basis.turn.isNearReceiveLimit)
        return {
          ...ending,
          next: (live) => withWakeUpBy(live, admission.untilMs),
          release: { kind: 'settleWithTimer' },
        }
      const isWakeable = stored.engine.wait?.kind !== 'RateLimited'
      const isTimed = dueAtMs(stored.engine) === admission.untilMs
      const release: Release = { kind: 'hold', untilMs: admission.untilMs, isWakeable, isTimed, isOpen: true }
      return { ...ending, next: (live) => live, release }
    }
    case 'pause': {
      const next: Ending['next'] = (live, showsStatus) => toPausedState(live, { ...facts, showsStatus })
      return { ...ending, next, showsStatus: kind.hasStatus }
    }
    case 'rest':
      return { ...ending, next: (live, showsStatus) => toRestedState(live, { ...facts, showsStatus }) }
    case 'refuse': {
      const { message } = admission
      const next: Ending['next'] = (live, showsStatus) => toRefusedState(live, message, { ...facts, showsStatus })
      return { ...ending, next, event: { type: 'Warning', reason: specInvalid, message, component: controller.name } }
    }
    case 'stall': {
      const next: Ending['next'] = (live, showsStatus) => toStalledState(live, { ...facts, showsStatus })
      return { ...ending, next, event: { type: 'Warning', ...notEnded, component: controller.name } }
    }
  }
}

/** A run by then, unless a timer of the object comes sooner. */
export function withWakeUpBy(live: StoredObject, atMs: number): StoredObject {
  const isKnown = (dueAtMs(live.engine) ?? Infinity) <= atMs
  return isKnown ? live : { object: live.object, engine: { ...live.engine, wakeAtMs: atMs } }
}

/** A limit puts the run off. */
export function afterPostponement(postponement: Postponement, basis: TurnBasis): Ending {
  const { facts, turn } = basis
  return {
    ...endingBasisOf(basis),
    next: (live, showsStatus) => toPostponedState(live, postponement, { ...facts, showsStatus }),
    release: releaseAfterPostponement(postponement, { nowMs: facts.nowMs, turn }),
  }
}

/** The clean-up is over: the finalizer goes, and with the last finalizer the object. */
export function afterCleanup(live: StoredObject, basis: TurnBasis): Ending {
  const { finalizer = '' } = basis.controller
  const next: Ending['next'] = (newest, showsStatus) =>
    toReleasedState(newest, finalizer, { ...basis.facts, showsStatus })
  return { ...endingBasisOf(basis), live, next, release: settle }
}

/** A run has ended with this verdict. */
export function afterRun(
  { live, overrun }: Pick<RunResult, 'live' | 'overrun'>,
  verdict: Verdict,
  { basis: { stored, turn, controller }, facts }: { readonly basis: TurnBasis; readonly facts: RunFacts },
): Ending {
  const next = rememberLast((newest: StoredObject, showsStatus: boolean) =>
    nextState(newest, verdict, showsStatus === facts.showsStatus ? facts : { ...facts, showsStatus }),
  )
  const { engine } = next(stored, facts.showsStatus)
  const isOverrun = overrun !== undefined
  const event = eventOf(verdict, controller)
  return {
    turn,
    begun: stored,
    controller,
    live,
    next,
    showsStatus: facts.showsStatus,
    isStatusVital: true,
    release: releaseAfterRun(engine, { nowMs: facts.nowMs, turn, isOverrun }),
    event,
    overrun,
  }
}

function endingBasisOf({
  turn,
  stored,
  controller,
  facts,
}: TurnBasis): Pick<Ending, 'turn' | 'begun' | 'controller' | 'showsStatus' | 'isStatusVital'> {
  return { turn, begun: stored, controller, showsStatus: facts.showsStatus, isStatusVital: false }
}

/** A function that is asked for the same state twice in a row computes it once. */
function rememberLast(compute: Ending['next']): Ending['next'] {
  let last: { readonly live: StoredObject; readonly showsStatus: boolean; readonly next: StoredObject } | undefined
  return (live, showsStatus) => {
    if (last?.live === live && last.showsStatus === showsStatus) return last.next
    const next = compute(live, showsStatus)
    last = { live, showsStatus, next }
    return next
  }
}

function eventOf(verdict: Verdict, { name }: Controller): RecordedEvent | undefined {
  if (verdict.kind === 'done' || verdict.kind === 'again') return undefined
  if (verdict.kind === 'failed' && verdict.quiet) return undefined
  const reason = verdict.kind === 'retryAfter' ? 'RetryAfter' : verdict.reason
  return { type: 'Warning', reason, message: verdict.message, component: name }
}
