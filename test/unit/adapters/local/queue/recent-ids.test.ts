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
