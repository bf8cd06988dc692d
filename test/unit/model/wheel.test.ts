import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nextPassMs, slotsBetween, wheelSlot, type Slots } from '../../../shared/model/wheel.ts'

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
