import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createEmfTelemetry } from '../../../../shared/adapters/aws/emf-telemetry.ts'
import { createPrometheusTelemetry } from '../../../../shared/adapters/local/prometheus-telemetry.ts'
import { ConfigMap, defineKind, defineReconciler, done, reference, type Controller } from '../../../../shared/index.ts'
import { OperatingError } from '../../../../shared/model/errors.ts'
import type { Checkpoint } from '../../../../shared/ports/checkpoint.ts'
import type { InHand } from '../../../../shared/ports/in-hand.ts'
import type { DueTimer, ObjectIndex } from '../../../../shared/ports/object-index.ts'
import type { Telemetry } from '../../../../shared/ports/telemetry.ts'
import type { WakeUp, WorkQueue } from '../../../../shared/ports/work-queue.ts'
import { workersOf } from '../../../../shared/runtime/aws/send-window.ts'
import { createTick, type Tick, type TickShare } from '../../../../shared/runtime/aws/resync.ts'
import { createAwsServices } from '../../../../shared/runtime/aws/services.ts'
import { createSeededRandom } from '../../../../shared/testing/seeded-random.ts'
import { widgets } from '../../../acceptance/support/widgets.ts'
import { createInHand } from '../../../support/in-hand.ts'
import { createQueueModel, type QueueModel } from '../../../support/queue-model.ts'
import { openSqlite, type OpenSqlite } from '../../../support/sqlite.ts'
import { createVirtualClock } from '../../../support/virtual-clock.ts'

/** What a tick looks for and sends: as much in each, whatever was missed. */
let warnings: Record<string, unknown>[] = []
const logger = {
  debug: () => {},
  info: () => {},
  warn: (_: string, fields?: object) => void warnings.push({ ...fields }),
  error: () => {},
  with: () => logger,
}
const minuteMs = 60_000
const startMs = Date.parse('2026-01-01T00:00:00Z')

let opened: OpenSqlite
let clock: ReturnType<typeof createVirtualClock>
let sent: { readonly loop: string; readonly wakeUp: WakeUp; readonly atMs: number }[]
let looks: { readonly kind: string; readonly from: number; readonly to: number }[]
/** How many messages wait in the queue that all share, where it is none that is played. */
let depth: number
let queue: QueueModel | undefined
let inHand: InHand
let saved: string | undefined
/** Each text that was saved, and how many looks there had been by then. */
let saves: { readonly text: string; readonly looks: number }[]
let savedByShare: Map<string, string>
let failing: string | undefined
const planOfQueues = 'the plan of queues'
const references = 'the references of objects'
const wheel = 'the wheel'
const nets = 'the safety net'
/** How many of the objects of a queue run at once. */
let concurrency: number
/** Whose change was not seen, by when their net wants a run. */
let netted: DueTimer[]
let netLooks: number
/** So long a tick takes until it begins to sweep: a function that has just started, or a slow table. */
let preparingMs: number
let telemetry: Telemetry

beforeEach(() => {
  clock = createVirtualClock(startMs)
  opened = openSqlite(':memory:', clock)
  sent = []
  looks = []
  depth = 0
  queue = undefined
  inHand = createInHand(clock)
  warnings = []
  saved = undefined
  saves = []
  savedByShare = new Map()
  failing = undefined
  concurrency = 1_000
  netted = []
  netLooks = 0
  preparingMs = 0
  telemetry = createPrometheusTelemetry()
})
afterEach(() => opened.close())

/** A process that has not ticked yet. */
function process(
  controllers: readonly Controller[] = [widgets([], () => done(), { resync: '10h' })],
  share?: TickShare,
): Tick {
  const first: Checkpoint = {
    load: async () => saved,
    save: async (value) => {
      saved = value
      saves.push({ text: value, looks: looks.length })
    },
  }
  const checkpoint = (name: string): Checkpoint =>
    name === 'resync'
      ? first
      : { load: async () => savedByShare.get(name), save: async (value) => void savedByShare.set(name, value) }
  const services = createAwsServices({
    boundary: { clock, random: createSeededRandom(1), retire: () => {} },
    ports: {
      ...opened,
      index: watched(share === undefined ? opened.index : shareOf(opened.index, share)),
      reserve: async () => [],
      listNetted: async (kind, fromMs, toMs) => {
        if (kind.kind !== 'Widget') return []
        netLooks++
        if (failing === nets) throw new OperatingError('UNAVAILABLE', 'no nets')
        return netted.filter(({ dueAtMs }) => dueAtMs >= fromMs && dueAtMs < toMs)
      },
      inHand,
      checkpoint,
    },
    controllers,
    kindsMaxAgeMs: 0,
    logger,
    telemetry,
  })
  const tick = createTick({
    ...services,
    queueOf: ({ name }) => queueOf(name),
    depthOf: async () => queue?.depth() ?? depth,
    capacityOf: () => ({ queue: 'system', concurrency }),
    advanceQueues: async () => {
      if (preparingMs > 0) await clock.sleep(preparingMs)
      if (failing === planOfQueues) throw new OperatingError('UNAVAILABLE', 'no plan')
    },
    ...(share && { share, wholeIndex: watched(opened.index) }),
  })
  return () => whileTimePasses(tick())
}

