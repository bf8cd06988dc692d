import type { CanaryObject } from './canary-kind.ts'
import { durationMs } from '../../model/duration.ts'

/** How far a trial is. */
export interface TrialProgress {
  readonly phase: 'Trial' | 'Promoted' | 'RolledBack'
  /** Of a hundred objects. */
  readonly share: number
  readonly startedAtMs: number
  readonly shareSinceMs: number
  /** What ended it; empty before. */
  readonly why: string
}

/** Objects that are neither paused nor being deleted. */
export interface TrialLook {
  readonly trial: {
    readonly objects: number
    /** Of these, how many have run the new version. */
    readonly ran: number
    /** Of those that ran it, how many became unready since the trial began, and have been so for the grace. */
    readonly unready: number
  }
  readonly others: { readonly objects: number; readonly unready: number }
  /** Of both, how many are unready at all, and may be so for the grace yet. */
  readonly unreadyNow: { readonly trial: number; readonly others: number }
}

/** What comes of a look, and why. */
export interface TrialVerdict {
  readonly progress: TrialProgress
  readonly message: string
}

type Spec = CanaryObject['spec']

export function beginTrial({ shares }: Spec, nowMs: number): TrialProgress {
  return { phase: 'Trial', share: shares[0] as number, startedAtMs: nowMs, shareSinceMs: nowMs, why: '' }
}

/**
 * Worse than the others: back at once. As good for as long as a share is looked at, and at its end: the next one, or
 * all.
 */
export function decideCanary(spec: Spec, progress: TrialProgress, seen: TrialLook, nowMs: number): TrialVerdict {
  const word = obeyPerson(spec, progress)
  if (word !== undefined) return word
  if (progress.phase !== 'Trial') return { progress, message: progress.why }
  const { trial, others, unreadyNow } = seen
  if (isWorse({ trial, others }, spec.tolerance))
    return rolledBack(
      progress,
      `${trial.unready} of ${trial.ran} objects that ran it became unready, of the others ${others.unready} of ${others.objects}`,
    )
  if (trial.ran < trial.objects)
    return { progress, message: `${trial.ran} of ${trial.objects} objects of the share have run it` }
  if (nowMs - progress.shareSinceMs < durationMs(spec.hold))
    return { progress, message: `${progress.share} of a hundred objects run it, and are looked at for ${spec.hold}` }
  const now = { trial: { ...trial, unready: unreadyNow.trial }, others: { ...others, unready: unreadyNow.others } }
  if (isWorse(now, spec.tolerance))
    return { progress, message: `${unreadyNow.trial} of ${trial.ran} objects that ran it are not ready yet` }
  const next = spec.shares.find((share) => share > progress.share)
  if (next === undefined && trial.objects === 0 && others.objects > 0) return { progress, message: untried }
  if (next === undefined) return promoted(progress, 'it did as well as the version before')
  return { progress: { ...progress, share: next, shareSinceMs: nowMs }, message: `${next} of a hundred objects run it` }
}

const untried =
  'no object is in the last share, so none has run it: name a larger one in spec.shares, or decide by spec.decision'

/** What a person has decided, whatever is seen. */
export function obeyPerson({ decision }: Spec, progress: TrialProgress): TrialVerdict | undefined {
  if (decision === 'Promote') return promoted(progress, 'a person promoted it')
  if (decision === 'RollBack') return rolledBack(progress, 'a person rolled it back')
  return undefined
}

function isWorse({ trial, others }: Pick<TrialLook, 'trial' | 'others'>, tolerance: number): boolean {
  return partOf(trial.unready, trial.ran) > partOf(others.unready, others.objects) + tolerance
}

function partOf(some: number, all: number): number {
  return all === 0 ? 0 : (100 * some) / all
}

function promoted(progress: TrialProgress, why: string): TrialVerdict {
  return { progress: { ...progress, phase: 'Promoted', share: 100, why }, message: why }
}

function rolledBack(progress: TrialProgress, why: string): TrialVerdict {
  return { progress: { ...progress, phase: 'RolledBack', share: 0, why }, message: why }
}

/** Whether an object is among so many of a hundred. It stays among them when there are more. */
export function isInShare(uid: string, share: number): boolean {
  return (hashOf(uid) / 2 ** 32) * 100 < share
}

/** FNV-1a, with the bits mixed once more: ids may differ in their last letters only. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
