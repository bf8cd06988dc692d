import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { OperatingError } from '../../../../shared/model/errors.ts'
import type { Clock } from '../../../../shared/ports/clock.ts'
import type { InHand } from '../../../../shared/ports/in-hand.ts'
import type { Logger } from '../../../../shared/ports/logger.ts'
import { openSendLine, type SendLine } from '../../../../shared/runtime/aws/send-line.ts'
import { workersOf, type KnownQueue } from '../../../../shared/runtime/aws/send-window.ts'
import { createSeededRandom } from '../../../../shared/testing/seeded-random.ts'
import { createInHand } from '../../../support/in-hand.ts'
import { createQueueModel } from '../../../support/queue-model.ts'
import { pick, share } from '../../../support/strength.ts'
import { createVirtualClock, type VirtualClock } from '../../../support/virtual-clock.ts'

/** Ticks that have more to send than there is room for, before a queue of some pace, in virtual time. */
interface Scene {
  readonly concurrency: number
  /** How long turns of sweeps and timers take, each one of these. */
  readonly turnsMs: readonly number[]
  /** Those of the last ticks; default: the same. */
  readonly laterTurnsMs?: readonly number[]
  readonly lagMs?: number
  readonly coldMs?: number
  readonly shares?: number
  /** Of sweeps, such a share stands behind a held message for up to a minute. */
  readonly held?: number
  readonly seed?: number
  /** Timers are sent beside the sweep, as many as there is room for. */
  readonly timers?: true
  /** From one change to the next, about. */
  readonly changesMs?: number
  /** Default 4. */
  readonly ticks?: number
}

interface Seen {
  /** Of a user's changes, the longest. */
  readonly waitMs: number
  /** How many waited for more than a second. */
  readonly late: number
  /** Messages of sweeps in each tick that were through. */
  readonly swept: readonly number[]
  readonly timers: number
  readonly mostAtOnce: number
  readonly depths: number
  readonly notes: number
  readonly looks: number
}

/** Lines of lines: what was warned of. */
let warnings: string[] = []
const logger: Logger = {
  debug: () => {},
  info: () => {},
  warn: (message, fields) => void warnings.push(`${message} ${JSON.stringify(fields)}`),
  error: () => {},
  with: () => logger,
}

const minuteMs = 60_000
const awakeMs = 45_000
/** Of a user's own turn. */
const changeMs = 50
const requestMs = 10
const ticks = 4

async function play(scene: Scene): Promise<Seen> {
  const { concurrency, turnsMs, laterTurnsMs = turnsMs, lagMs = 0, coldMs = 0, held = 0, changesMs = 5_000 } = scene
  const { shares = 1, seed = 1, ticks: minutes = ticks } = scene
  const clock = createVirtualClock(0)
  const random = createSeededRandom(seed)
  const counts = { depths: 0, notes: 0, looks: 0 }
  const inHand = counted(createInHand(clock), clock, counts)
  const turnMs = (of: string): number => {
    if (of === 'user') return changeMs
    const all = clock.nowMs() < (minutes / 2) * minuteMs ? turnsMs : laterTurnsMs
    return all[Math.floor(random.next() * all.length)] ?? 0
  }
  const heldMs = (of: string): number => (of === 'sweep' && random.next() < held ? random.next() * minuteMs : 0)
  const place = { clock, random, inHand, queue: 'system', loop: 'loop' }
  const queue = createQueueModel({ ...place, ...workersOf(concurrency), turnMs, lagMs, coldMs, heldMs })
  const swept: number[] = []
  let over = false
  let ids = 0

  async function send(line: SendLine, rank: 'sweep' | 'timer'): Promise<void> {
    const perSecond = (10 * concurrency) / shares
    for (;;) {
      const { count, tickets } = await line.take(Math.ceil(perSecond / 2), { rank, loop: 'loop' })
      if (count === 0) return
      queue.send(count, rank, tickets)
      await clock.sleep((1_000 * count) / perSecond)
    }
  }

  async function tick(index: number): Promise<void> {
    let known: KnownQueue | undefined
    for (let i = 0; i < minutes; i++) {
      const line = await openSendLine({
        clock,
        queue: 'system',
        limits: { ...workersOf(concurrency), share: { index, of: shares } },
        known,
        depth: async () => {
          counts.depths++
          return queue.depth()
        },
        inHand,
        newId: () => String(ids++),
        untilMs: i * minuteMs + awakeMs,
        logger,
      })
      await Promise.all([send(line, 'sweep'), ...(scene.timers ? [send(line, 'timer')] : [])])
      known = line.known()
      await clock.sleep(Math.max(0, (i + 1) * minuteMs - clock.nowMs()))
      if (index === 0) swept.push(queue.done('sweep') - swept.reduce((sum, one) => sum + one, 0))
    }
  }

  /** One change at a time: none waits for another one. */
  async function change(): Promise<void> {
    while (!over) {
      await clock.sleep(changesMs * (0.5 + random.next()))
      if (clock.nowMs() < minutes * minuteMs - awakeMs / 3) queue.send(1, 'user')
    }
  }

  const ticking = Promise.all(Array.from({ length: shares }, (_, index) => tick(index))).finally(() => (over = true))
  void change()
  await passUntil(clock, () => over)
  await ticking
  const waitsMs = queue.userWaitsMs()
  return {
    waitMs: Math.max(...waitsMs),
    late: waitsMs.filter((ms) => ms > 1_000).length,
    swept,
    timers: queue.done('timer'),
    mostAtOnce: queue.mostAtOnce,
    ...counts,
  }
}

