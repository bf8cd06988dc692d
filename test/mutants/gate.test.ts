import { expect, it } from 'vitest'
import { leastKilledOf, seedOfDay } from './gate.ts'

it.each([
  [100, false, 95],
  [101, false, 96],
  [6, true, 4],
  [10, true, 7],
  [20, true, 16],
  [100, true, 89],
  [1, true, 0],
  [0, true, 0],
])('of %d mutants (a sample: %j) %d have to be killed', (count, isSample, least) => {
  expect(leastKilledOf(count, isSample)).toBe(least)
})

it('a sample is another one each day', () => {
  const days = ['2026-11-23T00:00:00Z', '2026-11-23T23:59:59Z', '2026-11-24T00:00:00Z'].map((at) => Date.parse(at))
  expect(days.map(seedOfDay)).toEqual([20_780, 20_780, 20_781])
})
