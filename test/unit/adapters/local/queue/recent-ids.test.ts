import { expect, it } from 'vitest'
import { createRecentIds } from '../../../../../shared/adapters/local/queue/recent-ids.ts'

const nowMs = 1_800_000_000_000

it('lets a text through once in five minutes', () => {
  const recent = createRecentIds()
  expect([0, 1, 299_999, 300_000].map((ms) => recent.admit('a', nowMs + ms))).toEqual([true, false, false, true])
})

it('lets it through at once when the clock was put back: what it knows is of another time', () => {
  const recent = createRecentIds()
  expect([0, -3_600_000, -3_599_999].map((ms) => recent.admit('a', nowMs + ms))).toEqual([true, true, false])
})

it('remembers the last ten thousand texts, and no more than twice as many', () => {
  const recent = createRecentIds()
  for (let i = 0; i < 20_001; i++) recent.admit(String(i), nowMs)
  expect([10_001, 15_000, 20_000, 0].map((i) => recent.admit(String(i), nowMs))).toEqual([false, false, false, true])
})