/** As if ticks had seen for long that turns are quick. */
function knowQuick(): void {
  const places = JSON.parse(saved ?? '[]') as unknown[]
  const loops = { widget: { quick: 1_000, seenMs: clock.nowMs() } }
  saved = JSON.stringify([...places, [{ stuck: 0, loops }, ['line system']]])
}

/** As many as ten at once have it. */
function modelOf(turnMs: (of: 'sweep' | 'timer' | 'user') => number): QueueModel {
  const random = createSeededRandom(1)
  return createQueueModel({ clock, random, inHand, queue: 'system', loop: 'widget', ...workersOf(10), turnMs })
}

/** A tick may stay awake: then time passes, as much as it needs. */
async function whileTimePasses(ticking: Promise<void>): Promise<void> {
  let over = false
  const ended = ticking.finally(() => void (over = true))
  ended.catch(() => {})
  while (!over) {
    await clock.advance(0)
    const dueMs = clock.nextDueMs()
    if (!over && dueMs !== undefined) clock.moveTo(dueMs)
  }
  await ended
}

function watched(index: ObjectIndex): ObjectIndex {
  return {
    ...index,
    setReferences: async (...args) => {
      if (failing === references) throw new OperatingError('UNAVAILABLE', 'no references')
      await index.setReferences(...args)
    },
    onWheel: (kind, from, to) => {
      looks.push({ kind: kind.kind, from, to })
      if (failing === wheel) throw new OperatingError('UNAVAILABLE', 'no wheel')
      return index.onWheel(kind, from, to)
    },
    due: (kind, ...span) => {
      if (kind.kind === failing) throw new OperatingError('THROTTLED', 'too many looks')
      return index.due(kind, ...span)
    },
  }
}

/** As the index of DynamoDB is for one of several ticks: a part of the keys. */
function shareOf(index: ObjectIndex, { index: own, of }: TickShare): ObjectIndex {
  const isOwn = ({ name }: { readonly name: string }): boolean => Number(/\d+$/.exec(name)?.[0]) % of === own
  return {
    ...index,
    due: async (...args) => (await index.due(...args)).filter(({ key }) => isOwn(key)),
    onWheel: async (...args) => (await index.onWheel(...args)).filter(isOwn),
  }
}

function queueOf(loop: string): WorkQueue {
  const send = async (wakeUps: readonly WakeUp[]): Promise<void> => {
    sent.push(...wakeUps.map((wakeUp) => ({ loop, wakeUp, atMs: clock.nowMs() })))
    const tickets = wakeUps.flatMap(({ ticket }) => ticket ?? [])
    if (queue === undefined) await inHand.strike('system', tickets, [])
    else queue.send(wakeUps.length, wakeUps[0]?.origin === 'timer' ? 'timer' : 'sweep', tickets)
  }
  return { send, receive: async () => [], settle: async () => {}, hold: async () => {}, wake: async () => {} }
}

const createTimers = (count: number, dueAtMs = startMs + 90_000): Promise<void> =>
  createWidgets(count, { wakeAtMs: dueAtMs }, 'timer')

async function createWidgets(count: number, engine: { readonly wakeAtMs?: number } = {}, called = 'w'): Promise<void> {
  for (let i = 0; i < count; i++) {
    const name = `${called}${i}`
    const metadata = {
      name,
      namespace: 'default',
      uid: `uid-${called}${i}`,
      resourceVersion: '0',
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
    }
    const object = { apiVersion: 'test.setpoint.dev/v1', kind: 'Widget', metadata, spec: {} }
    await opened.store.create({ object, engine })
  }
}

/**
 * Slots of the wheel that were looked at for widgets by ticks since the last call, the garbage collector's left out.
 */
function slots(): number {
  const own = looks.splice(0).filter(({ kind, to, from }) => kind === 'Widget' && to - from < 100)
  return own.reduce((sum, { from, to }) => sum + to - from, 0)
}

const toWidgets = (): readonly WakeUp[] => sent.filter(({ loop }) => loop === 'widget').map(({ wakeUp }) => wakeUp)

/** When wake-ups of an origin were sent, in milliseconds from a time. */
function sentAt(origin: WakeUp['origin'], fromMs: number): readonly number[] {
  return sent.filter(({ wakeUp }) => wakeUp.origin === origin).map(({ atMs }) => atMs - fromMs)
}

