import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createPrometheusTelemetry } from '../../../../shared/adapters/local/prometheus-telemetry.ts'
import { done, stop, type Controller } from '../../../../shared/index.ts'
import { OperatingError } from '../../../../shared/model/errors.ts'
import type { ServedKind } from '../../../../shared/model/served-kind.ts'
import { dueAtMs } from '../../../../shared/model/engine-state.ts'
import type { Delivery, WorkQueue } from '../../../../shared/ports/work-queue.ts'
import { createReconcileBatch, type ReconcileBatch } from '../../../../shared/runtime/aws/reconcile.ts'
import { createAwsServices, type AwsServices } from '../../../../shared/runtime/aws/services.ts'
import { installBasics } from '../../../../shared/engine/loops/install-basics.ts'
import { createSeededRandom } from '../../../../shared/testing/seeded-random.ts'
import { Widget, widgets, type RunRecord } from '../../../acceptance/support/widgets.ts'
import { openSqlite, type OpenSqlite } from '../../../support/sqlite.ts'
import { createVirtualClock } from '../../../support/virtual-clock.ts'
import { tablePorts } from './table-ports.ts'

/** What is left of a batch when its invocation ends, and what is said to the queue meanwhile. */
const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, with: () => logger }

let opened: OpenSqlite
let clock: ReturnType<typeof createVirtualClock>
let services: AwsServices
let calls: string[]
let retired: number
let isAway: boolean
let onHold: () => Promise<void>

beforeEach(() => {
  clock = createVirtualClock()
  opened = openSqlite(':memory:', clock)
  calls = []
  retired = 0
  isAway = false
  onHold = async () => {}
})
afterEach(() => opened.close())

async function open(...controllers: readonly Controller[]): Promise<ReconcileBatch> {
  const get: typeof opened.store.get = (key) =>
    isAway ? Promise.reject(new OperatingError('UNAVAILABLE', 'away')) : opened.store.get(key)
  services = createAwsServices({
    boundary: { clock, random: createSeededRandom(1), retire: () => retired++ },
    ports: { ...tablePorts(opened, clock), store: { ...opened.store, get } },
    controllers,
    kindsMaxAgeMs: 0,
    logger,
    telemetry: createPrometheusTelemetry(),
  })
  await installBasics(services)
  return createReconcileBatch({
    ...services,
    queueOf: () => queue,
    capacityOf: () => ({ queue: 'system', concurrency: 10 }),
  })
}

const note = (call: string) => async (deliveries: readonly Delivery[], ms?: number) =>
  void calls.push([call, ...deliveries.map(({ handle }) => handle), ...(ms === undefined ? [] : [ms])].join(' '))
const queue: WorkQueue = {
  send: async () => {},
  receive: async () => [],
  wake: async () => {},
  settle: note('delete'),
  hold: async (deliveries, ms) => {
    await onHold()
    await note('hold')(deliveries, ms)
  },
}

async function kindOf(group: string, name: string): Promise<ServedKind> {
  const kind = await services.catalog.byKind(group, name)
  if (kind === undefined) throw new Error(`no ${name}`)
  return kind
}

async function message(
  name: string,
  receiveCount = 1,
): Promise<{ readonly loop: string; readonly delivery: Delivery }> {
  const kind = await kindOf(Widget.group, Widget.kind)
  await services.resources.create(kind, { metadata: { name, namespace: 'default' }, spec: {} }, { manager: 'test' })
  const key = { group: Widget.group, kind: Widget.kind, namespace: 'default', name }
  const wakeUp = { key, origin: 'change', dedupId: name, lane: 'urgent', reason: '' } as const
  return { loop: 'widget', delivery: { wakeUp, handle: name, receiveCount } }
}

const handles = (kept: readonly Delivery[]): readonly string[] => kept.map(({ handle }) => handle)

