import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nextPassMs, slotsBetween, wheelSlot, wheelSlots, type Slots } from '../../../shared/model/wheel.ts'

const hourMs = 3_600_000

function passes(uid: string, slots: readonly Slots[]): boolean {
  const slot = wheelSlot(uid)
  return slots.some(({ from, to }) => slot >= from && slot < to)
}

describe('the next pass of the resync wheel', () => {
  const moment = fc.record({
    uid: fc.uuid(),
    nowMs: fc.integer({ min: 1_700_000_000_000, max: 1_800_000_000_000 }),
    periodMs: fc.constantFrom(60_000, hourMs, 10 * hourMs),
  })

  it('lies ahead, within one period', () => {
    fc.assert(
      fc.property(moment, ({ uid, nowMs, periodMs }) => {
        const passMs = nextPassMs(uid, nowMs, periodMs)
        expect(passMs).toBeGreaterThan(nowMs)
        expect(passMs).toBeLessThanOrEqual(nowMs + periodMs)
      }),
    )
  })

  it('is when the sweep wakes the object, and not before', () => {
    fc.assert(
      fc.property(moment, ({ uid, nowMs, periodMs }) => {
        const passMs = nextPassMs(uid, nowMs, periodMs)
        expect(passes(uid, slotsBetween(nowMs + 1, passMs - 1, periodMs))).toBe(false)
        expect(passes(uid, slotsBetween(nowMs + 1, passMs + 1, periodMs))).toBe(true)
      }),
    )
  })
})

it.each([
  ['', 0x811c9dc5],
  ['a', 0xe40c292c],
  ['foobar', 0xbf9cf968],
])('the slot of %j is by its FNV-1a hash, for life', (uid, hash) => {
  expect(wheelSlot(uid)).toBe(hash % 3_600)
})

describe('the slots that the hand of an hour passes', () => {
  const all = [{ from: 0, to: wheelSlots }]
  it.each<[string, number, number, readonly Slots[]]>([
    ['in no time', 5_000, 5_000, []],
    ['when the clock was put back', 5_000, 4_000, []],
    ['between two slots', 5_001, 5_999, []],
    ['at a second, to the next', 5_000, 6_000, [{ from: 5, to: 6 }]],
    ['just behind one, over the next', 5_001, 6_001, [{ from: 6, to: 7 }]],
    ['up to the end of the wheel', hourMs - 2_000, hourMs, [{ from: 3_598, to: 3_600 }]],
    ['from the beginning of the wheel', hourMs, hourMs + 1_000, [{ from: 0, to: 1 }]],
    [
      'over the end of the wheel',
      hourMs - 2_000,
      hourMs + 3_000,
      [
        { from: 3_598, to: 3_600 },
        { from: 0, to: 3 },
      ],
    ],
    ['in all but a second of a period', hourMs + 1_000, 2 * hourMs, [{ from: 1, to: 3_600 }]],
    ['in a period', hourMs + 1_000, 2 * hourMs + 1_000, all],
    ['in many periods', 5_000, 9 * hourMs, all],
  ])('%s', (_when, fromMs, toMs, slots) => {
    expect(slotsBetween(fromMs, toMs, hourMs)).toEqual(slots)
  })
})