describe('a controller with a rate limit', () => {
  const limited = (perSecond: number): Tick =>
    process([widgets([], () => done(), { resync: '10h', rateLimit: { controller: { perSecond } } })])

  it('whose next minute is full gets no resync: users would wait behind it; it is made up for later', async () => {
    await limited(1)()
    slots()
    await createTimers(60)
    await clock.advance(minuteMs)
    await limited(1)()
    expect(toWidgets().filter(({ origin }) => origin === 'timer')).toHaveLength(60)
    expect(slots()).toBe(0)
    await clock.advance(minuteMs)
    await limited(2)()
    expect(slots()).toBe(12)
  })

  it('gets its resyncs second by second, at what the timers of the minute leave of its rate', async () => {
    await limited(4)()
    await createWidgets(12_000)
    await createTimers(120)
    await clock.advance(minuteMs)
    const beganMs = clock.nowMs()
    await limited(4)()
    const behindMs = sentAt('resync', beganMs)
    // Twenty, of the hundred and twenty that the minute has room for.
    expect(behindMs.slice(0, 4).map((ms) => Math.floor(ms / 1_000))).toEqual([0, 1, 2, 3])
    expect(behindMs.length).toBeGreaterThan(10)
    expect(behindMs).toEqual(behindMs.toSorted((a, b) => a - b))
  })

  it('makes up for missed resyncs by as many as three quarters of a minute take, and no more', async () => {
    await limited(1)()
    await createWidgets(12_000)
    await clock.advance(10 * minuteMs)
    await limited(1)()
    // Twenty a minute are on the wheel.
    expect(toWidgets().length).toBeGreaterThanOrEqual(45)
    expect(toWidgets().length).toBeLessThan(60)
    await clock.advance(minuteMs)
    await limited(1)()
    const names = toWidgets().map(({ key }) => key.name)
    expect(new Set(names).size).toBe(names.length)
    expect(names.length).toBeGreaterThanOrEqual(90)
  })

  it('that is new gets its first looks so, too, as many as a minute takes', async () => {
    await process([])()
    knowQuick()
    await createWidgets(6_000)
    await limited(2)()
    expect(toWidgets().length).toBeGreaterThanOrEqual(120)
    expect(toWidgets().length).toBeLessThan(240)
    const [first = 0, ...later] = sent.map(({ atMs }) => atMs)
    expect(Math.max(...later) - first).toBeGreaterThan(10_000)
    expect(Math.max(...later) - first).toBeLessThan(50_000)
  })
})

