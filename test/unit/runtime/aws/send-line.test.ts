import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openSendLine } from '../../../../shared/runtime/aws/send-line.ts'
import { limitsOf, workersOf, type KnownQueue } from '../../../../shared/runtime/aws/send-window.ts'
import { createSeededRandom } from '../../../../shared/testing/seeded-random.ts'
import { createQueueModel, type QueueModel } from '../../../support/queue-model.ts'
import { createVirtualClock, type VirtualClock } from '../../../support/virtual-clock.ts'

/** Ticks that have more to send than there is room for, before a queue of some pace, in virtual time. */
interface Scene {
  readonly concurrency: number
  /** How long turns take, each one of these. */
  readonly turnsMs: readonly number[]
  readonly lagMs?: number
  readonly shares?: number
  readonly held?: number
  readonly seed?: number
  /** Timers are sent beside the sweep, as many as there is room for. */
  readonly timers?: true
  /** From one change to the next, about. */
  readonly changesMs?: number
}

interface Seen {
  /** Of a user's changes, the longest, and that of three in four. */
  readonly waitMs: number
  readonly mostWaitMs: number
  /** Messages of sweeps in each tick that were through. */
  readonly swept: readonly number[]
  readonly timers: number
  readonly mostAtOnce: number
  readonly looks: number
}

const minuteMs = 60_000
const awakeMs = 45_000
const ticks = 4

async function play(scene: Scene): Promise<Seen> {
  const { concurrency, turnsMs, lagMs = 0, shares = 1, held = 0, seed = 1, changesMs = 5_000 } = scene
  const clock = createVirtualClock(0)
  const random = createSeededRandom(seed)
  const longestMs = Math.max(...turnsMs)
  const turnMs = (): number => turnsMs[Math.floor(random.next() * turnsMs.length)] ?? 0
  const queue = createQueueModel({ clock, ...workersOf(concurrency), turnMs, lagMs, held: () => held })
  const swept: number[] = []
  let looks = 0
  let over = false

  async function send(line: Awaited<ReturnType<typeof openSendLine>>, rank: 'sweep' | 'timer'): Promise<void> {
    const perSecond = (10 * concurrency) / shares
    for (;;) {
      const count = await line.take(Math.ceil(perSecond / 2), rank)
      if (count === 0) return
      queue.send(count, rank)
      await clock.sleep((1_000 * count) / perSecond)
    }
  }

  async function tick(index: number): Promise<void> {
    let known: KnownQueue | undefined
    for (let i = 0; i < ticks; i++) {
      const look = async (): Promise<ReturnType<QueueModel['look']>> => {
        looks++
        return queue.look()
      }
      const limits = limitsOf(concurrency, { index, of: shares })
      const line = await openSendLine({ clock, limits, known, look, untilMs: i * minuteMs + awakeMs })
      await Promise.all([send(line, 'sweep'), ...(scene.timers ? [send(line, 'timer')] : [])])
      known = line.known()
      await clock.sleep(Math.max(0, (i + 1) * minuteMs - clock.nowMs()))
      if (index === 0) swept.push(queue.done('sweep') - swept.reduce((sum, one) => sum + one, 0))
    }
  }

  /** One change at a time: none waits for another one. */
  async function change(): Promise<void> {
    while (!over) {
      await clock.sleep(longestMs + changesMs * (0.5 + random.next()))
      if (clock.nowMs() < ticks * minuteMs - awakeMs / 3) queue.send(1, 'user')
    }
  }

  const ticking = Promise.all(Array.from({ length: shares }, (_, index) => tick(index))).finally(() => (over = true))
  void change()
  await passUntil(clock, () => over)
  await ticking
  const waitsMs = queue.userWaitsMs().toSorted((a, b) => a - b)
  return {
    waitMs: waitsMs.at(-1) ?? 0,
    mostWaitMs: waitsMs[Math.floor(0.75 * waitsMs.length)] ?? 0,
    swept,
    timers: queue.done('timer'),
    mostAtOnce: queue.mostAtOnce,
    looks,
  }
}

async function passUntil(clock: VirtualClock, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    await clock.advance(0)
    const dueMs = clock.nextDueMs()
    if (!isOver() && dueMs !== undefined) clock.moveTo(dueMs)
  }
}

