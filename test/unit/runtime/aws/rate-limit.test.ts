import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createPrometheusTelemetry } from '../../../../shared/adapters/local/prometheus-telemetry.ts'
import { done, type Context } from '../../../../shared/index.ts'
import { OperatingError } from '../../../../shared/model/errors.ts'
import { moveEndUs, slotTimesMs } from '../../../../shared/model/reservations.ts'
import { dueAtMs, type EngineState } from '../../../../shared/model/engine-state.ts'
import type { StoredObject, Touched } from '../../../../shared/model/stored-object.ts'
import type { Reserve } from '../../../../shared/ports/reservations.ts'
import type { Delivery, Origin, WorkQueue } from '../../../../shared/ports/work-queue.ts'
import { createReconcileBatch, type ReconcileBatch } from '../../../../shared/runtime/aws/reconcile.ts'
import { createAwsServices, type AwsServices } from '../../../../shared/runtime/aws/services.ts'
import { installBasics } from '../../../../shared/engine/loops/install-basics.ts'
import { createSeededRandom } from '../../../../shared/testing/seeded-random.ts'
import { Widget, widgets, type RunRecord, type WidgetObject } from '../../../acceptance/support/widgets.ts'
import { openSqlite, type OpenSqlite } from '../../../support/sqlite.ts'
import { createVirtualClock } from '../../../support/virtual-clock.ts'
import { tablePorts } from './table-ports.ts'

/** What a batch does under the rate limit of its controller: ten at once here, and one a second. */
const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, with: () => logger }

let opened: OpenSqlite
let clock: ReturnType<typeof createVirtualClock>
let services: AwsServices
let batch: ReconcileBatch
let runs: RunRecord[]
let endUs: number
let asked: number[]
let held: string[]
/** What becomes of each write of the store. */
let onReplace: (stored: StoredObject, touched: Touched) => Promise<void>
let onReserve: () => void
/** How long a run of this name takes. */
let runMs: Readonly<Record<string, number>>

beforeEach(async () => {
  clock = createVirtualClock()
  opened = openSqlite(':memory:', clock)
  runs = []
  endUs = 0
  asked = []
  held = []
  onReplace = async () => {}
  onReserve = () => {}
  runMs = {}
  const reserve: Reserve = async (_, count, rate) => {
    asked.push(count)
    onReserve()
    endUs = moveEndUs(endUs, count, rate, clock.nowMs())
    return slotTimesMs(endUs, count, rate, clock.nowMs())
  }
  const replace: typeof opened.store.replace = async (stored, touched) => {
    await onReplace(stored, touched)
    return opened.store.replace(stored, touched)
  }
  services = createAwsServices({
    boundary: { clock, random: createSeededRandom(1), retire: () => {} },
    ports: { ...tablePorts(opened, clock), store: { ...opened.store, replace }, reserve },
    controllers: [widgets(runs, run, { rateLimit: { controller: { perSecond: 1, burst: 2 } } })],
    kindsMaxAgeMs: 0,
    logger,
    telemetry: createPrometheusTelemetry(),
  })
  await installBasics(services)
  batch = createReconcileBatch({
    ...services,
    queueOf: () => queue,
    capacityOf: () => ({ queue: 'system', concurrency: 10 }),
  })
})
afterEach(() => opened.close())

async function run({ metadata: { name } }: WidgetObject, ctx: Context) {
  await ctx.sleep(runMs[name] ?? 0)
  return done()
}

const queue: WorkQueue = {
  send: async () => {},
  receive: async () => [],
  wake: async () => {},
  settle: async () => {},
  hold: async (deliveries, ms) => void held.push(...deliveries.map(({ handle }) => `${handle} ${ms}`)),
}

const keyOf = (name: string) => ({ group: Widget.group, kind: Widget.kind, namespace: 'default', name })

async function create(name: string): Promise<void> {
  const kind = await services.catalog.byKind(Widget.group, Widget.kind)
  if (kind === undefined) throw new Error('no widgets')
  await services.resources.create(kind, { metadata: { name, namespace: 'default' }, spec: {} }, { manager: 'test' })
}

/** Gives `w` the size of seven. */
async function resize(): Promise<void> {
  const kind = await services.catalog.byKind(Widget.group, Widget.kind)
  if (kind === undefined) throw new Error('no widgets')
  const patch = { type: 'merge', body: { spec: { size: 7 } } } as const
  await services.resources.patch(kind, { name: 'w', namespace: 'default' }, patch, { manager: 'test' })
}

function message(name: string, receiveCount = 1, origin: Origin = 'change'): { loop: string; delivery: Delivery } {
  const wakeUp = { key: keyOf(name), origin, dedupId: name, lane: 'urgent', reason: '' } as const
  return { loop: 'widget', delivery: { wakeUp, handle: name, receiveCount } }
}

