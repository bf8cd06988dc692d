import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../../../../shared/adapters/node/system-clock.ts'

describe("the machine's clock", () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  const noteEnd = (sleep: Promise<void>): { over: boolean } => {
    const noted = { over: false }
    void sleep.then(() => (noted.over = true))
    return noted
  }

  it('sleeps for the time asked', async () => {
    const sleep = noteEnd(systemClock.sleep(1_000))
    await vi.advanceTimersByTimeAsync(999)
    expect(sleep.over).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(sleep.over).toBe(true)
  })

  it('sleeps for months, which is more than a timer of Node can', async () => {
    const days = 86_400_000
    const sleep = noteEnd(systemClock.sleep(100 * days))
    await vi.advanceTimersByTimeAsync(99 * days)
    expect(sleep.over).toBe(false)
    await vi.advanceTimersByTimeAsync(1 * days)
    expect(sleep.over).toBe(true)
  })

  it('leaves no timer behind when it is woken', async () => {
    const stop = new AbortController()
    const sleep = systemClock.sleep(100 * 86_400_000, stop.signal)
    stop.abort()
    await sleep
    expect(vi.getTimerCount()).toBe(0)
    await systemClock.sleep(1_000, AbortSignal.abort())
    expect(vi.getTimerCount()).toBe(0)
  })

  it('does not sleep for no time', async () => {
    await systemClock.sleep(0)
    await systemClock.sleep(-5)
    expect(vi.getTimerCount()).toBe(0)
  })
})
