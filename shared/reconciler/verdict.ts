import { durationMs } from '../model/duration.ts'
import { hasCode, InvariantError } from '../model/errors.ts'
import { shorten } from '../model/shorten.ts'
import { reportOf, RetryAfterError, StopError, type FailureReport, type Outcome } from './outcome.ts'
import { thrownText } from './thrown-text.ts'

/** How a run ended, whatever way it ended: what the engine decides by. */
export type Verdict =
  | Outcome
  | (Failure & { readonly kind: 'failed'; readonly reason: string; readonly quiet: boolean; readonly stack?: string })
  | (Failure & { readonly kind: 'stopped'; readonly reason: string })
  | (Failure & { readonly kind: 'retryAfter'; readonly afterMs: number })

interface Failure {
  readonly message: string
  /** What the error said of the object, if it said more than its message. */
  readonly report?: FailureReport
}

/** A run that ended so has seen the desired state through, or has given it up and says why. */
export function observes({ kind }: Verdict): boolean {
  return kind === 'done' || kind === 'again' || kind === 'stopped'
}

/** How long after the run it is tried again at the latest, if its error says so; else Infinity. */
export function retryWithinMs({ report }: Exclude<Verdict, Outcome>): number {
  return report?.retryWithin === undefined ? Infinity : durationMs(report.retryWithin)
}

/**
 * Sorts what a run threw by what happens next. Errors of the reconciler's own making are retried with backoff; what the
 * API refused as invalid is not, since the same request would be refused again. Broken invariants are not an outcome:
 * thrown on. What `conceal` leaves out of a text is left out before the text is cut to its length.
 */
export function verdictOf(error: unknown, conceal: (text: string) => string = (text) => text): Verdict {
  const report = reportOf(error)
  return { ...sortError(error, conceal), ...(report !== undefined && { report }) }
}

function sortError(error: unknown, conceal: (text: string) => string): Exclude<Verdict, Outcome> {
  if (error instanceof InvariantError) throw error
  const message = shorten(conceal(thrownText(error)), messageLengthMax)
  if (error instanceof StopError) return { kind: 'stopped', reason: error.reason, message }
  if (error instanceof RetryAfterError) return { kind: 'retryAfter', afterMs: error.afterMs, message }
  if (hasCode(error, 'INVALID', 'BAD_REQUEST', 'UNDECODABLE', 'TOO_LARGE'))
    return { kind: 'stopped', reason: 'Refused', message }
  if (hasCode(error, 'VERSION_CONFLICT')) return { kind: 'failed', reason: 'Conflict', message, quiet: true }
  return { kind: 'failed', reason: reasonOf(error), message, quiet: false, ...stackOf(error) }
}

/** As much as a person reads: it is kept with the object, which has no room for whole pages of the far side's. */
const messageLengthMax = 4_096

/**
 * Where a slip of the program was made; of many failures, the first one. What is thrown on purpose says enough by its
 * message.
 */
function stackOf(error: unknown): { readonly stack?: string } {
  if (error instanceof AggregateError) return (error.errors as unknown[]).map(stackOf).find(({ stack }) => stack) ?? {}
  if (error instanceof Error && error.name === 'CallFailed') return stackOf(error.cause)
  const isSlip = error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError
  return isSlip && error.stack !== undefined ? { stack: error.stack } : {}
}

/** A CamelCase `reason` that an error carries is shown as it is. */
function reasonOf(error: unknown): string {
  const reason = (error as { readonly reason?: unknown } | undefined)?.reason
  return typeof reason === 'string' && /^[A-Z][A-Za-z0-9]*$/.test(reason) ? reason : 'ReconcileFailed'
}
