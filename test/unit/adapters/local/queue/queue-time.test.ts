import { describe, expect, it } from 'vitest'
import type { KeyGroups } from '../../../../../shared/adapters/local/queue/key-groups.ts'
import { QueueTime } from '../../../../../shared/adapters/local/queue/queue-time.ts'
import { createVirtualClock } from '../../../../support/virtual-clock.ts'

/** A machine whose clock can jump, and whose process can stand still. */
function machine({ isSteady = true } = {}) {
  const passing = createVirtualClock(1_000_000)
  let aheadMs = 0
  const sleeps: number[] = []
  const clock = {
    nowMs: () => passing.nowMs() + aheadMs,
    ...(isSteady && { steadyMs: () => passing.nowMs() }),
    sleep: (ms: number) => {
      sleeps.push(ms)
      return passing.sleep(ms)
    },
  }
  const jumps: number[] = []
  let isTaken = true
  const groups = { clockJumped: (ms: number) => void jumps.push(ms), isAnyTaken: () => isTaken } as unknown as KeyGroups
  const time = new QueueTime(clock, groups)
  return {
    time,
    jumps,
    sleeps,
    pass: passing.advance,
    /** Time passes, and nobody looks at it. */
    stand: (ms: number) => passing.moveTo(passing.nowMs() + ms),
    jump: (ms: number) => void (aheadMs += ms),
    settle: () => void (isTaken = false),
    sleeping: () => passing.nextDueMs(),
  }
}

describe('the time of a queue', () => {
  it.each([
    [0, []],
    [900, []],
    [-900, []],
    [1_500, [1_500]],
    [-3_600_000, [-3_600_000]],
  ])('that jumps by %d ms tells of %j, once', (byMs, told) => {
    const { time, jump, jumps } = machine()
    jump(byMs)
    expect([time.now(), time.now(), jumps]).toEqual([1_000_000 + byMs, 1_000_000 + byMs, told])
  })

  it('adds up jumps that are too small to be told alone', () => {
    const { time, jump, jumps } = machine()
    for (let i = 0; i < 3; i++) {
      jump(600)
      time.now()
    }
    expect(jumps).toEqual([1_200])
  })

  it('knows of no jump where the clock never does', () => {
    const { time, jump, jumps } = machine({ isSteady: false })
    jump(5_000)
    expect([time.now(), jumps]).toEqual([1_005_000, []])
  })
})

describe('while a key is taken', () => {
  it('the time is looked at every five seconds, by one', async () => {
    const { time, pass, sleeps, settle, sleeping } = machine()
    time.watch()
    time.watch()
    await pass(12_000)
    expect(sleeps).toEqual([5_000, 5_000, 5_000])
    settle()
    await pass(5_000)
    expect([sleeps.length, sleeping()]).toEqual([3, undefined])
  })

  it('is watched again when another one is', async () => {
    const { time, pass, sleeps, settle } = machine()
    settle()
    time.watch()
    await pass(1)
    expect(sleeps).toEqual([])
    time.watch()
    expect(sleeps).toEqual([])
  })

  it.each([
    [5_900, []],
    [6_500, [1_500]],
    [65_000, [60_000]],
  ])('a process that looks again after %d ms tells that it stood still for %j', async (ms, told) => {
    const { time, stand, jumps, pass } = machine()
    time.watch()
    await pass(0)
    stand(ms)
    time.now()
    time.now()
    expect(jumps).toEqual(told)
  })

  it('a clock that jumps is no process that stands still', async () => {
    const { time, jump, jumps, pass } = machine()
    time.watch()
    await pass(0)
    jump(60_000)
    time.now()
    expect(jumps).toEqual([60_000])
  })

  it('nobody stands still while none is', () => {
    const { time, stand, jumps } = machine()
    stand(60_000)
    expect([time.now(), jumps]).toEqual([1_060_000, []])
  })
})
