import { conditionOf } from '../../model/conditions.ts'
import { isPaused, reconcileRequestAnnotation } from '../../model/control-annotations.ts'
import { durationMs } from '../../model/duration.ts'
import { absentIfNotFound, hasCode } from '../../model/errors.ts'
import type { ApiObject } from '../../model/object.ts'
import { parseTimestamp, timestamp } from '../../model/time.ts'
import type { Context } from '../context.ts'
import type { Controller } from '../controller.ts'
import { defineReconciler } from '../define-reconciler.ts'
import type { Kind, StatusOf } from '../kind.ts'
import { again, done, stop, waiting, type Outcome, type Report } from '../outcome.ts'
import { asStored } from './as-stored.ts'
import { Canary, type CanaryObject } from './canary-kind.ts'
import {
  beginTrial,
  decideCanary,
  isInShare,
  obeyPerson,
  type TrialProgress,
  type TrialLook,
  type TrialVerdict,
} from './decide-canary.ts'
import { canaryCondition, isMarkedBy, type Trial } from './trial-mark.ts'

/** How many objects are woken in one run. */
const wokenMax = 200

/**
 * The reconciler of Canaries: looks at the objects of the controllers that have one, widens its share, promotes it or
 * rolls it back. It belongs into the list beside them: `reconcilers = [greetings, canaries([greetings])]`.
 */
export function canaries(controllers: readonly Controller[]): Controller {
  const byName = new Map(controllers.map((controller) => [controller.name, controller]))
  return defineReconciler(Canary, {
    // To wake the objects.
    grants: controllers.map(({ kind }) => ({ kind, access: 'write' as const })),
    timeout: '50s',
    async reconcile(canary, ctx) {
      const { name } = canary.metadata
      const controller = byName.get(name)
      if (controller === undefined) throw stop('NoSuchReconciler', `there is no reconciler ${name} that has canaries`)
      const isDeployed = controller.canary === canary.spec.version
      return (isDeployed ? look : awaitVersion)(canary, controller.kind, ctx)
    },
  })
}

type Status = StatusOf<CanaryObject>
/** What the status tells of a look. */
type Seen = Pick<TrialLook, 'trial' | 'others'>

/** Meanwhile no object is on trial: those that a trial of another version has run go back to the old code. */
async function awaitVersion(canary: CanaryObject, kind: Kind, ctx: Context): Promise<Outcome<Status>> {
  const { metadata, spec, status: { version = spec.version, startedAt = '' } = {} } = canary
  const ready = waiting('NotDeployed', `the reconciler ${metadata.name} has no version ${spec.version} beside it`)
  if (version === spec.version) return again('1m', { ready })
  const left = await wake(await listLive(kind, ctx), { kind, trial: { version, startedAt }, share: 0 }, ctx)
  return again(left > 0 ? '1s' : '1m', { ready })
}

async function look(canary: CanaryObject, kind: Kind, ctx: Context): Promise<Outcome<Status>> {
  const before = progressOf(canary) ?? beginTrial(canary.spec, ctx.now())
  const word = obeyPerson(canary.spec, before)
  // It is obeyed though the objects may not be listed now: each of them asks for the share when it runs.
  if (word !== undefined && isMoved(canary, word.progress)) {
    await tellEnd(before, word, ctx)
    return again('1s', reportOf(canary, word, lookBefore(canary)))
  }
  const all = await listLive(kind, ctx)
  const seen = count(all, canary, before, ctx.now())
  const verdict = decideCanary(canary.spec, before, seen, ctx.now())
  const { progress } = verdict
  await tellEnd(before, verdict, ctx)
  const report = reportOf(canary, verdict, seen)
  // Objects ask for the share when they run: it has to be there before they do.
  if (isMoved(canary, progress)) return again('1s', report)
  const left = await wake(all, { kind, trial: trialOf(canary.spec, progress), share: progress.share }, ctx)
  if (left > 0) return again('1s', report)
  return progress.phase === 'Trial' ? again('30s', report) : done(report)
}

async function tellEnd({ phase: before }: TrialProgress, { progress, message }: TrialVerdict, ctx: Context) {
  const { phase } = progress
  if (phase !== before) await ctx.event(phase === 'RolledBack' ? 'Warning' : 'Normal', phase, message)
}

async function listLive(kind: Kind, ctx: Context): Promise<readonly ApiObject[]> {
  return (await ctx.list(asStored(kind), { namespace: '' })).filter(isLive)
}

function isLive(object: ApiObject): boolean {
  return object.metadata.deletionTimestamp === undefined && !isPaused(object)
}

/** Undefined for one of which nothing is noted, or of another version. */
function progressOf({ spec, status = {} }: CanaryObject): TrialProgress | undefined {
  const { version, phase, share, startedAt = '', shareSince = '', why = '' } = status
  const [startedAtMs, shareSinceMs] = [parseTimestamp(startedAt), parseTimestamp(shareSince)]
  if (version !== spec.version || phase === undefined || share === undefined) return undefined
  if (startedAtMs === undefined || shareSinceMs === undefined) return undefined
  return { phase, share, startedAtMs, shareSinceMs, why }
}