describe('many', () => {
  beforeEach(() => void (concurrency = 10))

  /** The most that stood in the queue, by the pace at which they were sent and run. */
  function longestWaitMs(runMs: number): number {
    let freeMs = 0
    let longestMs = 0
    for (const { atMs } of sent.filter(({ loop }) => loop === 'widget')) {
      freeMs = Math.max(freeMs, atMs) + runMs / concurrency
      longestMs = Math.max(longestMs, freeMs - atMs)
    }
    return longestMs
  }

  it('resyncs of 100,000 objects an hour are spread, so that a change waits less than a second behind them', async () => {
    queue = modelOf(() => 100)
    await process([widgets([], () => done(), { resync: '60s' })])()
    // What a minute has of them.
    await createWidgets(1_667)
    for (let minute = 1; minute <= 2; minute++) {
      await clock.advance(startMs + minute * minuteMs - clock.nowMs())
      sent = []
      await process([widgets([], () => done(), { resync: '60s' })])()
    }
    const beganMs = startMs + 2 * minuteMs
    expect(toWidgets().length).toBeGreaterThanOrEqual(1_667)
    expect(longestWaitMs(100)).toBeLessThan(1_000)
    expect(clock.nowMs() - beganMs).toBeLessThan(50_000)
  })

  it('the ticks of several shares together send as one does, and leave nothing out', async () => {
    queue = modelOf(() => 50)
    const shares = Array.from({ length: 4 }, (_, index) => ({ index, of: 4 }))
    const controllers = [widgets([], () => done(), { resync: '60s' })]
    const ticks = shares.map((share) => process(controllers, share))
    for (const tick of ticks) await tick()
    await createWidgets(1_000)
    // They have to learn first how quick turns are, one after the other.
    for (let minute = 1; minute <= 12; minute++) {
      await clock.advance(startMs + minute * minuteMs - clock.nowMs())
      if (minute === 9) sent = []
      await Promise.all(ticks.map((tick) => tick()))
    }
    const beganMs = startMs + 12 * minuteMs
    expect(
      new Set(
        toWidgets()
          .filter(({ origin }) => origin === 'resync')
          .map(({ key }) => key.name),
      ).size,
    ).toBe(1_000)
    expect(longestWaitMs(100)).toBeLessThan(1_000)
    expect(clock.nowMs() - beganMs).toBeLessThan(50_000)
  })

  it('a share that is new goes on about where the first one is, and one that lags behind it goes on from its place', async () => {
    const resync = [widgets([], () => done(), { resync: '10h' })]
    await process(resync)()
    await clock.advance(10 * 60 * minuteMs)
    await process(resync)()
    slots()
    await clock.advance(minuteMs)
    await process(resync, { index: 1, of: 2 })()
    // Fifteen minutes back, caught up with five at a time.
    expect(slots()).toBeGreaterThanOrEqual(5 * 6)
    await clock.advance(minuteMs)
    await process(resync, { index: 1, of: 2 })()
    expect(slots()).toBeGreaterThanOrEqual(5 * 6)
    expect([...savedByShare.keys()].filter((name) => name.startsWith('resync'))).toEqual(['resync#1'])
  })

  it('timers of a minute are all swept, each when it is due', async () => {
    const tick = process()
    await tick()
    knowQuick()
    for (let second = 1; second <= 30; second++)
      await createWidgets(100, { wakeAtMs: clock.nowMs() + second * 1_000 }, `timer-${second}-`)
    const beganMs = clock.nowMs()
    await tick()
    expect(toWidgets()).toHaveLength(3_000)
    const lateMs = sent.map(({ wakeUp, atMs }) => atMs - (wakeUp.notBeforeMs ?? 0))
    expect(Math.max(...lateMs)).toBeLessThanOrEqual(2_500)
    // None is sent ahead, to be held at a price, but for the last handful.
    expect(lateMs.filter((ms) => ms < 0).length).toBeLessThanOrEqual(50)
    expect(longestWaitMs(100)).toBeLessThanOrEqual(1_000)
    expect(clock.nowMs() - beganMs).toBeLessThan(50_000)
  })

  it('timers of the same millisecond pass the pages, too', async () => {
    concurrency = 1_000
    const tick = process()
    await tick()
    await createTimers(1_500, clock.nowMs())
    for (let minute = 0; minute < 3; minute++) await tick()
    expect(new Set(toWidgets().map(({ key }) => key.name)).size).toBeGreaterThanOrEqual(1_000)
  })

  it('more than can be run wait for the next tick, still late', async () => {
    const tick = process()
    await tick()
    await createTimers(6_000, clock.nowMs() - 1)
    const beganMs = clock.nowMs()
    await tick()
    expect(toWidgets().length).toBeLessThanOrEqual(4_500)
    expect(clock.nowMs() - beganMs).toBeLessThan(50_000)
  })

  it('end in time where much was to be done before: what a tick that is cut off has done is not remembered', async () => {
    await process()()
    knowQuick()
    preparingMs = 12_000
    for (let second = 1; second <= 60; second++)
      await createWidgets(20, { wakeAtMs: clock.nowMs() + second * 1_000 }, `timer-${second}-`)
    const beganMs = clock.nowMs()
    await process()()
    expect(toWidgets().length).toBeGreaterThan(500)
    // Its function has 55 s.
    expect(clock.nowMs() - beganMs).toBeLessThan(50_000)
  })

  it('a slot with more than a tick takes is turned in steps', async () => {
    const hourly = (): Tick => process([widgets([], () => done(), { resync: '60s' })])
    await hourly()()
    await createWidgets(6_000)
    await clock.advance(minuteMs)
    await hourly()()
    const first = toWidgets().length
    expect(first).toBeGreaterThan(3_000)
    expect(first).toBeLessThanOrEqual(4_500)
    await hourly()()
    expect(toWidgets().length).toBeGreaterThan(first)
  })
})

