import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Allowances } from '../../shared/ports/allowances.ts'
import type { Clock } from '../../shared/ports/clock.ts'

/** Accounts that nobody has called yet, and any number of processes that do, each with a clock of its own. */
export interface OpenAllowances {
  process(clock: Clock): Allowances
  close(): Promise<void> | void
}

/** What all Allowances promise. */
export function allowancesContract(adapter: string, open: () => Promise<OpenAllowances> | OpenAllowances): void {
  describe(`Allowances: ${adapter}`, () => {
    let opened: OpenAllowances
    let nowMs: number
    beforeEach(async () => {
      opened = await open()
      nowMs = Date.parse('2026-01-01T00:00:00Z')
    })
    afterEach(() => opened.close())

    const process = (): Allowances => opened.process({ nowMs: () => nowMs, sleep: async () => {} })
    const rate = { perSecond: 10, burst: 3 }
    const takeMany = async (some: Allowances, count: number): Promise<readonly number[]> => {
      const waits: number[] = []
      for (let i = 0; i < count; i++) waits.push(await some.take('account', rate))
      return waits
    }

    it('allows the burst at once, to whichever process asks, and then the rate', async () => {
      const [one, other] = [process(), process()]
      expect(await takeMany(one, 2)).toEqual([0, 0])
      expect(await takeMany(other, 3)).toEqual([0, 100, 100])
      nowMs += 100
      expect(await takeMany(one, 2)).toEqual([0, 100])
      nowMs += 60_000
      expect(await takeMany(other, 4)).toEqual([0, 0, 0, 100])
    })

    it('keeps the accounts apart', async () => {
      await takeMany(process(), 3)
      expect(await process().take('another', rate)).toBe(0)
    })

    it('leaves to the others what a smaller burst does not take', async () => {
      const some = process()
      const sync = { perSecond: 10, burst: 2 }
      expect([await some.take('account', sync), await some.take('account', sync)]).toEqual([0, 0])
      expect(await some.take('account', sync)).toBe(100)
      expect(await some.take('account', rate)).toBe(0)
    })

    it('allows nobody a call of a closed account, and opens it for one call after the other', async () => {
      const [one, other] = [process(), process()]
      await one.close('account', rate, nowMs + 30_000)
      expect(await takeMany(other, 2)).toEqual([30_000, 30_000])
      await one.close('account', rate, nowMs + 10_000)
      nowMs += 29_999
      expect(await takeMany(one, 1)).toEqual([1])
      nowMs += 1
      expect(await takeMany(other, 2)).toEqual([0, 100])
    })

    it('never allows more than burst and rate, however many ask at once', async () => {
      const shape = fc.array(fc.record({ afterMs: fc.nat(300), askers: fc.integer({ min: 1, max: 4 }) }), {
        maxLength: 12,
      })
      await fc.assert(
        fc.asyncProperty(shape, fc.integer({ min: 1, max: 4 }), async (steps, burst) => {
          const account = `account ${Math.random()}`
          const allowedMs: number[] = []
          for (const { afterMs, askers } of steps) {
            nowMs += afterMs
            const ask = async (): Promise<number> => process().take(account, { perSecond: 10, burst })
            for (const wait of await Promise.all(Array.from({ length: askers }, ask)))
              if (wait === 0) allowedMs.push(nowMs)
          }
          for (const [i, fromMs] of allowedMs.entries())
            for (const [j, toMs] of allowedMs.entries())
              if (j >= i) expect(j - i + 1).toBeLessThanOrEqual(burst + (toMs - fromMs) / 100)
        }),
        { numRuns: 15 },
      )
    })
  })
}
