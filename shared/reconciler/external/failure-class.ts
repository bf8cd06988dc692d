import { HttpError, retryAfterMsMax } from './http-error.ts'

/**
 * What happens next after a call that failed. `terminal`: the same call would be refused again. `conflict`: something
 * of that name is there. `absent`: what it was about is not there. `rateLimited`: not before some time. `reference`:
 * what it refers to is not there yet. `unknown`: nobody knows whether it was done.
 */
export type FailureClass = 'terminal' | 'conflict' | 'absent' | 'rateLimited' | 'reference' | 'unknown'

/** Thrown by an `ExternalApi` that knows better than the HTTP status what a refusal means. */
export class MissingReferenceError extends HttpError {}

/** When the far side names no time (as Kong's operator has it). */
const retryAfterMsDefault = 15_000

/** By the HTTP status. What is no HTTP answer at all was lost on the way. */
export function failureClass(error: unknown): FailureClass {
  if (error instanceof MissingReferenceError) return 'reference'
  if (!(error instanceof HttpError)) return 'unknown'
  const { status, retryAfterMs } = error
  if (status === 429 || (status === 503 && retryAfterMs !== undefined)) return 'rateLimited'
  if (status === 404 || status === 410) return 'absent'
  if (status === 409) return 'conflict'
  return status >= 400 && status < 500 && status !== 408 && status !== 425 ? 'terminal' : 'unknown'
}

/** A far side that says "at once", or names a time that is over, would be called without a pause. */
const retryAfterMsMin = 1_000

/** From a second to a day. What is no time is none. */
export function retryAfterMsOf(error: unknown): number {
  const { retryAfterMs = retryAfterMsDefault } = error instanceof HttpError ? error : {}
  if (!(retryAfterMs >= 0)) return retryAfterMsDefault
  return Math.min(Math.max(retryAfterMs, retryAfterMsMin), retryAfterMsMax)
}
