import { expect, it } from 'vitest'
import { backoffMs, isRetryAhead } from '../../../../shared/engine/state/backoff.ts'
import { slowBackoffMs } from '../../../../shared/engine/state/stalled-state.ts'

/** The upper half of each wait is left to chance, but for the first. */
it.each([
  [1, 0, 1_000],
  [1, 0.9, 1_000],
  [2, 0, 1_000],
  [2, 0.5, 1_500],
  [3, 0, 2_000],
  [3, 0.5, 3_000],
  [10, 0, 256_000],
  [11, 0, 500_000],
  [11, 0.5, 750_000],
  [2_000, 0.5, 750_000],
])('failure %d waits by chance %d for %d ms', (attempt, chance, ms) => {
  expect(backoffMs(attempt, chance)).toBe(ms)
})

it('the slow retry waits as long as the longest backoff', () => {
  expect([0, 0.5].map(slowBackoffMs)).toEqual([500_000, 750_000])
})

it.each([
  [undefined, false],
  [1_000, false],
  [1_001, true],
  [86_401_000, true],
  [86_401_001, false],
])('a retry at %d is still to come at 1000: %j', (atMs, is) => {
  expect(isRetryAhead(atMs, 1_000)).toBe(is)
})
