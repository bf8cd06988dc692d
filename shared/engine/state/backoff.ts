/**
 * How long a failed key waits: 1 s · 2ⁿ up to 1000 s. Above the first, the upper half of the wait is left to chance, so
 * that keys that failed together do not come back together, and yet each wait is plainly longer than the one before.
 * Source: "equal jitter" in "Exponential Backoff And Jitter", AWS Architecture Blog; the cap is client-go's.
 */
const backoffBaseMs = 1_000
export const backoffMsMax = 1_000_000

/** The wait after the `attempt`th failure in a row (1 is the first); `chance` is uniform in [0, 1). */
export function backoffMs(attempt: number, chance: number): number {
  const ceiling = Math.min(backoffMsMax, backoffBaseMs * 2 ** (attempt - 1))
  const certain = Math.max(backoffBaseMs, ceiling / 2)
  return Math.round(certain + (ceiling - certain) * chance)
}

/**
 * Whether the time that a failure has set for its retry is still to come. One that is further away than it can be was
 * set by a clock that was ahead, and counts no more. Not even the line of all retries is as long as a day.
 */
export function isRetryAhead(atMs: number | undefined, nowMs: number, mostMs = lineMsMax): boolean {
  return atMs !== undefined && atMs > nowMs && atMs <= nowMs + mostMs
}

const lineMsMax = 24 * 60 * 60_000