/** Each request takes a while. */
function counted(inHand: InHand, clock: Clock, counts: { notes: number; looks: number }): InHand {
  return {
    note: async (...args) => {
      counts.notes++
      await clock.sleep(requestMs)
      await inHand.note(...args)
    },
    strike: async (...args) => {
      counts.notes++
      await clock.sleep(requestMs)
      await inHand.strike(...args)
    },
    look: async (queue) => {
      counts.looks++
      await clock.sleep(requestMs)
      return inHand.look(queue)
    },
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
  const paces = [
    // Ten at once, as by default: two invocations of five. What is swept is said for the last minute.
    { concurrency: 10, turnMs: 10, waitMs: 300, least: 2_400 },
    { concurrency: 10, turnMs: 100, waitMs: 300, least: 2_400 },
    { concurrency: 10, turnMs: 300, waitMs: 800, least: 600 },
    { concurrency: 10, turnMs: 1_000, waitMs: 100, least: 40 },
    { concurrency: 10, turnMs: 5_000, waitMs: 100, least: 8 },
    { concurrency: 10, turnMs: 20_000, waitMs: 100, least: 2 },
    { concurrency: 100, turnMs: 100, waitMs: 300, least: 20_000 },
    { concurrency: 100, turnMs: 300, waitMs: 800, least: 6_000 },
    { concurrency: 100, turnMs: 1_000, waitMs: 100, least: 360 },
    { concurrency: 100, turnMs: 20_000, waitMs: 100, least: 18 },
    { concurrency: 2, turnMs: 1_000, waitMs: 100, least: 40 },
  ]
  it.each(pick(paces))(
    'of turns of $turnMs ms, $concurrency at once: a change waits $waitMs ms at most',
    async (row) => {
      const { waitMs, swept, mostAtOnce } = await play({ concurrency: row.concurrency, turnsMs: [row.turnMs] })
      expect(waitMs).toBeLessThanOrEqual(row.waitMs)
      expect(swept.at(-1)).toBeGreaterThanOrEqual(row.least)
      if (row.turnMs >= 1_000) expect(mostAtOnce).toBe(workersOf(row.concurrency).invocations - 1)
    },
  )

  it('of turns of any length, however functions start and counts lag, keeps a change for less than a second', async () => {
    const concurrencies = fc.constantFrom(2, 4, 10, 20, 40)
    const anyTurnMs = fc.oneof(fc.integer({ min: 30, max: 1_500 }), fc.integer({ min: 1_000, max: 60_000 }))
    const trouble = fc.constantFrom({}, { coldMs: 3_000, changesMs: 10_000 }, { lagMs: 300 })
    await fc.assert(
      fc.asyncProperty(concurrencies, anyTurnMs, fc.integer(), trouble, async (concurrency, turnMs, seed, more) => {
        const { waitMs, swept } = await play({
          concurrency,
          turnsMs: [turnMs],
          seed,
          changesMs: 1_500,
          ticks: 3,
          ...more,
        })
        expect(waitMs).toBeLessThanOrEqual(1_000 + ('coldMs' in more ? more.coldMs : 0))
        const portion = ((workersOf(concurrency).invocations - 1) * awakeMs) / (turnMs + 1_100)
        expect(swept.at(-1)).toBeGreaterThanOrEqual(Math.floor(portion))
      }),
      { numRuns: share(60), seed: 17 },
    )
  })

  it('of turns that were quick, and take 20 seconds from now on, keeps changes for two turns at most, and never again', async () => {
    const scene = { concurrency: 10, turnsMs: [50], laterTurnsMs: [20_000], ticks: 8, changesMs: 1_000 }
    const { waitMs, late } = await play(scene)
    expect(waitMs).toBeLessThanOrEqual(2 * 20_100)
    const again = await play({ ...scene, turnsMs: [20_000] })
    expect(again.waitMs).toBeLessThanOrEqual(100)
    expect(late).toBeLessThan(60)
  })

  it('of turns quick and slow by turns leaves an invocation free', async () => {
    for (const concurrency of [10, 100]) {
      const { waitMs } = await play({ concurrency, turnsMs: [20, 20, 20, 20, 20, 20, 20, 5_000], changesMs: 1_000 })
      expect(waitMs).toBeLessThanOrEqual(1_000)
    }
  })

  it('gets on though what it sent stands behind held messages', async () => {
    const { swept } = await play({ concurrency: 10, turnsMs: [1_000], held: 0.5 })
    expect(swept.at(-1)).toBeGreaterThanOrEqual(4)
  })

  it('behind counts that lag by three seconds keeps changes for a few of these where turns are quick', async () => {
    for (const turnMs of [50, 300]) {
      const { waitMs, swept } = await play({ concurrency: 10, turnsMs: [turnMs], lagMs: 3_000 })
      expect(waitMs, `turns of ${turnMs} ms`).toBeLessThanOrEqual(10_000)
      expect(swept.at(-1)).toBeGreaterThan(500)
    }
  })

  it('of several ticks is that of one: slow turns leave an invocation free, quick ones get through', async () => {
    const slow = await play({ concurrency: 10, turnsMs: [3_000], shares: 8 })
    expect(slow.waitMs).toBeLessThanOrEqual(100)
    expect(slow.swept.at(-1)).toBeGreaterThanOrEqual(8)
    const quick = await play({ concurrency: 10, turnsMs: [50], shares: 4 })
    expect(quick.waitMs).toBeLessThanOrEqual(1_000)
    expect(quick.swept.at(-1)).toBeGreaterThan(800)
  })

  it('asks and notes no more than it must', async () => {
    const quick = await play({ concurrency: 10, turnsMs: [100] })
    expect(quick.depths / ticks).toBeLessThan(450)
    // Until it is known: three for each of a hundred.
    expect(quick.notes).toBeLessThanOrEqual(300)
    const slow = await play({ concurrency: 10, turnsMs: [20_000] })
    expect(slow.depths).toBe(ticks)
    expect(slow.looks / ticks).toBeLessThan(150)
  })
})

