import { expect, it } from 'vitest'
import { countRun, findLimitEndMs } from '../../../shared/reconciler/rate-limit.ts'

const limit = { runs: 2, withinMs: 10_000 }
const startMs = 1_800_000_000_000

it('lets an object run so often within a time, and again when it is over', () => {
  const once = { memory: { window: countRun(limit, {}, startMs) } }
  const twice = { memory: { window: countRun(limit, once, startMs + 4_000) } }
  expect(findLimitEndMs(limit, once, startMs + 4_000)).toBeUndefined()
  expect(findLimitEndMs(limit, twice, startMs + 5_000)).toBe(startMs + 10_000)
  expect(findLimitEndMs(limit, twice, startMs + 10_000)).toBeUndefined()
})

it('keeps nobody waiting for longer than that time, though the clock was put back', () => {
  const full = { memory: { window: { startMs, runs: 2 } } }
  expect(findLimitEndMs(limit, full, startMs - 3_600_000)).toBe(startMs - 3_600_000 + 10_000)
})