describe('slow turns', () => {
  const resyncOf = (period: '2m' | '10m'): readonly Controller[] => [widgets([], () => done(), { resync: period })]
  const sentNames = (): readonly string[] => toWidgets().map(({ key }) => key.name)
  beforeEach(() => void (concurrency = 10))

  /** Ticks of so many minutes, while somebody changes something every nine seconds. */
  async function tickFor(minutes: number, turnMs: number, controllers: readonly Controller[]): Promise<void> {
    const played = modelOf((of) => (of === 'user' ? 50 : turnMs))
    queue = played
    let isOver = false
    const change = async (): Promise<void> => {
      while (!isOver) {
        await clock.sleep(Math.max(9_000, 1.5 * turnMs))
        if (!isOver) played.send(1, 'user')
      }
    }
    void change()
    const beganMs = clock.nowMs()
    for (let minute = 1; minute <= minutes; minute++) {
      await clock.advance(Math.max(0, beganMs + minute * minuteMs - clock.nowMs()))
      await process(controllers)()
    }
    isOver = true
  }

  it.each([
    { turnMs: 1_000, turns: 100 },
    { turnMs: 20_000, turns: 5 },
  ])('of $turnMs ms: a change waits less than a second behind resyncs, also of the first tick', async (row) => {
    await process(resyncOf('10m'))()
    await createWidgets(5_000)
    await tickFor(5, row.turnMs, resyncOf('10m'))
    expect(queue?.done('sweep')).toBeGreaterThanOrEqual(row.turns)
    expect(Math.max(...(queue?.userWaitsMs() ?? []))).toBeLessThan(1_000)
  })

  it('get through by and by: what a tick has no room for the next one goes on with, and nothing is left out or repeated', async () => {
    await process(resyncOf('10m'))()
    await createWidgets(200)
    // A slot has more than a tick sends: the place is within it.
    await tickFor(9, 2_000, resyncOf('10m'))
    const names = sentNames()
    expect(names.length).toBeGreaterThan(80)
    expect(new Set(names).size).toBe(names.length)
    expect(warnings).toEqual([])
  })

  it('that never get round in their period come to all objects all the same, and somebody is told', async () => {
    await process(resyncOf('2m'))()
    await createWidgets(60)
    await tickFor(14, 5_000, resyncOf('2m'))
    expect(new Set(sentNames()).size).toBe(60)
    expect(warnings.at(-1)).toMatchObject({ controller: 'widget', kind: 'Widget', resyncSeconds: 120 })
  })

  it('of timers do not keep a sweep from getting something done', async () => {
    await process(resyncOf('10m'))()
    await createWidgets(600)
    await createTimers(600, clock.nowMs() + minuteMs)
    await tickFor(5, 5_000, resyncOf('10m'))
    expect(toWidgets().filter(({ origin }) => origin === 'timer').length).toBeGreaterThan(100)
    expect(toWidgets().filter(({ origin }) => origin === 'resync').length).toBeGreaterThanOrEqual(4)
    // Ten seconds: two turns of timers.
    expect(Math.max(...(queue?.userWaitsMs() ?? []))).toBeLessThanOrEqual(10_000)
  })
})

describe('timers', () => {
  it('are found a minute ahead, and say when they are due', async () => {
    const tick = process()
    await createWidgets(1, { wakeAtMs: startMs + 50_000 })
    await tick()
    expect(toWidgets()).toMatchObject([{ origin: 'timer', notBeforeMs: startMs + 50_000 }])
  })

  it('that are later are not', async () => {
    const tick = process()
    await createWidgets(1, { wakeAtMs: startMs + 61_000 })
    await tick()
    expect(toWidgets()).toEqual([])
  })

  it('found by two ticks are the same message', async () => {
    await createWidgets(1, { wakeAtMs: startMs + 50_000 })
    await Promise.all([process()(), process()()])
    expect(new Set(toWidgets().map(({ dedupId }) => dedupId)).size).toBe(1)
  })
})

