import fc from 'fast-check'
import { expect, it } from 'vitest'
import { moveEndUs, slotTimesMs, spacingUsOf } from '../../../shared/model/reservations.ts'

it.each([
  [1, 1_000_000],
  [10, 100_000],
  [3, 333_334],
  [0.5, 2_000_000],
])('%d a second are %d microseconds apart: never faster than the rate', (perSecond, us) => {
  expect(spacingUsOf({ perSecond, burst: 1 })).toBe(us)
})

it.each([
  ['a new line', 0, 1, 5_000, 5_100_000],
  ['a line that ended in the past', 4_000_000, 2, 5_000, 5_200_000],
  ['a line that ends ahead', 6_000_000, 2, 5_000, 6_200_000],
  ['a line of nobody more', 6_000_000, 0, 5_000, 6_000_000],
])('%s is moved on', (...row) => {
  const [, endUs, count, nowMs, movedUs] = row
  expect(moveEndUs(endUs, count, { perSecond: 10, burst: 1 }, nowMs)).toBe(movedUs)
})

it.each([
  ['one at once', 1, 1, [1_000]],
  ['the second later', 2, 1, [1_000, 1_100]],
  ['a burst at once', 3, 3, [1_000, 1_000, 1_000]],
  ['what is above a burst later', 5, 3, [1_000, 1_000, 1_000, 1_100, 1_200]],
])('of an unused line %s', (_what, count, burst, timesMs) => {
  const rate = { perSecond: 10, burst }
  expect(slotTimesMs(moveEndUs(0, count, rate, 1_000), count, rate, 1_000)).toEqual(timesMs)
})

it('from any reservation to the one made a burst later there is the time of one', () => {
  const takes = fc.array(fc.tuple(fc.nat(2_000), fc.integer({ min: 1, max: 5 })), { minLength: 1, maxLength: 20 })
  const rates = fc.record({ perSecond: fc.constantFrom(1, 3, 7, 50), burst: fc.integer({ min: 1, max: 4 }) })
  fc.assert(
    fc.property(takes, rates, (asked, rate) => {
      let endUs = 0
      const timesMs: number[] = []
      for (const [nowMs, count] of asked) {
        endUs = moveEndUs(endUs, count, rate, nowMs)
        const slots = slotTimesMs(endUs, count, rate, nowMs)
        expect(slots.every((ms) => ms >= nowMs)).toBe(true)
        timesMs.push(...slots)
      }
      for (const [i, ms] of timesMs.slice(rate.burst).entries())
        expect(ms - (timesMs[i] ?? 0)).toBeGreaterThanOrEqual(spacingUsOf(rate) / 1_000 - 1)
    }),
  )
})
