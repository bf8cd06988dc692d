import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Clock } from '../../shared/ports/clock.ts'
import type { InHand, InHandNote } from '../../shared/ports/in-hand.ts'

export interface InHandHarness {
  /** What one process sees of it. */
  process(clock: Clock): InHand
  close(): void
}

/** The promises of InHand. */
export function inHandContract(name: string, open: () => InHandHarness): void {
  describe(`what is in hand, ${name}`, () => {
    let nowMs: number
    let harness: InHandHarness
    const clock: Clock = { nowMs: () => nowMs, sleep: async () => {} }
    const noteOf = (id: string, untilMs = nowMs + 60_000): InHandNote => ({ id, rank: 'sweep', untilMs })
    const idsOf = (notes: readonly InHandNote[]): readonly string[] => notes.map(({ id }) => id).toSorted()

    beforeEach(() => {
      nowMs = 1_000_000
      harness = open()
    })
    afterEach(() => harness.close())

    it('is nothing at first', async () => {
      expect(await harness.process(clock).look('system')).toEqual({ notes: [], slowMs: new Map() })
    })

    it('a note is seen by whoever looks, until it is struck', async () => {
      const [one, other] = [harness.process(clock), harness.process(clock)]
      await one.note('system', [noteOf('a'), { ...noteOf('b'), rank: 'timer' }])
      expect((await other.look('system')).notes.toSorted((a, b) => (a.id < b.id ? -1 : 1))).toEqual([
        noteOf('a'),
        { ...noteOf('b'), rank: 'timer' },
      ])
      await other.strike('system', ['a'], [])
      expect(idsOf((await one.look('system')).notes)).toEqual(['b'])
    })

    it('or its time is over; whoever is still at it notes it again', async () => {
      const one = harness.process(clock)
      await one.note('system', [noteOf('a', nowMs + 1_000), noteOf('b', nowMs + 1_000)])
      await one.note('system', [noteOf('b', nowMs + 9_000)])
      nowMs += 1_000
      expect(idsOf((await one.look('system')).notes)).toEqual(['b'])
      // What is over is cleared away with the next note, and does not come back.
      await one.note('system', [noteOf('c')])
      nowMs -= 1_000
      expect(idsOf((await one.look('system')).notes)).toEqual(['b', 'c'])
    })

    it('notes of many at the same time are all there', async () => {
      const some = Array.from({ length: 8 }, () => harness.process(clock))
      await Promise.all(some.map((one, i) => one.note('system', [noteOf(String(i))])))
      expect((await harness.process(clock).look('system')).notes).toHaveLength(8)
    })

    it('a thousand at once are all there, and go as they came', async () => {
      const one = harness.process(clock)
      const ids = Array.from({ length: 1_000 }, (_, i) => String(i))
      await one.note(
        'system',
        ids.map((id) => noteOf(id, nowMs + 1_000)),
      )
      expect(idsOf((await one.look('system')).notes)).toEqual(ids.toSorted())
      nowMs += 1_000
      expect((await one.look('system')).notes).toEqual([])
      await one.note('system', [noteOf('a')])
      nowMs -= 1_000
      expect(idsOf((await one.look('system')).notes)).toEqual(['a'])
      await one.note(
        'system',
        ids.map((id) => noteOf(id)),
      )
      await one.strike('system', ids, [])
      expect(idsOf((await one.look('system')).notes)).toEqual(['a'])
    })

    it('queues have nothing to do with each other', async () => {
      const one = harness.process(clock)
      await one.note('system', [{ ...noteOf('a'), slowLoop: 'shelf' }])
      await one.strike('lamp', ['a'], [])
      expect(await one.look('lamp')).toEqual({ notes: [], slowMs: new Map() })
      expect(idsOf((await one.look('system')).notes)).toEqual(['a'])
    })

    it('says when turns of a loop were slow last', async () => {
      const one = harness.process(clock)
      await one.note('system', [{ ...noteOf('a'), slowLoop: 'shelf' }])
      expect((await one.look('system')).slowMs).toEqual(new Map([['shelf', nowMs]]))
      nowMs += 1_000
      await one.strike('system', ['a', 'never noted'], ['shelf', 'lamp'])
      expect(await one.look('system')).toEqual({
        notes: [],
        slowMs: new Map([
          ['shelf', nowMs],
          ['lamp', nowMs],
        ]),
      })
    })
  })
}
