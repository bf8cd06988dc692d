import { describe, expect, it } from 'vitest'
import { keepReading } from '../../../shared/model/keep-reading.ts'
import { createVirtualClock } from '../../support/virtual-clock.ts'

/** A reading of what is numbered, each of which ends when the test says so. */
function createReading(maxAgeMs: number) {
  const clock = createVirtualClock()
  const begun: PromiseWithResolvers<number>[] = []
  const read = (): Promise<number> => {
    const one = Promise.withResolvers<number>()
    begun.push(one)
    return one.promise
  }
  const end = async (number: number): Promise<void> => {
    begun[number]?.resolve(number)
    await begun[number]?.promise
  }
  return { kept: keepReading({ read, clock, maxAgeMs }), clock, begun, end }
}

describe('what is read once and kept', () => {
  it('is read when somebody asks, and by all who ask meanwhile', async () => {
    const { kept, begun, end } = createReading(Infinity)
    expect(kept.peek()).toBeUndefined()
    const both = [kept.get(), kept.get()]
    await end(0)
    expect([begun.length, await Promise.all(both), kept.peek(), await kept.get()]).toEqual([1, [0, 0], 0, 0])
  })

  it('is read again when it is older than it may be, or than who asks wants', async () => {
    const { kept, clock, begun, end } = createReading(10_000)
    void kept.get()
    await end(0)
    await clock.advance(5_000)
    expect([kept.peek(), await kept.get(), await kept.get(5_000)]).toEqual([0, 0, 0])
    const newer = kept.get(1_000)
    expect([begun.length, kept.peek()]).toEqual([2, undefined])
    await end(1)
    expect([await newer, kept.peek()]).toEqual([1, 1])
    await clock.advance(10_000)
    expect(kept.peek()).toBe(1)
    await clock.advance(1)
    expect(kept.peek()).toBeUndefined()
    void kept.get()
    expect(begun).toHaveLength(3)
  })

  it('is read again when the clock was put back', async () => {
    let nowMs = 3_600_000
    const kept = keepReading({ read: () => Promise.resolve(nowMs), clock: { nowMs: () => nowMs }, maxAgeMs: 10_000 })
    expect(await kept.get()).toBe(3_600_000)
    nowMs = 0
    expect([kept.peek(), await kept.get(), kept.peek()]).toEqual([undefined, 0, 0])
  })

  it('does not count once it has changed, even if it was being read', async () => {
    const { kept, begun, end } = createReading(Infinity)
    const before = kept.get()
    kept.forget()
    const after = kept.get()
    await end(0)
    expect([begun.length, await before, kept.peek()]).toEqual([2, 0, undefined])
    await end(1)
    expect([await after, kept.peek()]).toEqual([1, 1])
  })

  it('stays though a reading from before fails after it', async () => {
    const { kept, begun, end } = createReading(Infinity)
    const before = kept.get()
    kept.forget()
    const after = kept.get()
    await end(1)
    expect([await after, kept.peek()]).toEqual([1, 1])
    begun[0]?.reject(new Error('no'))
    await expect(before).rejects.toThrow('no')
    expect([kept.peek(), await kept.get(), begun.length]).toEqual([1, 1, 2])
  })

  it('is read again after a failure, of which all who waited are told', async () => {
    const { kept, begun, end } = createReading(Infinity)
    const both = [kept.get(), kept.get()]
    begun[0]?.reject(new Error('no'))
    for (const one of both) await expect(one).rejects.toThrow('no')
    const again = kept.get()
    await end(1)
    expect([begun.length, await again]).toEqual([2, 1])
  })
})
