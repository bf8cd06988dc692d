import { hasCode } from '../../model/errors.ts'
import { combineReports, reportOf, RetryAfterError, StopError, withReport } from '../outcome.ts'
import { thrownText } from '../thrown-text.ts'
import { verdictOf, type Verdict } from '../verdict.ts'

/** Waits for all, whether they succeed or not; then throws what failed, combined. */
export async function allDone<Result>(work: readonly Promise<Result>[]): Promise<Result[]> {
  const ends = await Promise.allSettled(work)
  const errors = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []))
  if (errors.length > 0) throw combineFailures(errors.map((error) => ({ error })))
  return ends.map((end) => (end as PromiseFulfilledResult<Result>).value)
}

export interface NodeFailure {
  readonly error: unknown
  /** Whose it is. */
  readonly name?: string
}

/** Many failures as one, which says of the object what each of them says. */
export function combineFailures(failures: readonly NodeFailure[]): Error {
  const reports = failures.flatMap(({ error }) => reportOf(error) ?? [])
  const combined = combineErrors(failures)
  return reports.length === 0 ? combined : withReport(combined, combineReports(reports))
}

/**
 * Many failures as one that is handled as all of them need: with backoff if one of them is retried, after the longest
 * time asked for if all others wait, and not until something changes if nothing else helps any of them.
 */
function combineErrors(failures: readonly NodeFailure[]): Error {
  const errors = failures.map(({ error }) => error)
  const verdicts = errors.map((error) => verdictOf(error))
  const message = failures.map(messageOf).join('; ')
  const cause = new AggregateError(errors, message)
  const conflict = errors.find((error) => hasCode(error, 'VERSION_CONFLICT'))
  if (conflict !== undefined && verdicts.every((verdict) => verdict.kind === 'failed' && verdict.quiet)) return conflict
  if (verdicts.every(({ kind }) => kind === 'stopped'))
    return new StopError(commonReason(verdicts) ?? 'DependentsStopped', message, { cause })
  if (verdicts.some(({ kind }) => kind === 'failed'))
    return Object.assign(cause, { reason: commonReason(verdicts) ?? 'DependentsFailed' })
  const waitsMs = verdicts.flatMap((verdict) => (verdict.kind === 'retryAfter' ? [verdict.afterMs] : []))
  return new RetryAfterError(Math.max(...waitsMs), message, { cause })
}

function commonReason(verdicts: readonly Verdict[]): string | undefined {
  const reasons = new Set(verdicts.map((verdict) => (verdict as { readonly reason?: string }).reason))
  return reasons.size === 1 ? [...reasons][0] : undefined
}

function messageOf({ error, name }: NodeFailure): string {
  const message = thrownText(error)
  return name === undefined ? message : `${name}: ${message}`
}
