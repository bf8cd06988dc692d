import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Rate } from '../../shared/model/reservations.ts'
import type { Clock } from '../../shared/ports/clock.ts'
import type { Reserve } from '../../shared/ports/reservations.ts'
import { createSeededRandom } from '../../shared/testing/seeded-random.ts'

/** Lines that nobody has reserved in yet, and any number of processes that reserve, each with a clock of its own. */
export interface OpenReservations {
  process(clock: Clock): Reserve
  close(): Promise<void> | void
}

/** What every Reserve promises. */
export function reservationsContract(adapter: string, open: () => Promise<OpenReservations> | OpenReservations): void {
  describe(`Reserve: ${adapter}`, () => {
    let opened: OpenReservations
    let nowMs: number

    beforeEach(async () => {
      opened = await open()
      nowMs = Date.parse('2026-01-01T00:00:00Z')
    })
    afterEach(() => opened.close())

    const skewed = (skewMs: number): Clock => ({ nowMs: () => nowMs + skewMs, sleep: async () => {} })
    const process = (skewMs = 0): Reserve => opened.process(skewed(skewMs))
    const after = (timesMs: readonly number[]): readonly number[] => timesMs.map((ms) => ms - nowMs)

    it('gives the burst now, and one after the other from then on', async () => {
      expect(after(await process()('line', 7, { perSecond: 2, burst: 3 }))).toEqual([0, 0, 0, 500, 1_000, 1_500, 2_000])
    })

    it('goes on where the last one ended, whichever process that was', async () => {
      const rate = { perSecond: 10, burst: 1 }
      const [one, other] = [process(), process()]
      expect(after(await one('line', 2, rate))).toEqual([0, 100])
      expect(after(await other('line', 2, rate))).toEqual([200, 300])
      expect(after(await one('line', 1, rate))).toEqual([400])
    })

    it('saves up no more than the burst, however long nobody reserves', async () => {
      const rate = { perSecond: 10, burst: 2 }
      await process()('line', 4, rate)
      nowMs += 100
      expect(after(await process()('line', 1, rate))).toEqual([200])
      nowMs += 3_600_000
      expect(after(await process()('line', 3, rate))).toEqual([0, 0, 100])
    })

    it('keeps the lines apart', async () => {
      const rate = { perSecond: 1, burst: 1 }
      expect(after(await process()('line', 1, rate))).toEqual([0])
      expect(after(await process()('other', 1, rate))).toEqual([0])
      expect(after(await process()('line', 1, rate))).toEqual([1_000])
    })

    it.each<Rate>([
      { perSecond: 3, burst: 1 },
      { perSecond: 0.1, burst: 2 },
      { perSecond: 7, burst: 20 },
      { perSecond: 900, burst: 50 },
    ])(
      'never gives more than $burst and $perSecond a second, to processes side by side whose clocks are five seconds off',
      async (rate) => {
        const random = createSeededRandom(1)
        const processes = [-5_000, 0, 5_000, 4_000].map((skewMs) => ({ skewMs, reserve: process(skewMs) }))
        const all: number[] = []
        for (let round = 0; round < 40; round++) {
          await Promise.all(
            processes.map(async ({ reserve, skewMs }) => {
              const timesMs = await reserve('line', 1 + Math.floor(random.next() * 10), rate)
              expect(Math.min(...timesMs)).toBeGreaterThanOrEqual(nowMs + skewMs)
              all.push(...timesMs)
            }),
          )
          nowMs += random.next() < 0.2 ? 30_000 / rate.perSecond : random.next() * 1_000
        }
        expect(worst(all, rate)).toBeLessThanOrEqual(rate.burst)
      },
    )
  })
}

/**
 * The most times that come at once beyond what the rate makes of the time between them; a millisecond is the finest
 * there is.
 */
function worst(timesMs: readonly number[], { perSecond }: Rate): number {
  const sorted = timesMs.toSorted((a, b) => a - b)
  let most = 0
  for (const [i, fromMs] of sorted.entries())
    for (let j = i; j < sorted.length; j++)
      most = Math.max(most, j - i + 1 - (((sorted[j] ?? 0) - fromMs + 1) * perSecond) / 1_000)
  return most
}
