import { parseTimestamp } from '../../model/time.ts'

/**
 * An API's answer that is no success. The message is what the far side says, without times and request ids: equal
 * failures must read equal.
 */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly status: number
  /** How long the far side asks to wait, if it does. */
  readonly retryAfterMs: number | undefined

  constructor(status: number, message: string, options: ErrorOptions & { readonly retryAfterMs?: number } = {}) {
    super(message, options)
    this.status = status
    this.retryAfterMs = options.retryAfterMs
  }
}

/** A far side that asks for more has lost its way, as one that sends the time of day in seconds. */
export const retryAfterMsMax = 86_400_000

/**
 * Milliseconds of a Retry-After header: seconds or an HTTP date (RFC 9110, 10.2.3), and a day at most. Undefined if it
 * says neither.
 */
export function parseRetryAfter(header: string | null | undefined, nowMs: number): number | undefined {
  const text = header?.trim() ?? ''
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1_000, retryAfterMsMax)
  // A bare number with a sign or a fraction would be read as a year.
  const atMs = /[a-z]/i.test(text) ? parseTimestamp(text) : undefined
  return atMs === undefined ? undefined : Math.min(Math.max(0, atMs - nowMs), retryAfterMsMax)
}