describe('a batch', () => {
  it('of runs that end well, fail for long, or are stopped leaves nothing behind, and asks nothing of the queue', async () => {
    const run = widgets([], ({ metadata: { name } }) => {
      if (name === 'stopped') throw stop('No', 'never')
      return done()
    })
    const batch = await open(run)
    const all = [await message('well'), await message('stopped')]
    expect(handles(await batch(all, 60_000))).toEqual([])
    expect(calls).toEqual([])
  })

  it('keeps what it holds for a backoff, and reports nothing else', async () => {
    const batch = await open(
      widgets([], ({ metadata: { name } }) => {
        if (name === 'failing') throw new Error('no')
        return done()
      }),
    )
    expect(handles(await batch([await message('well'), await message('failing')], 60_000))).toEqual(['failing'])
    expect(calls).toEqual(['hold failing 1000'])
  })

  it('whose neighbour takes long is deleted meanwhile, so that its next change need not wait', async () => {
    const slow = Promise.withResolvers<void>()
    const batch = await open(
      widgets([], async ({ metadata: { name } }) => {
        if (name === 'slow') await slow.promise
        return done()
      }),
    )
    const running = batch([await message('quick'), await message('slow')], 60_000)
    await clock.advance(500)
    expect(calls).toEqual([])
    await clock.advance(1_000)
    expect(calls).toEqual(['delete quick'])
    slow.resolve()
    expect(handles(await running)).toEqual([])
    expect(calls).toEqual(['delete quick'])
  })

  it('while the store is away is held, longer each time, and no process ends for it', async () => {
    const batch = await open(widgets([], () => done()))
    const [first, later] = [await message('a', 1), await message('b', 4)]
    isAway = true
    expect(handles(await batch([first, later], 60_000))).toEqual(['a', 'b'])
    expect(calls[0]).toBe('hold a 1000')
    expect(Number(calls[1]?.split(' ')[2])).toSatisfy((ms: number) => ms >= 4_000 && ms <= 8_000)
    expect(retired).toBe(0)
  })

  it('while store and queue are away holds its messages side by side: its function has no time for one after the other', async () => {
    const batch = await open(widgets([], () => done()))
    const all = [await message('a'), await message('b'), await message('c')]
    isAway = true
    onHold = () => clock.sleep(3_000)
    const running = batch(all, 60_000)
    await clock.advance(3_000)
    expect(handles(await running)).toEqual(['a', 'b', 'c'])
    expect(calls).toHaveLength(3)
  })

  it('of a loop that the function does not run is left to another', async () => {
    const batch = await open()
    const { delivery } = { delivery: { wakeUp: (await other()).wakeUp, handle: 'x', receiveCount: 1 } }
    expect(handles(await batch([{ loop: 'nobody', delivery }], 60_000))).toEqual(['x'])
  })

  it('of keys of another kind runs nothing on them: they are of a controller that had the name before', async () => {
    const runs: RunRecord[] = []
    const batch = await open(widgets(runs, () => done()))
    const { delivery } = await message('w')
    const config = { metadata: { name: 'w', namespace: 'default' }, data: {} }
    await services.resources.create(await kindOf('', 'ConfigMap'), config, { manager: 'test' })
    const key = { group: '', kind: 'ConfigMap', namespace: 'default', name: 'w' }
    const before = await opened.store.get(key)
    const wakeUp = { ...delivery.wakeUp, key }
    expect(await batch([{ loop: 'widget', delivery: { ...delivery, wakeUp } }], 60_000)).toEqual([])
    expect(runs).toEqual([])
    expect(await opened.store.get(key)).toEqual(before)
  })

  it('of any fan-out is run, whoever it is for', async () => {
    const batch = await open()
    const { wakeUp } = await other()
    const delivery = { wakeUp: { ...wakeUp, timerAtMs: 5 }, handle: 'x', receiveCount: 1 }
    expect(handles(await batch([{ loop: 'somebody-fan-out', delivery }], 60_000))).toEqual([])
  })

  async function other(): Promise<Pick<Delivery, 'wakeUp'>> {
    const key = { group: 'example.com', kind: 'Other', namespace: 'default', name: 'x' }
    return { wakeUp: { key, origin: 'change', dedupId: 'x', lane: 'urgent', reason: '' } }
  }
})

