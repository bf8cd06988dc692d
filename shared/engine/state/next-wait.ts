import { ownResyncMs } from '../../model/control-annotations.ts'
import {
  attemptsOf,
  failureOf,
  retryAtMsOf,
  type EngineState,
  type Failure,
  type Wait,
} from '../../model/engine-state.ts'
import type { StoredObject } from '../../model/stored-object.ts'
import { nextPassMs } from '../../model/wheel.ts'
import { retryWithinMs, type Verdict } from '../../reconciler/verdict.ts'
import { backoffMs, isRetryAhead } from './backoff.ts'
import type { RunFacts } from './run-facts.ts'

/**
 * The wait after a run, undefined for an object at rest. Each step may only bring the next run forward, but for a hot
 * loop.
 */
export function nextWait(live: StoredObject, verdict: Verdict, facts: RunFacts): Wait | undefined {
  const asked = waitOfVerdict(live.engine, verdict, facts)
  const hasTimer = verdict.kind === 'done' && verdict.resyncAfterMs !== undefined
  const resynced = hasTimer ? asked : noLaterThanResync(asked, live, facts)
  return noLaterThanDeadline(noSoonerThanProbe(resynced, facts), live.engine, facts)
}

/** What the verdict alone asks for. */
function waitOfVerdict(before: EngineState, verdict: Verdict, facts: RunFacts): Wait | undefined {
  const { generation, nowMs } = facts
  switch (verdict.kind) {
    case 'done':
      if (verdict.resyncAfterMs === undefined) return undefined
      return { kind: 'Resync', generation, atMs: nowMs + verdict.resyncAfterMs }
    case 'again':
      return { kind: 'Requeue', generation, atMs: nowMs + verdict.afterMs }
    case 'retryAfter': {
      const failure = { attempt: attemptsOf(before, generation), error: verdict.message }
      const afterMs = Math.min(verdict.afterMs, retryWithinMs(verdict))
      return { kind: 'RetryAfter', generation, atMs: nowMs + afterMs, failure }
    }
    case 'stopped': {
      const atMs = Math.max(nowMs + retryWithinMs(verdict), allowedMs(facts))
      const failure = { attempt: 0, error: verdict.message }
      return { kind: 'Stopped', generation, failure, ...(atMs === Infinity ? {} : { atMs }) }
    }
    case 'failed':
      return backoff(before, verdict, facts)
  }
}

/** When the budget of all retries lets one be at the earliest. */
function allowedMs({ nowMs, retryDelayMs = 0 }: RunFacts): number {
  return nowMs + retryDelayMs
}

function backoff(before: EngineState, verdict: Extract<Verdict, { kind: 'failed' }>, facts: RunFacts): Wait {
  const { generation, nowMs } = facts
  const earlyMs = earlyUntilMs(before, facts)
  const attempt = attemptsOf(before, generation) + (earlyMs === undefined ? 1 : 0)
  const wantedMs = Math.min(earlyMs ?? nowMs + backoffMs(attempt, facts.chance), nowMs + retryWithinMs(verdict))
  const atMs = Math.min(earlyMs ?? Infinity, Math.max(wantedMs, allowedMs(facts)))
  return {
    kind: 'Backoff',
    generation,
    atMs,
    failure: countSame(before, { attempt, error: verdict.message }, generation),
  }
}

/**
 * A failure ahead of the backoff's time costs no attempt and leaves that time as it was. An object that has stopped has
 * no attempt behind it, and no backoff.
 */
function earlyUntilMs(before: EngineState, { generation, nowMs }: RunFacts): number | undefined {
  const retryAtMs = attemptsOf(before, generation) > 0 ? retryAtMsOf(before) : undefined
  return isRetryAhead(retryAtMs, nowMs) ? retryAtMs : undefined
}

/** With how many failures in a row said the same: an error that never changes often means "not ready yet". */
function countSame(before: EngineState, failure: Failure, generation: number): Failure {
  const last = failureOf(before)
  if (last?.error !== failure.error || before.wait?.generation !== generation || last.attempt === 0) return failure
  const sameErrors = (last.sameErrors ?? 1) + failure.attempt - last.attempt
  return sameErrors > 1 ? { ...failure, sameErrors } : failure
}

/**
 * An object with a resync period of its own has a timer where others have the wheel, at the time when the hand of its
 * period passes its slot. What failed, or was told when to come, keeps its own time.
 */
function noLaterThanResync(
  wait: Wait | undefined,
  { object }: StoredObject,
  { nowMs, generation }: RunFacts,
): Wait | undefined {
  const periodMs = ownResyncMs(object) ?? 0
  if (periodMs === 0 || wait?.kind === 'Backoff' || wait?.kind === 'RetryAfter') return wait
  const atMs = nextPassMs(object.metadata.uid, nowMs, periodMs)
  if (atMs >= (wait?.atMs ?? Infinity)) return wait
  return wait?.kind === 'Stopped' ? { ...wait, atMs } : { kind: 'Resync', generation, atMs }
}

/** In a hot loop the next run is a probe, whatever this one asked for. */
function noSoonerThanProbe(wait: Wait | undefined, { probeAtMs = -Infinity, generation }: RunFacts): Wait | undefined {
  if (probeAtMs <= (wait?.atMs ?? -Infinity)) return wait
  const failure = wait && failureOf({ wait })
  return { kind: 'HotLoop', generation, atMs: probeAtMs, ...(failure && { failure }) }
}

/**
 * An object that rests or runs again anyway runs at its next deadline at the latest; a failed, stopped or postponed one
 * keeps its own time. A deadline that had passed when the run began wakes nobody again. A deadline that passed during
 * the run still wakes the object, because the run may have looked before it. If this run has set it, the object has its
 * time again from now on: a run that takes longer than the time that it sets would otherwise follow itself at once.
 */
function noLaterThanDeadline(
  wait: Wait | undefined,
  { memory: { expectations: before = {} } = {} }: EngineState,
  { expectations = {}, nowMs, begunMs = nowMs, generation }: RunFacts,
): Wait | undefined {
  const open = Object.entries(expectations).filter(([, untilMs]) => untilMs > Math.min(begunMs, nowMs))
  const timesMs = open.map(([name, untilMs]) => {
    if (untilMs >= nowMs) return untilMs
    return before[name] === untilMs ? nowMs : nowMs + untilMs - begunMs
  })
  const atMs = Math.min(...timesMs)
  const isFree = wait === undefined || wait.kind === 'Requeue' || wait.kind === 'Resync'
  return isFree && atMs < (wait?.atMs ?? Infinity) ? { kind: 'Expectation', generation, atMs } : wait
}
