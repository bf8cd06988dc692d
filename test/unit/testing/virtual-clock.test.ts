import { beforeEach, describe, expect, it } from 'vitest'
import { createVirtualClock, type VirtualClock } from '../../support/virtual-clock.ts'

describe('virtual time', () => {
  let clock: VirtualClock
  let log: string[]
  const note = (text: string) => (): void => void log.push(`${text} at ${clock.nowMs()}`)

  beforeEach(() => {
    clock = createVirtualClock(1_000)
    log = []
  })

  it('does not pass by being read', async () => {
    await clock.advance(0)
    expect([clock.nowMs(), clock.nowMs()]).toEqual([1_000, 1_000])
  })

  it('ends sleeps in the order of their ends, then of their beginnings', async () => {
    for (const [name, ms] of [
      ['late', 30],
      ['first', 10],
      ['second', 10],
    ] as const)
      void clock.sleep(ms).then(note(name))
    await clock.advance(20)
    expect(log).toEqual(['first at 1010', 'second at 1010'])
    await clock.advance(20)
    expect(log).toEqual(['first at 1010', 'second at 1010', 'late at 1030'])
    expect(clock.nowMs()).toBe(1_040)
  })

  it('lets what a sleep sets off happen at its own time', async () => {
    const loop = async (): Promise<void> => {
      for (let i = 1; i <= 3; i++) {
        await clock.sleep(10)
        note(`tick ${i}`)()
      }
    }
    void loop()
    void clock.sleep(25).then(note('other'))
    await clock.advance(30)
    expect(log).toEqual(['tick 1 at 1010', 'tick 2 at 1020', 'other at 1025', 'tick 3 at 1030'])
  })

  it('ends a sleep when its signal aborts, and forgets it', async () => {
    const stop = new AbortController()
    void clock.sleep(10, stop.signal).then(note('aborted'))
    void clock.sleep(10, AbortSignal.abort()).then(note('too late'))
    stop.abort()
    await clock.advance(0)
    expect(log.toSorted()).toEqual(['aborted at 1000', 'too late at 1000'])
    expect(clock.nextDueMs()).toBeUndefined()
  })

  it('says when the next sleep ends', () => {
    void clock.sleep(30)
    void clock.sleep(20)
    expect(clock.nextDueMs()).toBe(1_020)
  })
})