describe('a crowd of timers', () => {
  it('goes ahead of a sweep, uses what runs at once, and a change waits for the end of a turn', async () => {
    const { waitMs, swept, timers } = await play({ concurrency: 10, turnsMs: [2_000], timers: true, seed: 3 })
    expect(timers).toBeGreaterThan(300)
    expect(waitMs).toBeLessThanOrEqual(2_500)
    expect(swept.every((count) => count >= 1)).toBe(true)
  })
})

describe('a queue of which something cannot be asked', () => {
  /** A line whose requests of one sort fail for so long, in this way. */
  async function openFailing(request: 'depth' | 'look' | 'note', untilMs: number, error: Error) {
    warnings = []
    const clock = createVirtualClock(0)
    const inHand = createInHand(clock)
    const isOpened = { yet: false }
    const failing = async (of: typeof request): Promise<void> => {
      if (of === request && isOpened.yet && clock.nowMs() < untilMs) throw error
    }
    const line = await openSendLine({
      clock,
      queue: 'system',
      limits: { ...workersOf(10), share: { index: 0, of: 1 } },
      // So that turns of the loop `quick` need no tickets.
      known: { stuck: 0, loops: { quick: { quick: 100, seenMs: 0 } } },
      depth: () => failing('depth').then(() => 0),
      inHand: {
        ...inHand,
        look: (queue) => failing('look').then(() => inHand.look(queue)),
        note: (queue, notes) => failing('note').then(() => inHand.note(queue, notes)),
      },
      newId: () => 'one',
      untilMs: awakeMs,
      logger,
    })
    isOpened.yet = true
    const take = async (loop: 'quick' | 'new') => {
      let isOver = false
      const taking = line.take(2, { rank: 'sweep', loop }).finally(() => (isOver = true))
      taking.catch(() => {})
      await passUntil(clock, () => isOver)
      return taking
    }
    return { clock, take }
  }
  const throttled = new OperatingError('THROTTLED', 'cannot look: too many requests')
  const cases = [
    ['depth', 'quick'],
    ['look', 'new'],
    ['note', 'new'],
  ] as const

  it.each(cases)('for a while (%s) is asked again, which is said once', async (request, loop) => {
    const { clock, take } = await openFailing(request, 5_000, throttled)
    if (request === 'depth') expect(await take(loop)).toMatchObject({ count: 2 })
    while (clock.nowMs() < 5_000) expect((await take(loop)).count).toBeGreaterThan(0)
    const reason = { queue: 'system', error: throttled.message }
    expect(warnings).toEqual([`sweeps and timers wait: their queue cannot be asked ${JSON.stringify(reason)}`])
  })

  it.each(cases)('as long as the tick lasts (%s) lets it send nothing, and is said once', async (request, loop) => {
    const { clock, take } = await openFailing(request, Infinity, throttled)
    while ((await take(loop)).count > 0);
    expect(clock.nowMs()).toBeGreaterThanOrEqual(awakeMs)
    expect(warnings).toHaveLength(1)
  })

  it.each(cases)('for good (%s) fails who asked, at once, and keeps nobody behind it', async (request, loop) => {
    const denied = new OperatingError('INTERNAL', 'cannot look: access denied')
    const { clock, take } = await openFailing(request, 3_000, denied)
    const refused = async (): Promise<void> => {
      while ((await take(loop)).count > 0);
    }
    await expect(refused()).rejects.toBe(denied)
    expect(clock.nowMs()).toBeLessThan(3_000)
    expect(warnings).toEqual([])
    await clock.advance(3_000)
    expect((await take(loop)).count).toBeGreaterThan(0)
  })
})
