import type { Context } from './context.ts'
import { reportOf, StopError, withReport, type Outcome } from './outcome.ts'
import { thrownText } from './thrown-text.ts'
import { verdictOf } from './verdict.ts'

/** A run that failed. */
export interface FailedAttempt<Read> {
  readonly error: unknown
  readonly object: Read
  /** `ctx.attempt` is how many had failed in a row before this one, conflicts included: 0 for the first. */
  readonly ctx: AttemptContext
}

export interface AttemptContext extends Context {
  /** If this run fails, it is not tried again by itself. */
  readonly isLastAttempt: boolean
}

export interface AttemptsOptions<Read, Status> {
  /**
   * Failures in a row after which there is no retry until something changes, or the resync comes. Default: no such
   * limit. A conflict among them counts, too.
   */
  readonly max?: number
  /**
   * The function is called after every failed attempt. An outcome that it returns replaces the failure: `again` sets
   * the time of the next run, `done` ends the retries. An error that it throws replaces the error of the attempt:
   * `stop` ends the retries. If it returns nothing, the error of the attempt counts.
   */
  readonly onError?: (failure: FailedAttempt<Read>) => Promise<Outcome<Status> | void>
}

/**
 * A reconcile or cleanup function that minds its failures. Conflicts and times asked for by the far side pass by:
 * `onError` is not called for them, and the last attempt is not one of them. Throws a TypeError if `max` allows no
 * attempt.
 */
export function attempts<Read, Status>(
  { max = Infinity, onError }: AttemptsOptions<Read, Status>,
  run: (object: Read, ctx: AttemptContext) => Promise<Outcome<Status>>,
): (object: Read, ctx: Context) => Promise<Outcome<Status>> {
  if (!(max >= 1)) throw new TypeError(`attempts: max must be 1 or more, not ${max}`)
  return async (object, given) => {
    const ctx = { ...given, isLastAttempt: given.attempt + 1 >= max }
    try {
      return await run(object, ctx)
    } catch (error) {
      const isFailure = countsAsFailure(error)
      const outcome = isFailure ? await onError?.({ error, object, ctx }) : undefined
      if (outcome !== undefined) return outcome
      throw isFailure && ctx.isLastAttempt ? exhaustionError(error) : error
    }
  }
}

function countsAsFailure(error: unknown): boolean {
  const verdict = verdictOf(error)
  return verdict.kind === 'stopped' || (verdict.kind === 'failed' && !verdict.quiet)
}

function exhaustionError(error: unknown): Error {
  if (error instanceof StopError) return error
  const exhausted = new StopError('RetriesExhausted', thrownText(error), { cause: error })
  const report = reportOf(error)
  return report === undefined ? exhausted : withReport(exhausted, report)
}
