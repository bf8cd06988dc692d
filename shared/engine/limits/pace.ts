import type { Clock } from '../../ports/clock.ts'
import type { ControllerLimit } from '../../reconciler/rate-limit.ts'
import { createTokenBucket } from './token-bucket.ts'

/**
 * How fast a worker takes keys. Keys wait in the queue meanwhile, where they go on being merged and ordered: a limit
 * that costs nothing per key.
 */
export interface Pace {
  /** How many keys may be taken now: at least one, or none if the signal aborted first. */
  awaitAllowance(signal: AbortSignal): Promise<number>
  spend(keys: number): void
}

export const unlimited: Pace = { awaitAllowance: async () => Infinity, spend: () => {} }

export function createPace(limit: ControllerLimit, clock: Clock): Pace {
  const bucket = createTokenBucket(limit)
  return {
    awaitAllowance: async (signal) => {
      for (let keys = bucket.tokens(clock.nowMs()); ; keys = bucket.tokens(clock.nowMs())) {
        if (keys > 0) return keys
        if (signal.aborted) return 0
        await clock.sleep(bucket.waitMs(clock.nowMs()), signal)
      }
    },
    spend: (keys) => {
      for (let i = 0; i < keys; i++) bucket.take(clock.nowMs())
    },
  }
}