function trialOf({ version }: CanaryObject['spec'], { startedAtMs }: TrialProgress): Trial {
  return { version, startedAt: timestamp(startedAtMs) }
}

function isMoved({ spec, status }: CanaryObject, { phase, share }: TrialProgress): boolean {
  return status?.version !== spec.version || status.phase !== phase || status.share !== share
}

/** What was seen at the look before. */
function lookBefore({ status: { trial, others } = {} }: CanaryObject): Seen {
  return { trial: trial ?? { objects: 0, ran: 0, unready: 0 }, others: others ?? { objects: 0, unready: 0 } }
}

function count(all: readonly ApiObject[], { spec }: CanaryObject, progress: TrialProgress, nowMs: number): TrialLook {
  const isOnTrial = ({ metadata }: ApiObject): boolean => isInShare(metadata.uid, progress.share)
  const current = trialOf(spec, progress)
  const fit = all.filter((object) => !isUnfit(object, current))
  const trial = fit.filter(isOnTrial)
  const others = fit.filter((object) => !isOnTrial(object))
  const untilMs = nowMs - durationMs(spec.grace)
  const ran = trial.filter((object) => hasRun(object, current, untilMs))
  const unready = (some: readonly ApiObject[], lastMs: number): number =>
    some.filter((object) => becameUnready(object, progress.startedAtMs, lastMs)).length
  return {
    trial: { objects: trial.length, ran: ran.length, unready: unready(ran, untilMs) },
    others: { objects: others.length, unready: unready(others, untilMs) },
    unreadyNow: { trial: unready(ran, Infinity), others: unready(others, Infinity) },
  }
}

/** No code runs what does not fit its kind. Where the new code itself said that word, the mark says that it failed. */
function isUnfit(object: ApiObject, trial: Trial): boolean {
  if (conditionOf(object, 'Ready')?.reason !== 'SpecInvalid') return false
  return !isMarkedBy(trial, object) || conditionOf(object, canaryCondition)?.status !== 'False'
}

/** A run that has not ended for the grace has had its time. */
function hasRun(object: ApiObject, trial: Trial, untilMs: number): boolean {
  const mark = conditionOf(object, canaryCondition)
  if (mark === undefined || !isMarkedBy(trial, object)) return false
  return mark.status !== 'Unknown' || (parseTimestamp(mark.lastTransitionTime) ?? untilMs) <= untilMs
}

/** What was unready before the trial says nothing of it. */
function becameUnready(object: ApiObject, fromMs: number, untilMs: number): boolean {
  const ready = conditionOf(object, 'Ready')
  if (ready === undefined || ready.status === 'True') return false
  const sinceMs = parseTimestamp(ready.lastTransitionTime) ?? untilMs
  return sinceMs >= fromMs && sinceMs <= untilMs
}

interface Waking {
  readonly kind: Kind
  readonly trial: Trial
  readonly share: number
}

/**
 * Has those run whose code is not that of their share. How many are left for another run. One whose own state keeps it
 * from being woken, as for want of room, has the code of its share with its next run, and keeps no other waiting.
 */
async function wake(all: readonly ApiObject[], { kind, trial, share }: Waking, ctx: Context): Promise<number> {
  const request = `canary ${trial.version} ${share} in the trial of ${trial.startedAt}`
  const wrong = all.filter((object) => {
    // What any trial has run is not of the old code.
    const isRight = isInShare(object.metadata.uid, share)
      ? isMarkedBy(trial, object)
      : conditionOf(object, canaryCondition) === undefined
    return !isRight && object.metadata.annotations?.[reconcileRequestAnnotation] !== request
  })
  for (const { metadata } of wrong.slice(0, wokenMax)) {
    const place = { name: metadata.name, namespace: metadata.namespace ?? '' }
    const patch = { metadata: { annotations: { [reconcileRequestAnnotation]: request } } }
    try {
      // One that is gone by now needs no run.
      await absentIfNotFound(ctx.patch(kind, place, patch))
    } catch (error) {
      if (!hasCode(error, 'TOO_LARGE', 'INVALID', 'FORBIDDEN')) throw error
      ctx.log.warn('an object could not be woken', { ...place, error: error.message })
    }
  }
  return Math.max(0, wrong.length - wokenMax)
}

function reportOf(
  { spec: { version } }: CanaryObject,
  { progress, message }: TrialVerdict,
  { trial, others }: Seen,
): Report<Status> {
  const { phase, share, startedAtMs, shareSinceMs, why } = progress
  const times = { startedAt: timestamp(startedAtMs), shareSince: timestamp(shareSinceMs), why }
  const ready: NonNullable<Report['ready']> = phase === 'Promoted' ? true : waiting(phase, message)
  return { ready, status: { version, phase, share, ...times, trial, others } }
}
