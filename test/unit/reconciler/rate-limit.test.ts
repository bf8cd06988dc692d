import { expect, it } from 'vitest'
import { controllerLimit, countRun, findLimitEndMs, objectLimit } from '../../../shared/reconciler/rate-limit.ts'

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

it.each([
  { runs: 0, within: '1s' },
  { runs: 1.5, within: '1s' },
  { runs: -1, within: '1s' },
  { runs: 1, within: 0 },
] as const)('an object that may run $runs times within $within could never run', (given) => {
  expect(() => objectLimit('widgets', given)).toThrow('rateLimit.object must allow')
})

it.each([
  { perSecond: 0 },
  { perSecond: -1 },
  { perSecond: Number.NaN },
  { perSecond: 1, burst: 0 },
  { perSecond: 1, burst: Number.NaN },
  { perSecond: Infinity },
  { perSecond: 1, burst: Infinity },
])(
  'a controller with $perSecond a second and a burst of $burst could never run an object, or has no limit',
  (given) => {
    expect(() => controllerLimit('widgets', given)).toThrow('rateLimit.controller must allow')
  },
)

it('a limit is as it was given, with a burst of a second', () => {
  expect(objectLimit('widgets', { runs: 1, within: '2s' })).toEqual({ runs: 1, withinMs: 2_000 })
  expect(objectLimit('widgets', { runs: 1, within: 1 })).toEqual({ runs: 1, withinMs: 1 })
  expect(controllerLimit('widgets', { perSecond: 0.5, burst: 1 })).toEqual({ perSecond: 0.5, burst: 1 })
  expect([0.5, 1, 2.5].map((perSecond) => controllerLimit('widgets', { perSecond })?.burst)).toEqual([1, 1, 3])
})
