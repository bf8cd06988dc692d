import { reportStatus, type StatusReport } from '../../model/apply/report-status.ts'
import {
  asJson,
  conditionOf,
  conditionsOf,
  patchConditions,
  type Condition,
  type ConditionPatch,
  type ConditionPatches,
} from '../../model/conditions.ts'
import { isPaused, ownResyncMs, reconcileRequestAnnotation } from '../../model/control-annotations.ts'
import { durationMs } from '../../model/duration.ts'
import type { JsonObject } from '../../model/json.ts'
import { isDeleting, type ApiObject } from '../../model/object.ts'
import type { Deadlines, EngineState, StoredObject, RunWindow, Waiting } from '../../model/stored-object.ts'
import { nextPassMs } from '../../model/wheel.ts'
import { backoffMs } from './backoff.ts'
import { expectationsField, expecting } from './expecting.ts'
import { notesField } from './notes-field.ts'
import type { Outcome, Report } from '../../reconciler/outcome.ts'
import type { Verdict } from '../../reconciler/verdict.ts'

/** What a verdict makes of an object: its next status and engine state, and the wait. Pure, so that it can be made again after a conflict. */
export interface Conclusion {
  readonly object: ApiObject
  readonly engine: EngineState
}

export interface RunFacts {
  readonly nowMs: number
  /** Uniform in [0, 1), drawn once per run. */
  readonly chance: number
  /** The generation the run worked on. */
  readonly generation: number
  /** Somebody else's wish for a run when this one began. */
  readonly wakeAtMs?: number | undefined
  /** How long the retry budget of all controllers makes a failure wait at least. */
  readonly retryDelayMs?: number | undefined
  /** The runs that count for the rate limit, this one included. */
  readonly window?: RunWindow | undefined
  /** The object is in a hot loop: no run before then. */
  readonly probeAtMs?: number | undefined
  /** What is expected when the run has ended. */
  readonly expectations?: Deadlines
  /** What is noted when the run has ended. Left out: as it was. */
  readonly notes?: EngineState['notes']
  /** The kind keeps a status. */
  readonly hasStatus: boolean
  /** Whose status it is, and of what form. Left out, it is nobody else's. */
  readonly reporter?: Pick<StatusReport, 'manager' | 'schema'>
}

/**
 * The next state of the object as it is now. What is concluded of an older generation counts for that one only, and for nothing
 * once a run of a newer one has had its say: whoever concludes so late has lost the turn.
 */
export function conclude(live: StoredObject, verdict: Verdict, facts: RunFacts): Conclusion {
  if (isOverruled(live, facts)) return live
  return {
    object: facts.hasStatus ? withStatusAfter(live.object, verdict, facts) : live.object,
    engine: { ...engineAfter(live, verdict, facts), ...unobserved(live, verdict, facts) },
  }
}

function isOverruled({ object, engine }: StoredObject, { generation }: RunFacts): boolean {
  return Math.max(observedBy(object), engine.generation ?? 0) > generation
}

/** The generation that the status says was observed. 0 if it says none, or one that is yet to come: anybody may write a status. */
function observedBy({ metadata: { generation }, status }: ApiObject): number {
  const said = status?.['observedGeneration']
  return typeof said === 'number' && said <= generation ? said : 0
}

function withStatusAfter(live: ApiObject, verdict: Verdict, facts: RunFacts): ApiObject {
  const current = withoutOurs(live.status ?? {})
  const said = reported(verdict).status
  const { status, metadata } =
    said === undefined || facts.reporter === undefined
      ? { status: said ?? current, metadata: live.metadata }
      : reportStatus({ ...facts.reporter, live, current, reported: said })
  return { ...live, metadata, ...statusField(statusAfter(live, verdict, { ...facts, own: status })) }
}

function statusField(status: JsonObject): { status?: JsonObject } {
  return Object.keys(status).length === 0 ? {} : { status }
}

function statusAfter(live: ApiObject, verdict: Verdict, facts: RunFacts & { readonly own: JsonObject }): JsonObject {
  const conditions = patchConditions(
    conditionsOf(live),
    {
      ...(facts.probeAtMs === undefined && { HotLoop: null }),
      ...conditionsAfter(verdict, conditionOf(live, 'Ready')),
      ...reported(verdict).conditions,
    },
    facts,
  )
  return {
    ...facts.own,
    ...(conditions.length === 0 ? {} : { conditions: asJson(conditions) }),
    ...observed(live, verdict, facts),
    ...(handledRequest(live) === undefined ? {} : { lastHandledReconcileAt: handledRequest(live) }),
  }
}

function withoutOurs({
  conditions: _,
  observedGeneration: __,
  lastHandledReconcileAt: ___,
  ...own
}: JsonObject): JsonObject {
  return own
}

