import { OperatingError } from '../../model/errors.ts'
import type { EngineState } from '../../model/engine-state.ts'
import type { Rate } from '../../model/reservations.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Reserve } from '../../ports/reservations.ts'
import type { TokenBucket } from './token-bucket.ts'

/**
 * What all controllers together may spend on retries: how long a retry waits at least, though the backoff of its object
 * be shorter. So many objects that fail together, because something is away that all of them need, come back one after
 * the other.
 */
export type RetryBudget = (nowMs: number) => number | Promise<number>

/** Of one process, which runs all controllers. */
export function createRetryBudget(bucket: TokenBucket): RetryBudget {
  return (nowMs) => bucket.reserve(nowMs)
}

/** Of many processes: a line of reservations. Where it cannot be asked just now, the backoff has to do. */
export function createSharedRetryBudget(rate: Rate, reserve: Reserve): RetryBudget {
  return async (nowMs) => {
    try {
      const [atMs = nowMs] = await reserve(line, 1, rate)
      return Math.max(0, atMs - nowMs)
    } catch (error) {
      if (error instanceof OperatingError) return 0
      throw error
    }
  }
}

/** No controller has such a name. */
const line = 'all retries'

/**
 * The wait of a failure that is to be retried. One whose object has a retry ahead already takes no other: whoever fails
 * again and again because it is woken leaves the budget to the others.
 */
export async function reserveRetry(
  { retryBudget, clock }: { readonly retryBudget?: RetryBudget; readonly clock: Clock },
  { wait }: EngineState,
): Promise<number | undefined> {
  const nowMs = clock.nowMs()
  const hasRetryAhead = wait?.kind === 'Backoff' && wait.atMs > nowMs
  return hasRetryAhead ? undefined : retryBudget?.(nowMs)
}