describe('a change that got lost on its way', () => {
  const lost = (name: string, dueAtMs: number): DueTimer => ({
    key: { group: 'test.setpoint.dev', kind: 'Widget', namespace: 'default', name },
    dueAtMs,
  })
  const wokenBy = async (minutes: number): Promise<readonly string[]> => {
    for (let minute = 0; minute < minutes; minute++) {
      await clock.advance(minuteMs)
      await process()()
    }
    return toWidgets().map(({ key }) => key.name)
  }

  it('is found within five minutes of the time of its net, and again twice in case that the message is lost, too', async () => {
    await process()()
    netted = [lost('w', clock.nowMs() + 1)]
    expect(await wokenBy(5)).toEqual(['w'])
    expect(await wokenBy(60)).toEqual(['w', 'w', 'w'])
    expect(new Set(toWidgets().map(({ dedupId }) => dedupId)).size).toBe(1)
  })

  it('is found after hours without ticks, an hour of them in a tick', async () => {
    await process()()
    const lastMs = clock.nowMs()
    await clock.advance(180 * minuteMs)
    netted = [lost('old', lastMs + 5 * minuteMs), lost('new', clock.nowMs() - 1)]
    expect(await wokenBy(1)).toEqual(['old'])
    expect(new Set(await wokenBy(3))).toEqual(new Set(['old', 'new']))
  })

  it('is looked for an hour back on a table that nobody has looked at', async () => {
    netted = [lost('old', clock.nowMs() - 61 * minuteMs), lost('new', clock.nowMs() - 59 * minuteMs)]
    await process()()
    expect(toWidgets().map(({ key }) => key.name)).toEqual(['new'])
  })

  it.each([
    ['on a table that nobody has looked at', undefined],
    ['behind an earlier version, which knew no nets', { 'widget Widget.test.setpoint.dev': { turnedMs: startMs } }],
    [
      'behind an earlier version, which had not come to it',
      { 'widget Widget.test.setpoint.dev': { turnedMs: startMs, nettedMs: 0 } },
    ],
  ])('is found though no tick came to its end for hours %s', async (_where, before) => {
    saved = before && JSON.stringify(before)
    netted = [lost('w', clock.nowMs() + minuteMs)]
    for (let minute = 0; minute < 180; minute++) {
      const stood = saved
      saves = []
      await process()()
      // The tick is cut off at its end: what it saved ahead of all else is left, if that was anything.
      saved = saves.length > 1 ? saves[0]?.text : stood
      await clock.advance(minuteMs)
    }
    sent = []
    expect(await wokenBy(3)).toContain('w')
  })

  it('waits for the next tick where there are more than can be run', async () => {
    concurrency = 1
    await process()()
    await clock.advance(5 * minuteMs)
    netted = Array.from({ length: 600 }, (_, i) => lost(`w${i}`, clock.nowMs() - 600 + i))
    await process()()
    expect(toWidgets().length).toBeLessThanOrEqual(450)
    const run = new Set(toWidgets().map(({ key }) => key.name))
    netted = netted.filter(({ key }) => !run.has(key.name))
    expect(new Set(await wokenBy(5)).size).toBe(600)
  })

  it.each([
    // A change is found at three looks; the last one tells of more than the quarter of an hour of the alarm.
    { where: '', waiting: 0, told: [540, 840, 1_140] },
    { where: ', behind a long queue, too', waiting: 1_000_000, told: [1_200] },
  ])('is told by its age, which no run tells while none runs$where', async ({ waiting, told: expected }) => {
    const lines: string[] = []
    const emf = createEmfTelemetry({ clock, write: (line) => void lines.push(line) })
    telemetry = emf
    const tick = process()
    const age = async (): Promise<unknown> => {
      await tick()
      emf.flush()
      const told = lines.splice(0).map((line) => JSON.parse(line) as Record<string, unknown>)
      return told.find((one) => one['controller'] === 'widget')?.['setpoint_oldest_unconverged_seconds']
    }
    expect(await age()).toBeUndefined()
    depth = waiting
    netted = [lost('w', clock.nowMs() + 60_000), lost('later', clock.nowMs() + 120_000)]
    const ages: unknown[] = []
    for (let minute = 1; minute <= 20; minute++) {
      clock.moveTo(startMs + minute * minuteMs)
      ages.push(await age())
    }
    expect(ages.filter((one) => one !== undefined)).toEqual(expected)
    expect(toWidgets()).toHaveLength(waiting === 0 ? 6 : 0)
  })

  it('is told by whichever share has it, of several that tick in one process', async () => {
    const lines: string[] = []
    const emf = createEmfTelemetry({ clock, write: (line) => void lines.push(line) })
    telemetry = emf
    const [first, second] = [0, 1].map((index) => process(undefined, { index, of: 2 }))
    await first?.()
    await second?.()
    emf.flush()
    lines.length = 0
    netted = [lost('w', clock.nowMs() + 60_000)]
    await clock.advance(5 * minuteMs)
    await second?.()
    emf.flush()
    const told = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(told.map((one) => one['setpoint_oldest_unconverged_seconds'] ?? [])).toContain(540)
  })

  it('is found though a clock was wrong', async () => {
    await process()()
    await clock.advance(5 * minuteMs)
    const rightMs = clock.nowMs()
    saved = saved?.replaceAll(/"nettedMs":\d+/g, `"nettedMs":${rightMs + 1_000 * minuteMs}`)
    netted = [lost('w', rightMs - 1)]
    await process()()
    expect(toWidgets().map(({ key }) => key.name)).toEqual(['w'])
  })
})

describe('a timer that is late', () => {
  it('has a message besides the one that was sent ahead of its time, which may have been used up', async () => {
    const tick = process()
    await createWidgets(1, { wakeAtMs: startMs + 50_000 })
    await tick()
    for (let minute = 1; minute <= 2; minute++) {
      await clock.advance(minuteMs)
      await tick()
    }
    const [ahead, late, again] = toWidgets().map(({ dedupId }) => dedupId)
    expect(late).not.toBe(ahead)
    expect(again).toBe(late)
  })
})