describe('what comes late', () => {
  const agedMs = 600_000
  let running: number
  let most: number

  /** Runs of five seconds that fail, and how many go on at once. */
  const failing = (): Controller =>
    widgets([], async (_, ctx) => {
      most = Math.max(most, ++running)
      await ctx.sleep('5s')
      running--
      throw new Error('the far side is away')
    })

  type Message = Awaited<ReturnType<typeof message>>
  const again = ({ loop, delivery }: Message): Message => ({
    loop,
    delivery: {
      ...delivery,
      receiveCount: delivery.receiveCount + 1,
      firstReceivedAtMs: clock.nowMs() - agedMs,
    },
  })

  async function take(batch: ReconcileBatch, all: readonly Message[]): Promise<void> {
    let isOver = false
    running = most = 0
    void batch(all, 70_000).finally(() => (isOver = true))
    for (let turns = 0; !isOver; turns++) await clock.advance(turns < 50 ? 0 : 500)
  }

  it('because the queue is long runs side by side: each was held, and has come back once', async () => {
    const batch = await open(failing())
    const all = [await message('a'), await message('b'), await message('c')]
    await take(batch, all)
    await take(batch, all.map(again))
    expect(most).toBe(3)
    expect(calls.filter((call) => call.startsWith('hold'))).toHaveLength(6)
  })

  it('although it was not held runs alone: a process that had it may have ended by it', async () => {
    const batch = await open(failing())
    const all = [await message('a'), await message('b'), await message('c')]
    await take(batch, all)
    await take(
      batch,
      all.map((one) => again(again(one))),
    )
    expect(most).toBe(1)
  })
})

describe('a change that is to wait for longer than a message can be held', () => {
  it('has a timer in its object, and none that is later than another', async () => {
    const batch = await open(widgets([], () => done(), { debounce: '2m' }))
    const { loop, delivery } = await message('w')
    const later = (ms: number) => ({
      loop,
      delivery: { ...delivery, wakeUp: { ...delivery.wakeUp, notBeforeMs: clock.nowMs() + ms } },
    })
    const dueMs = async (): Promise<number> => {
      const stored = await opened.store.get(delivery.wakeUp.key)
      return (dueAtMs(stored?.engine ?? {}) ?? Infinity) - clock.nowMs()
    }
    expect(await batch([later(120_000)], 60_000)).toEqual([])
    expect(await dueMs()).toBe(120_000)
    expect(await batch([later(180_000)], 60_000)).toEqual([])
    expect(await dueMs()).toBe(120_000)
    expect(calls).toEqual([])
  })
})

describe('a run for which the function has no time', () => {
  it('fails as if its own time were over: the object says so and backs off', async () => {
    const batch = await open(
      widgets([], async (_, ctx) => {
        await ctx.sleep('10m')
        return done()
      }),
    )
    const running = batch([await message('w')], 15_000)
    await clock.advance(10_000)
    expect(handles(await running)).toEqual([])
    const key = { group: Widget.group, kind: Widget.kind, namespace: 'default', name: 'w' }
    expect((await opened.store.get(key))?.engine).toMatchObject({ wait: { kind: 'Backoff', failure: { attempt: 1 } } })
    expect(retired).toBe(0)
  })

  it('and that goes on all the same ends with its process, its message untouched', async () => {
    const batch = await open(widgets([], () => new Promise(() => {})))
    const running = batch([await message('w')], 15_000)
    await clock.advance(10_000)
    const passing = async (): Promise<number> => {
      await clock.advance(1_000)
      return retired
    }
    await expect.poll(passing).toBe(1)
    expect(handles(await running)).toEqual(['w'])
    expect(calls).toEqual([])
  })
})

it('late messages for which no time is left stay in the queue', async () => {
  const batch = await open(widgets([], () => done(), { timeout: '60s' }))
  const late = async (name: string) => {
    const { loop, delivery } = await message(name)
    return { loop, delivery: { ...delivery, receiveCount: 3, firstReceivedAtMs: clock.nowMs() - 3_600_000 } }
  }
  const all = [await late('a'), await late('b')]
  let kept: readonly Delivery[] | undefined
  void batch(all, 30_000).then((left) => (kept = left))
  while (kept === undefined) await clock.advance(100)
  expect(handles(kept).toSorted()).toEqual(['a', 'b'])
  expect(calls.filter((call) => call.startsWith('delete'))).toEqual([])
})
