import { OperatingError } from '../../model/errors.ts'
import { retryAtMsOf, type EngineState } from '../../model/engine-state.ts'
import type { Rate } from '../../model/reservations.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Reserve } from '../../ports/reservations.ts'
import { retryWithinMs, type Verdict } from '../../reconciler/verdict.ts'
import { isRetryAhead } from '../state/backoff.ts'
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
 * How long the budget makes what has failed wait for its retry, at least. Undefined if it takes nothing of the budget:
 * no retry is to come, or the object has one ahead, in time. An object that fails again and again because it is woken
 * leaves the budget to the others.
 */
export async function reserveRetry(
  { retryBudget, clock }: { readonly retryBudget?: RetryBudget; readonly clock: Clock },
  engine: EngineState,
  verdict: Verdict,
): Promise<number | undefined> {
  if (verdict.kind !== 'failed' && verdict.kind !== 'stopped') return undefined
  const withinMs = retryWithinMs(verdict)
  if (verdict.kind === 'stopped' && withinMs === Infinity) return undefined
  const nowMs = clock.nowMs()
  const aheadMs = retryAtMsOf(engine) ?? -Infinity
  const isInTime = isRetryAhead(aheadMs, nowMs) && aheadMs <= nowMs + withinMs
  return isInTime ? undefined : retryBudget?.(nowMs)
}