describe('a sweep that never ends', () => {
  it.each([
    // Ten at once, as by default: two invocations of five. What is swept is said for the last minute.
    { concurrency: 10, turnMs: 10, waitMs: 1_000, least: 4_000 },
    { concurrency: 10, turnMs: 100, waitMs: 1_000, least: 3_000 },
    { concurrency: 10, turnMs: 300, waitMs: 1_000, least: 200 },
    { concurrency: 10, turnMs: 1_000, waitMs: 500, least: 24 },
    { concurrency: 10, turnMs: 5_000, waitMs: 500, least: 4 },
    { concurrency: 10, turnMs: 20_000, waitMs: 500, least: 1 },
    { concurrency: 100, turnMs: 100, waitMs: 1_000, least: 27_000 },
    { concurrency: 100, turnMs: 1_000, waitMs: 500, least: 250 },
    { concurrency: 100, turnMs: 20_000, waitMs: 500, least: 16 },
    { concurrency: 2, turnMs: 1_000, waitMs: 500, least: 24 },
  ])('of turns of $turnMs ms, $concurrency at once: a change waits $waitMs ms at most', async (row) => {
    const { waitMs, swept, mostAtOnce } = await play({ concurrency: row.concurrency, turnsMs: [row.turnMs] })
    expect(waitMs).toBeLessThanOrEqual(row.waitMs)
    expect(swept.at(-1)).toBeGreaterThanOrEqual(row.least)
    if (row.turnMs >= 1_000) expect(mostAtOnce).toBeLessThanOrEqual(workersOf(row.concurrency).invocations)
  })

  it('at any pace keeps a change waiting for a second at most, or not at all, and gets through its share', async () => {
    const concurrencies = fc.constantFrom(2, 4, 10, 20, 40, 100)
    const anyTurnMs = fc.oneof(fc.integer({ min: 5, max: 1_500 }), fc.integer({ min: 1_000, max: 20_000 }))
    await fc.assert(
      fc.asyncProperty(
        concurrencies,
        anyTurnMs,
        fc.integer(),
        fc.constantFrom(0, 7, 300),
        async (concurrency, turnMs, seed, held) => {
          const { waitMs, mostWaitMs, swept } = await play({ concurrency, turnsMs: [turnMs], seed, held })
          // A second, as long as the queue is asked again. Counts do not tell whose long turn has ended.
          expect(mostWaitMs).toBeLessThanOrEqual(1_100)
          if (turnMs <= 3_000) expect(waitMs).toBeLessThanOrEqual(1_100)
          const { invocations } = workersOf(concurrency)
          const share = ((invocations - 1) * awakeMs) / Math.max(400, turnMs + 20)
          expect(swept.at(-1)).toBeGreaterThanOrEqual(Math.floor((held === 0 ? 0.3 : 0.1) * share))
        },
      ),
      { numRuns: 200, seed: 17 },
    )
  })

  it('of turns quick and slow by turns leaves an invocation free for most of the time', async () => {
    const { waitMs } = await play({ concurrency: 100, turnsMs: [20, 20, 20, 20, 20, 20, 20, 5_000] })
    expect(waitMs).toBeLessThanOrEqual(1_000)
  })

  it('behind counts that lag by three seconds goes slower, and a change waits for seconds at most', async () => {
    const quick = await play({ concurrency: 10, turnsMs: [50], lagMs: 3_000 })
    expect(quick.waitMs).toBeLessThanOrEqual(1_000)
    expect(quick.swept.at(-1)).toBeGreaterThan(500)
    for (const turnMs of [300, 1_000, 3_000, 20_000]) {
      const { waitMs } = await play({ concurrency: 10, turnsMs: [turnMs], lagMs: 3_000 })
      expect(waitMs, `turns of ${turnMs} ms`).toBeLessThanOrEqual(30_000)
    }
  })

  it('of several ticks is that of one: slow turns leave an invocation free, quick ones get through', async () => {
    const slow = await play({ concurrency: 10, turnsMs: [3_000], shares: 8 })
    expect(slow.waitMs).toBeLessThanOrEqual(3_000)
    expect(slow.swept.at(-1)).toBeGreaterThanOrEqual(2)
    const quick = await play({ concurrency: 10, turnsMs: [50], shares: 4 })
    expect(quick.waitMs).toBeLessThanOrEqual(1_000)
    expect(quick.swept.at(-1)).toBeGreaterThan(800)
  })

  it('asks for the depth up to three times a second, and less where turns are slow', async () => {
    const quick = await play({ concurrency: 10, turnsMs: [100] })
    expect(quick.looks / ticks).toBeLessThan(150)
    const slow = await play({ concurrency: 10, turnsMs: [20_000] })
    expect(slow.looks / ticks).toBeLessThan(40)
  })
})

describe('a crowd of timers', () => {
  it('goes ahead of a sweep, uses what runs at once, and a change waits for the end of a turn', async () => {
    const { waitMs, swept, timers } = await play({ concurrency: 10, turnsMs: [2_000], timers: true })
    expect(timers).toBeGreaterThan(300)
    expect(waitMs).toBeLessThanOrEqual(2_500)
    expect(swept.every((count) => count >= 1)).toBe(true)
  })
})
