import { describe, expect, it } from 'vitest'
import { concurrencyOfEach, feedingOf } from '../../../../infra/constructs/work-queue.ts'
import {
  assuredOf,
  burstOf,
  isQuick,
  noteQuick,
  ticketsLeft,
  workersOf,
  type LoopPace,
} from '../../../../shared/runtime/aws/send-window.ts'

const alone = { index: 0, of: 1 }
const ten = { ...workersOf(10), share: alone }
const hundred = { ...workersOf(100), share: alone }
const nowMs = 1_000_000
const noteOf = (rank: 'timer' | 'sweep') => ({ id: rank, rank, untilMs: nowMs + 1_000 })

it('the function runs as many at once as infra feeds it', () => {
  for (const concurrency of [1, 2, 3, 9, 10, 11, 40, 99, 100, 1_000, 10_000]) {
    const { batchSize, maxConcurrency } = feedingOf({ concurrency })
    expect(workersOf(concurrency)).toEqual({ batchSize, invocations: maxConcurrency })
  }
})

it('of several queues, as many from each as infra feeds the function from it', () => {
  for (const [concurrency, queues] of [
    [10, 4],
    [11, 5],
    [40, 3],
    [100, 16],
  ] as const) {
    const { batchSize, maxConcurrency } = feedingOf({
      concurrency: concurrencyOfEach({ name: 'a', concurrency }, queues),
    })
    expect(workersOf(concurrency, queues)).toEqual({ batchSize, invocations: maxConcurrency })
  }
})

describe('tickets', () => {
  it('leave one invocation free', () => {
    expect(ticketsLeft(ten, 0, nowMs)).toBe(1)
    expect(ticketsLeft(hundred, 4, nowMs)).toBe(5)
    expect(ticketsLeft(ten, 3, nowMs)).toBe(0)
  })

  it('are those of one tick at a time, which looks for a second first', () => {
    const left = (index: number, ms: number): number => ticketsLeft({ ...ten, share: { index, of: 2 } }, 0, ms)
    expect([500, 1_000, 7_999, 8_000, 9_500].map((ms) => left(0, ms))).toEqual([0, 1, 1, 0, 0])
    expect([500, 1_000, 7_999, 8_000, 9_500].map((ms) => left(1, ms))).toEqual([0, 0, 0, 0, 1])
  })
})

describe('what goes without tickets', () => {
  it('is what the invocations run at once that have nothing slow in hand', () => {
    expect(burstOf(ten, [])).toBe(10)
    expect(burstOf(ten, [noteOf('timer')])).toBe(5)
    expect(burstOf(ten, [noteOf('timer'), noteOf('sweep')])).toBe(0)
    expect(burstOf({ ...ten, share: { index: 1, of: 4 } }, [])).toBe(2)
  })

  it('is something in each tick', () => {
    expect([assuredOf(ten, 'sweep'), assuredOf(ten, 'timer')]).toEqual([1, 10])
    expect([assuredOf(hundred, 'sweep'), assuredOf(hundred, 'timer')]).toEqual([9, 100])
  })
})

describe('a loop is known to be quick', () => {
  const after = (count: number, pace?: LoopPace): LoopPace | undefined =>
    Array.from({ length: count }).reduce<LoopPace | undefined>((one) => noteQuick(one, nowMs), pace)

  it('after a hundred turns in a row, for ten minutes', () => {
    expect(isQuick(undefined, nowMs)).toBe(false)
    expect(isQuick(after(99), nowMs)).toBe(false)
    expect(isQuick(after(100), nowMs)).toBe(true)
    expect(isQuick(after(100), nowMs + 10 * 60_000)).toBe(false)
  })

  it('and not by what was seen long ago', () => {
    expect(isQuick(after(1, { quick: 100, seenMs: nowMs - 10 * 60_000 }), nowMs)).toBe(false)
    expect(isQuick(after(1, { quick: 99, seenMs: nowMs - 60_000 }), nowMs)).toBe(true)
  })
})