async function engineOf(name: string): Promise<EngineState> {
  return (await opened.store.get(keyOf(name)))?.engine ?? {}
}

/** Gives a batch, lets time pass, and tells whose messages were kept. */
async function take(ms: number, ...messages: readonly { loop: string; delivery: Delivery }[]): Promise<string[]> {
  const running = batch(messages, 60_000)
  let kept: readonly Delivery[] | undefined
  void running.then((some) => (kept = some))
  const untilMs = clock.nowMs() + ms
  for (let turns = 1; kept === undefined; turns++) await clock.advance(turns < 50 ? 0 : 100)
  await clock.advance(Math.max(0, untilMs - clock.nowMs()))
  return kept.map(({ handle }) => handle)
}

const names = Array.from({ length: 10 }, (_, i) => `w${i}`)
const timesMs = (startMs: number): readonly number[] => runs.map(({ atMs }) => atMs - startMs)

describe('a batch of ten keys, two at once and one a second', () => {
  it('makes their reservations by one request; the next second is waited for, the others are held until their time', async () => {
    for (const name of names) await create(name)
    const startMs = clock.nowMs()
    const kept = await take(1_500, ...names.map((name) => message(name)))
    expect(asked).toEqual([10])
    expect(timesMs(startMs)).toEqual([0, 0, 1_000])
    expect(kept).toHaveLength(7)
    expect(held.map((text) => Number(text.split(' ')[1]))).toEqual([2_000, 3_000, 4_000, 5_000, 6_000, 7_000, 8_000])
    expect(await engineOf(kept[0] ?? '')).toMatchObject({
      wait: { kind: 'RateLimited', atMs: startMs + 2_000 },
      memory: { reservedMs: startMs + 2_000 },
    })
  })

  it('comes back at its times, runs, and asks no more', async () => {
    for (const name of names) await create(name)
    const startMs = clock.nowMs()
    const kept = await take(0, ...names.map((name) => message(name)))
    for (const name of kept) {
      await clock.advance(((await engineOf(name)).memory?.reservedMs ?? 0) - clock.nowMs())
      expect(await take(0, message(name, 2))).toEqual([])
      expect(await engineOf(name)).toEqual({})
    }
    expect(asked).toEqual([10])
    expect(timesMs(startMs).slice(3)).toEqual([2_000, 3_000, 4_000, 5_000, 6_000, 7_000, 8_000])
  })
})

