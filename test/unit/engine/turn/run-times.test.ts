import { describe, expect, it } from 'vitest'
import { RunTimes } from '../../../../shared/engine/turn/run-times.ts'
import { createVirtualClock } from '../../../../shared/testing/virtual-clock.ts'

const timeoutMs = 60_000
const startMs = 1_000_000
const { signal: never } = new AbortController()

async function settle(): Promise<void> {
  for (let i = 0; i < 10; i++) await Promise.resolve()
}

describe('the time of a run', () => {
  it('is over after the timeout, for each run after its own', async () => {
    const clock = createVirtualClock(startMs)
    const times = new RunTimes(timeoutMs, clock)
    const first = times.begin(never)
    clock.moveTo(startMs + 20_000)
    const second = times.begin(never)
    expect([first.deadlineMs, second.deadlineMs]).toEqual([startMs + 60_000, startMs + 80_000])
    clock.moveTo(startMs + 60_000)
    await settle()
    expect([first.isOver, second.isOver]).toEqual([true, false])
    times.end(first)
    clock.moveTo(startMs + 80_000)
    await settle()
    expect(second.isOver).toBe(true)
    expect(second.reason).toMatchObject({ code: 'DEADLINE_EXCEEDED' })
  })

  it('is over when the process gives its runs up, and only for those runs', () => {
    const stop = new AbortController()
    const times = new RunTimes(timeoutMs, createVirtualClock(startMs))
    const mine = times.begin(stop.signal)
    const anothers = times.begin(never)
    stop.abort('stopping')
    expect([mine.isOver, mine.reason, anothers.isOver]).toEqual([true, 'stopping', false])
    expect(times.begin(stop.signal).isOver).toBe(true)
  })

  it('leaves no timer behind when no run is under way', async () => {
    const clock = createVirtualClock(startMs)
    const times = new RunTimes(timeoutMs, clock)
    const time = times.begin(never)
    expect(clock.nextDueMs()).toBe(startMs + timeoutMs)
    times.end(time)
    await settle()
    expect(clock.nextDueMs()).toBeUndefined()
  })

  it('leaves no timer behind when several were under way, and listens once to who may stop them', async () => {
    const clock = createVirtualClock(startMs)
    const times = new RunTimes(timeoutMs, clock)
    const { signal } = new AbortController()
    let listening = 0
    const listen = signal.addEventListener.bind(signal)
    signal.addEventListener = (...args: Parameters<typeof listen>) => {
      listening++
      listen(...args)
    }
    const runs = [times.begin(signal), times.begin(signal)]
    for (const run of runs) times.end(run)
    await settle()
    expect([clock.nextDueMs(), listening]).toEqual([undefined, 1])
  })

  it('has one signal, and calls at once who asks after its end', () => {
    const times = new RunTimes(timeoutMs, createVirtualClock(startMs))
    const time = times.begin(never)
    expect(time.signal).toBe(time.signal)
    times.end(time)
    let calls = 0
    time.onOver(() => calls++)
    expect(calls).toBe(1)
  })

  it('aborts the signal that was asked for, before its end or after it', () => {
    const times = new RunTimes(timeoutMs, createVirtualClock(startMs))
    const time = times.begin(never)
    const { signal } = time
    expect(signal.aborted).toBe(false)
    times.end(time)
    expect(signal.aborted).toBe(true)
    const late = times.begin(never)
    times.end(late)
    expect(late.signal.aborted).toBe(true)
    expect(() => late.throwIfOver()).toThrow('the run is over')
  })

  it('calls once whoever waits for its end', () => {
    const times = new RunTimes(timeoutMs, createVirtualClock(startMs))
    const time = times.begin(never)
    let calls = 0
    time.onOver(() => calls++)
    times.end(time)
    time.expire('again')
    expect(calls).toBe(1)
  })
})