/** A failed run has not observed its generation; nor does a late run make newer observations undone. */
function observed(live: ApiObject, verdict: Verdict, { generation }: RunFacts): JsonObject {
  const before = observedBy(live)
  const now = observes(verdict) ? Math.max(generation, before) : before
  return now === 0 ? {} : { observedGeneration: now }
}

/** A run that ended so has seen the desired state through, or given it up and says why. */
export function observes({ kind }: Verdict): boolean {
  return kind === 'done' || kind === 'again' || kind === 'stopped'
}

/** "Reconcile now": the token of the request that this run has answered. */
function handledRequest(live: ApiObject): string | undefined {
  return live.metadata.annotations?.[reconcileRequestAnnotation]
}

function reported(verdict: Verdict): Pick<Report, 'status' | 'conditions'> {
  return verdict.kind === 'done' || verdict.kind === 'again' ? verdict : (verdict.report ?? {})
}

function conditionsAfter(verdict: Verdict, ready: Condition | undefined): ConditionPatches {
  const untroubled = { Stalled: null, Paused: null }
  switch (verdict.kind) {
    case 'done':
      return { ...untroubled, Ready: readiness(verdict.ready ?? true) }
    case 'again':
      if (verdict.ready !== undefined) return { ...untroubled, Ready: readiness(verdict.ready) }
      return { ...untroubled, ...(ready === undefined || ready.reason === 'Pending' ? { Ready: requeued } : {}) }
    case 'failed':
      return verdict.quiet
        ? untroubled
        : { ...untroubled, Ready: { status: 'False', reason: verdict.reason, message: verdict.message } }
    case 'retryAfter':
      return { ...untroubled, Ready: { status: 'False', reason: 'RetryAfter', message: verdict.message } }
    case 'stopped':
      return { Paused: null, ...troubled(verdict) }
  }
}

/** Of an object of which no run has said anything yet. */
const requeued: ConditionPatch = { status: 'Unknown', reason: 'Requeued', message: 'it ran, and asked to run again' }

function troubled({ reason, message }: { readonly reason: string; readonly message: string }): ConditionPatches {
  return { Ready: { status: 'False', reason, message }, Stalled: { status: 'True', reason, message } }
}

function readiness(ready: NonNullable<Report['ready']>): ConditionPatch {
  return ready === true ? { status: 'True', reason: 'Reconciled' } : { status: 'False', ...ready }
}

function engineAfter({ object, engine: live }: StoredObject, verdict: Verdict, facts: RunFacts): EngineState {
  const ownWait = waitAfter(live, verdict, facts)
  const hasTimer = verdict.kind === 'done' && verdict.resyncAfterMs !== undefined
  const wait = hasTimer ? ownWait : resynced(ownWait, object, facts)
  const syncedAtMs = (verdict.kind === 'done' ? verdict.syncedAtMs : undefined) ?? live.syncedAtMs
  const synced = syncedAtMs === undefined ? {} : { syncedAtMs }
  return expecting({ ...remembered(live, facts), ...synced, ...slowedDown(wait, facts) }, facts)
}

/** What a run leaves to the next: a wish for a run that came after this one had begun, the runs that were, and what is done once. */
function remembered({ once, notes, wakeAtMs }: EngineState, facts: RunFacts): EngineState {
  const { window, wakeAtMs: before } = facts
  return {
    ...(once === undefined ? {} : { once }),
    ...notesField(facts.notes ?? notes),
    ...(wakeAtMs === undefined || wakeAtMs === before ? {} : { wakeAtMs }),
    ...(window === undefined ? {} : { window }),
  }
}

/**
 * An object with a resync period of its own has a timer where others have the wheel, at the time when the hand of its period
 * passes its slot. What failed, or was told when to come, keeps its own time.
 */
function resynced(wait: EngineState, object: ApiObject, { nowMs, generation }: RunFacts): EngineState {
  const periodMs = ownResyncMs(object) ?? 0
  if (periodMs === 0 || wait.waiting === 'Backoff' || wait.waiting === 'RetryAfter') return wait
  const nextRunAtMs = nextPassMs(object.metadata.uid, nowMs, periodMs)
  if (nextRunAtMs >= (wait.nextRunAtMs ?? Infinity)) return wait
  return { ...wait, generation, waiting: wait.waiting === 'Stopped' ? 'Stopped' : 'Resync', nextRunAtMs }
}

/** In a hot loop the next run is a probe, whatever this one asked for. */
function slowedDown(wait: EngineState, { probeAtMs = 0, generation }: RunFacts): EngineState {
  if (probeAtMs <= (wait.nextRunAtMs ?? 0)) return wait
  return { ...wait, generation, waiting: 'HotLoop', nextRunAtMs: probeAtMs }
}