describe('the wheel', () => {
  it('turns by the minute, and once round in the period', async () => {
    const tick = process()
    await createWidgets(50)
    await tick()
    slots()
    for (let minute = 1; minute <= 600; minute++) {
      clock.moveTo(startMs + minute * minuteMs)
      await tick()
      // And once an hour, those of the garbage collector.
      expect(slots()).toBe(minute % 60 === 0 ? 6 + 150 : 6)
    }
    expect(toWidgets()).toHaveLength(50)
    expect(new Set(toWidgets().map(({ key }) => key.name)).size).toBe(50)
  })

  it('makes up for missed ticks in slices, and for no more than one round', async () => {
    await process()()
    clock.moveTo(startMs + 3 * 24 * 3_600_000)
    const tick = process()
    let turns = 0
    for (let beforeMs = handMs(), i = 0; i < 400; i++, beforeMs = handMs()) {
      await tick()
      const turnedMs = handMs() - Math.max(beforeMs, clock.nowMs() - 10 * 3_600_000)
      expect(turnedMs).toBeLessThanOrEqual(5 * minuteMs)
      turns += turnedMs
      clock.moveTo(clock.nowMs() + minuteMs)
    }
    expect(clock.nowMs() - handMs()).toBeLessThanOrEqual(minuteMs)
    expect(turns).toBeLessThanOrEqual((600 + 400) * minuteMs)
  })

  /** How far the wheel of widgets has been turned. */
  function handMs(): number {
    const places = JSON.parse(saved ?? '[]') as readonly (readonly [{ readonly turnedMs: number }, readonly string[]])[]
    return places.find(([, names]) => names.includes('widget Widget.test.setpoint.dev'))?.[0].turnedMs ?? 0
  }

  it('goes on from what an earlier version has saved', async () => {
    const beforeMs = clock.nowMs() - minuteMs
    saved = JSON.stringify({ 'widget Widget.test.setpoint.dev': { turnedMs: beforeMs } })
    await process()()
    expect(handMs()).toBeGreaterThan(beforeMs)
    expect(clock.nowMs() - handMs()).toBeLessThanOrEqual(minuteMs)
  })

  it('waits while the queue is long, and goes on from where it was', async () => {
    const tick = process()
    await tick()
    slots()
    depth = 100_000
    clock.moveTo(startMs + minuteMs)
    await tick()
    expect(slots()).toBe(0)
    depth = 99_999
    clock.moveTo(startMs + 2 * minuteMs)
    await tick()
    expect(slots()).toBe(12)
  })
})

describe('a loop that is new', () => {
  const introduced = (): readonly WakeUp[] => toWidgets().filter(({ origin }) => origin === 'change')

  it('looks at every object that was there before it, five thousand or so in a tick', async () => {
    await process([])()
    await createWidgets(6_000)
    const tick = process()
    await tick()
    expect(toWidgets().length).toBeGreaterThanOrEqual(5_000)
    expect(toWidgets().length).toBeLessThan(5_500)
    await tick()
    await tick()
    expect(new Set(toWidgets().map(({ key }) => key.name)).size).toBe(6_000)
    expect(introduced()).toHaveLength(6_000)
  })

  it('looks at all of them though each of several ticks has a share', async () => {
    const shares = [0, 1].map((index) => ({ index, of: 2 }))
    for (const share of shares) await process([], share)()
    await createWidgets(30)
    const target = { group: '', kind: 'ConfigMap', namespace: 'default', name: 'parts' }
    const watches = [reference(ConfigMap, () => ({ name: target.name }))]
    const ticks = shares.map((share) => process([widgets([], () => done(), { watches })], share))
    for (let minute = 0; minute < 4; minute++) for (const tick of ticks) await tick()
    expect((await opened.index.referrers(target)).length).toBe(30)
    expect(introduced()).toHaveLength(30)
  })

  it('or watches something new notes what objects refer to first, some in a tick, from its second one on', async () => {
    await process()()
    await createWidgets(6_000)
    const target = { group: '', kind: 'ConfigMap', namespace: 'default', name: 'parts' }
    const noted = async (): Promise<number> => (await opened.index.referrers(target)).length
    const watches = [reference(ConfigMap, () => ({ name: target.name }))]
    const tick = process([widgets([], () => done(), { watches })])
    await tick()
    expect(await noted()).toBe(0)
    await tick()
    expect(await noted()).toBeGreaterThanOrEqual(5_000)
    expect(await noted()).toBeLessThan(5_500)
    await tick()
    expect(await noted()).toBe(6_000)
    expect(toWidgets()).toEqual([])
    await tick()
    await tick()
    expect(introduced()).toHaveLength(6_000)
    await tick()
    expect(introduced()).toHaveLength(6_000)
  })

  it('was away if one tick has begun without it, though none came to its end until it was back', async () => {
    await process()()
    await createWidgets(3)
    const saysWidgets = (): readonly boolean[] => saves.splice(0).map(({ text }) => text.includes('"widget '))
    expect(saysWidgets()).toEqual([true, true])
    const { length } = looks
    await process([])()
    const [first] = saves
    expect(first?.looks).toBe(length)
    expect(saysWidgets()).toEqual([false, false])
    // The tick was cut off behind its first save.
    saved = first?.text
    await process()()
    expect(introduced()).toHaveLength(3)
  })

  it('that is there in every tick is saved once in each, and in its first one ahead of all else, too', async () => {
    const counts: number[] = []
    for (let i = 0; i < 3; i++) {
      await process()()
      counts.push(saves.splice(0).length)
      clock.moveTo(clock.nowMs() + minuteMs)
    }
    expect(counts).toEqual([2, 1, 1])
  })

  it('on a table that nothing has swept looks at nothing: the stream tells of everything', async () => {
    await createWidgets(30)
    await process()()
    expect(toWidgets()).toEqual([])
  })
})

