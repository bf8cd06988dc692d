import type { StoredObject } from '../../model/stored-object.ts'
import type { PastRun, QuietRun } from '../../ports/run-history.ts'
import type { Verdict } from '../../reconciler/verdict.ts'
import type { RunEffects } from './run-effects.ts'
import type { RunLog } from './run-log.ts'

export interface RunToKeep {
  readonly stored: StoredObject
  readonly verdict: Verdict
  readonly effects: RunEffects
  readonly log: RunLog | undefined
  /** A change of the object was dealt with. */
  readonly isObserved: boolean
  readonly quiet: QuietRun
}

/** What is kept of a run, or undefined for one of which nobody needs to know more than that it was. */
export function pastRunOf(run: RunToKeep): PastRun | undefined {
  const { verdict, effects, log } = run
  const writes = effects.written.created + effects.written.updated + effects.written.deleted
  const isReady = (verdict.kind === 'done' || verdict.kind === 'again') && (verdict.ready ?? true) === true
  const isSilent = log === undefined || log.isEmpty
  if (isReady && isSilent && writes === 0 && effects.drift === 0 && !run.isObserved) return undefined
  return {
    ...run.quiet,
    outcome: verdict.kind,
    generation: run.stored.object.metadata.generation,
    ...wordsOf(verdict),
    ...('afterMs' in verdict ? { afterMs: verdict.afterMs } : {}),
    reads: effects.reads,
    writes,
    ...(effects.drift === 0 ? {} : { drift: effects.drift }),
    ...(effects.outside === undefined ? {} : { outside: Object.fromEntries(effects.outside) }),
    ...(isSilent ? {} : { log: log.lines }),
  }
}

function wordsOf(verdict: Verdict): Pick<PastRun, 'reason' | 'message'> {
  switch (verdict.kind) {
    case 'done':
    case 'again': {
      const { ready = true } = verdict
      return ready === true ? {} : { reason: ready.reason, message: ready.message }
    }
    case 'retryAfter':
      return { reason: 'RetryAfter', message: verdict.message }
    default:
      return { reason: verdict.reason, message: verdict.message }
  }
}