/** The note of a change stays until a run has observed the change; that of a deletion as long as the object. */
function unobserved({ object, engine: { change } }: StoredObject, verdict: Verdict, facts: RunFacts): EngineState {
  const isObserved = !isDeleting(object) && object.metadata.generation === facts.generation && observes(verdict)
  return change === undefined || isObserved ? {} : { change }
}

function waitAfter(before: EngineState, verdict: Verdict, facts: RunFacts): EngineState {
  switch (verdict.kind) {
    case 'done':
      return verdict.resyncAfterMs === undefined ? {} : waitUntil('Resync', facts.nowMs + verdict.resyncAfterMs, facts)
    case 'again':
      return waitUntil('Requeue', facts.nowMs + verdict.afterMs, facts)
    case 'retryAfter':
      return {
        ...waitUntil('RetryAfter', facts.nowMs + verdict.afterMs, facts),
        ...attemptOf(before, facts),
        lastError: verdict.message,
      }
    case 'stopped':
      return { ...stoppedUntil(retryAtMs(verdict, facts), facts), lastError: verdict.message }
    case 'failed':
      return withError(before, noLaterThan(retryAtMs(verdict, facts), backedOff(before, facts)), verdict.message)
  }
}

/** When a failure is to be tried again at the latest, if it says so. */
function retryAtMs({ report }: Exclude<Verdict, Outcome>, { nowMs }: RunFacts): number {
  return report?.retryWithin === undefined ? Infinity : nowMs + durationMs(report.retryWithin)
}

function stoppedUntil(nextRunAtMs: number, { generation }: RunFacts): EngineState {
  return { generation, waiting: 'Stopped', ...(nextRunAtMs === Infinity ? {} : { nextRunAtMs }) }
}

function noLaterThan<Wait extends EngineState>(latestMs: number, wait: Wait): Wait {
  return (wait.nextRunAtMs ?? Infinity) <= latestMs ? wait : { ...wait, nextRunAtMs: latestMs }
}

function waitUntil(waiting: Waiting, nextRunAtMs: number, { generation }: RunFacts): EngineState {
  return { generation, waiting, nextRunAtMs }
}

/** Failures in a row that count for this generation: a new one starts from nothing. */
export function failuresOf(engine: EngineState, generation: number): number {
  return engine.generation === generation ? (engine.attempt ?? 0) : 0
}

function attemptOf(before: EngineState, { generation }: RunFacts): EngineState {
  const attempt = failuresOf(before, generation)
  return attempt === 0 ? {} : { attempt }
}

/** A failure ahead of the backoff's time, woken by something else, costs no attempt and leaves the time as it was. */
function backedOff(before: EngineState, facts: RunFacts): EngineState & { readonly attempt: number } {
  const failures = failuresOf(before, facts.generation)
  if (failures > 0 && before.waiting === 'Backoff' && (before.nextRunAtMs ?? 0) > facts.nowMs) {
    return { ...waitUntil('Backoff', before.nextRunAtMs ?? 0, facts), attempt: failures }
  }
  const attempt = failures + 1
  const waitMs = Math.max(backoffMs(attempt, facts.chance), facts.retryDelayMs ?? 0)
  return { ...waitUntil('Backoff', facts.nowMs + waitMs, facts), attempt }
}

/** With how many failures in a row have said the same: an error that never changes often means "not ready yet". */
function withError(
  before: EngineState,
  next: EngineState & { readonly attempt: number },
  message: string,
): EngineState {
  const first = { ...next, lastError: message }
  if (before.lastError !== message || before.generation !== next.generation) return first
  const sameErrors = (before.sameErrors ?? 1) + next.attempt - (before.attempt ?? next.attempt)
  return sameErrors > 1 ? { ...first, sameErrors } : first
}

/** The next state of a paused object: it says so, and waits for nothing. One that was let go on meanwhile keeps what it waits for. */
export function concludePaused(live: StoredObject, facts: RunFacts): Conclusion {
  if (!isPaused(live.object)) return live
  const paused: ConditionPatch = {
    status: 'True',
    reason: 'PausedByAnnotation',
    message: 'nothing is done for this object until the annotation is removed',
  }
  const conditions = patchConditions(conditionsOf(live.object), { Paused: paused }, facts)
  const object = facts.hasStatus
    ? { ...live.object, status: { ...live.object.status, conditions: asJson(conditions) } }
    : live.object
  const { once, notes, syncedAtMs, window, change } = live.engine
  return {
    object,
    engine: {
      ...expectationsField(live.engine.expectations),
      ...(once === undefined ? {} : { once }),
      ...notesField(notes),
      ...(syncedAtMs === undefined ? {} : { syncedAtMs }),
      ...(window === undefined ? {} : { window }),
      ...(change === undefined ? {} : { change }),
    },
  }
}