describe('a child without owners', () => {
  it('is looked at once a day, should nobody have been told that they went', async () => {
    const tick = process()
    await createWidgets(40)
    for (let hour = 0; hour <= 24; hour++) {
      clock.moveTo(startMs + hour * 60 * minuteMs)
      await tick()
    }
    const garbage = sent.filter(({ loop, wakeUp }) => loop === 'garbage-collector' && wakeUp.key.kind === 'Widget')
    expect(garbage).toHaveLength(40)
  })
})

it('a sweep that fails holds up no other, has its tick fail, and is made up for', async () => {
  const tick = process()
  await tick()
  failing = 'Widget'
  clock.moveTo(startMs + minuteMs)
  await expect(tick()).rejects.toThrow('too many looks')
  failing = undefined
  slots()
  clock.moveTo(startMs + 2 * minuteMs)
  await tick()
  expect(slots()).toBe(12)
})

describe('a part of a sweep that fails has its tick fail, and', () => {
  const failingTicks = async (tick: Tick, minutes: number): Promise<void> => {
    for (let minute = 0; minute < minutes; minute++) {
      clock.moveTo(clock.nowMs() + minuteMs)
      await expect(tick()).rejects.toThrow(/^no (references|nets|wheel)$/)
    }
  }

  it.each([references, nets])('keeps nobody from the resync: %s', async (part) => {
    await process()()
    await createWidgets(50)
    const watches = [reference(ConfigMap, () => ({ name: 'parts' }))]
    const tick = process([widgets([], () => done(), { watches, resync: '1h' })])
    await tick()
    failing = part
    // The safety net is looked at every five minutes, and again with the next tick where that failed.
    clock.moveTo(clock.nowMs() + 4 * minuteMs)
    await failingTicks(tick, 60)
    const resynced = toWidgets().filter(({ origin }) => origin === 'resync')
    expect(new Set(resynced.map(({ key }) => key.name)).size).toBe(50)
    expect(resynced.length).toBeLessThan(60)
  })

  it('has no other part done again: the wheel', async () => {
    const tick = process()
    await tick()
    failing = wheel
    const before = netLooks
    await failingTicks(tick, 10)
    expect(netLooks - before).toBe(2)
  })

  it('is gone on with from where it was: the wheel', async () => {
    const tick = process()
    await tick()
    failing = wheel
    await failingTicks(tick, 2)
    failing = undefined
    slots()
    clock.moveTo(clock.nowMs() + minuteMs)
    await tick()
    expect(slots()).toBe(18)
  })
})

it('a plan of queues that cannot be looked at holds up no sweep, and has its tick fail', async () => {
  await createTimers(1)
  const tick = process()
  failing = planOfQueues
  clock.moveTo(startMs + 2 * minuteMs)
  await expect(tick()).rejects.toThrow('no plan')
  expect(toWidgets().map(({ origin }) => origin)).toEqual(['timer'])
})

it('a definition that is refused stops neither the other kinds nor any sweep, and each tick fails until it is mended', async () => {
  const gadget = (scope: 'Namespaced' | 'Cluster'): Controller => {
    const group = 'test.setpoint.dev'
    const kind = defineKind({ group, version: 'v1', kind: 'Gadget', scope, spec: z.object({}) })
    return defineReconciler(kind, { reconcile: async () => done() })
  }
  await process([gadget('Namespaced')])()
  await createWidgets(1, { wakeAtMs: startMs + 50_000 })
  const tick = process([gadget('Cluster'), widgets([], () => done())])
  for (let ticks = 0; ticks < 2; ticks++) await expect(tick()).rejects.toThrow('spec.scope')
  expect(toWidgets().filter(({ origin }) => origin === 'timer')).toHaveLength(2)
  const at = { group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition', namespace: '' }
  expect(await opened.store.get({ ...at, name: 'widgets.test.setpoint.dev' })).toBeDefined()
  const role = { group: 'rbac.authorization.k8s.io', kind: 'ClusterRole', namespace: '', name: 'system:basic-user' }
  expect(await opened.store.get(role)).toBeDefined()
})

it('the kinds of the reconcilers are there after the first tick', async () => {
  await process()()
  const at = { group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition', namespace: '' }
  expect(await opened.store.get({ ...at, name: 'widgets.test.setpoint.dev' })).toBeDefined()
})