describe('a reservation', () => {
  /** An object whose turn is in four seconds. */
  async function waiting(): Promise<void> {
    await create('w')
    endUs = (clock.nowMs() + 5_000) * 1_000
    expect(await take(0, message('w'))).toEqual(['w'])
    expect(held).toEqual(['w 4000'])
    asked = []
  }

  it('is for one run: one that cannot be ended asks again', async () => {
    await waiting()
    await clock.advance(4_000)
    onReplace = async (_, touched) => {
      if (touched.includes('status')) throw new OperatingError('THROTTLED', 'away')
    }
    expect(await take(0, message('w', 2))).toEqual(['w'])
    onReplace = async () => {}
    expect(runs).toHaveLength(1)
    await take(0, message('w', 3))
    expect(asked).toEqual([1])
    expect(runs).toHaveLength(2)
  })

  it('keeps no other key of its batch waiting, however long its run takes', async () => {
    await waiting()
    await create('other')
    await clock.advance(4_000)
    runMs = { w: 20_000 }
    const startMs = clock.nowMs()
    await take(0, message('w', 2), message('other'))
    expect(runs.map(({ name, atMs }) => `${name} ${atMs - startMs}`)).toEqual(['w 0', 'other 1000'])
  })

  it('is good for ten seconds: what comes later asks again, and so does what was kept waiting by the store', async () => {
    await waiting()
    await clock.advance(15_000)
    let isSlow = true
    onReplace = async () => {
      if (isSlow) await clock.sleep(11_000)
      isSlow = false
    }
    await take(0, message('w', 2))
    expect(asked.length).toBeGreaterThanOrEqual(2)
    expect(runs).toHaveLength(1)
  })

  it('stays when the object is changed meanwhile, and the run at its time sees the change', async () => {
    await waiting()
    await resize()
    expect(await take(0, message('w'))).toEqual(['w'])
    expect(runs).toHaveLength(0)
    await clock.advance(4_000)
    await take(0, message('w'))
    expect(runs).toMatchObject([{ size: 7 }])
    expect(asked).toEqual([])
  })

  it('that another run has used is not given back by a turn that saw it before', async () => {
    await waiting()
    await resize()
    let writes = 0
    onReplace = async () => {
      if (writes++ > 0) return
      const stored = await opened.store.get(keyOf('w'))
      if (stored === undefined) throw new Error('no widget')
      await opened.store.replace({ ...stored, engine: { ...stored.engine, memory: { unended: 1 } } }, ['engine'])
    }
    await take(0, message('w'))
    expect(writes).toBeGreaterThan(1)
    expect((await engineOf('w')).wait).toMatchObject({ kind: 'RateLimited' })
    expect((await engineOf('w')).memory?.reservedMs).toBeUndefined()
  })

  it('that is waited for is for the object as it is then', async () => {
    await create('w')
    endUs = (clock.nowMs() + 1_500) * 1_000
    const running = take(0, message('w'))
    await clock.advance(100)
    await resize()
    expect(await running).toEqual([])
    expect(runs).toMatchObject([{ size: 7 }])
    expect(asked).toEqual([1])
  })

  it('holds a message that comes by its timer ahead of time, without a write', async () => {
    await waiting()
    held = []
    onReplace = async () => expect.unreachable('nothing is written')
    expect(await take(0, message('w', 1, 'timer'))).toEqual(['w'])
    expect(held).toHaveLength(1)
  })

  it('in more than a minute is left to the sweep: nothing is held, and no earlier wish stays behind', async () => {
    await create('w')
    endUs = (clock.nowMs() + 90_000) * 1_000
    const before = await opened.store.get(keyOf('w'))
    if (before === undefined) throw new Error('no widget')
    await opened.store.replace({ ...before, engine: { ...before.engine, wakeAtMs: clock.nowMs() } }, ['engine'])
    expect(await take(0, message('w'))).toEqual([])
    expect(held).toEqual([])
    const engine = await engineOf('w')
    expect(dueAtMs(engine)).toBe(engine.memory?.reservedMs)
    expect((engine.memory?.reservedMs ?? 0) - clock.nowMs()).toBeGreaterThan(60_000)
  })

  it('that can no more be waited for by its message, which was held so often, gets another', async () => {
    await create('w')
    endUs = (clock.nowMs() + 20_000) * 1_000
    const written: Touched[] = []
    onReplace = async (_, touched) => void written.push(touched)
    expect(await take(0, message('w', 7))).toEqual([])
    expect(held).toEqual([])
    expect(written).toEqual([['engine', 'timer']])
  })

  it('that nobody can make, because too many ask, is asked for later', async () => {
    await create('w')
    onReserve = () => {
      throw new OperatingError('THROTTLED', 'a thousand others ask')
    }
    expect(await take(0, message('w'))).toEqual(['w'])
    expect(runs).toEqual([])
    expect(await engineOf('w')).toMatchObject({ wait: { kind: 'RateLimited' } })
    onReserve = () => {}
    await clock.advance(2_000)
    expect(await take(0, message('w', 2))).toEqual([])
    expect(runs).toHaveLength(1)
  })
})

describe('a resync that is paced', () => {
  const later = (ms: number): { loop: string; delivery: Delivery } => {
    const { loop, delivery } = message('w', 1, 'resync')
    return { loop, delivery: { ...delivery, wakeUp: { ...delivery.wakeUp, notBeforeMs: clock.nowMs() + ms } } }
  }

  it('is held until its time, asks only then, and can be woken by a change meanwhile', async () => {
    await create('w')
    await take(0, message('w'))
    asked = []
    const one = later(20_000)
    expect(await take(0, one)).toEqual(['w'])
    expect(held).toEqual(['w 20000'])
    expect((await engineOf('w')).hold).toEqual({ handle: 'w', untilMs: clock.nowMs() + 20_000, receives: 1 })
    expect(asked).toEqual([])
    await clock.advance(20_000)
    expect(await take(0, one)).toEqual([])
    expect(asked).toEqual([1])
    expect(runs).toHaveLength(2)
    expect(await engineOf('w')).toEqual({})
  })

  it('does not stand before a change that is not observed yet, and whose own message comes behind', async () => {
    await create('w')
    expect(await take(0, later(20_000))).toEqual([])
    expect(runs).toHaveLength(1)
  })
})

it('nothing is reserved for what does not run: an object that is gone, paused, or not due', async () => {
  for (const name of ['paused', 'later', 'gone']) await create(name)
  const change = async (name: string, next: (stored: StoredObject) => StoredObject): Promise<void> => {
    const stored = await opened.store.get(keyOf(name))
    if (stored !== undefined) await opened.store.replace(next(stored), ['engine'])
  }
  await change('paused', ({ object, engine }) => {
    const annotations = { 'setpoint.dev/paused': 'true' }
    return { object: { ...object, metadata: { ...object.metadata, annotations } }, engine }
  })
  await change('later', ({ object }) => ({ object, engine: { wakeAtMs: clock.nowMs() + 30_000 } }))
  await opened.store.remove((await opened.store.get(keyOf('gone'))) as StoredObject)
  await take(0, message('paused'), message('later', 1, 'timer'), message('gone'))
  expect(asked).toEqual([])
  expect(runs).toEqual([])
})
