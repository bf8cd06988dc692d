import { afterEach, describe, expect, it } from 'vitest'
import { ConfigMap, defineReconciler, done, mapped, type Context, type Controller } from '../../shared/index.ts'
import type { ServedKind } from '../../shared/model/served-kind.ts'
import type { StoredObject } from '../../shared/model/stored-object.ts'
import type { Clock } from '../../shared/ports/clock.ts'
import type { WorkQueue } from '../../shared/ports/work-queue.ts'
import type { LocalCore } from '../../shared/runtime/local/core.ts'
import { createSeededRandom } from '../../shared/testing/seeded-random.ts'
import { testEngine } from '../../shared/testing/test-engine.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'
import { createVirtualClock, type VirtualClock } from '../support/virtual-clock.ts'
import {
  conditionOfWidget,
  failing,
  timesOf,
  Widget,
  widgets,
  type RunRecord,
  type WidgetObject,
} from './support/widgets.ts'
import { longOnly } from '../support/strength.ts'

/** One key, one run; many keys, many runs; and who goes first. */

let env: TestEnv
let runs: RunRecord[]
afterEach(() => env.close())

const create = (name = 'w'): Promise<unknown> => env.apply(Widget, { metadata: { name }, spec: {} })

interface Interval {
  readonly name: string
  readonly fromMs: number
  toMs: number
}

/** The most that ran at once, of one key and of all. */
function overlap(intervals: readonly Interval[]): number {
  const edges = intervals.flatMap(({ fromMs, toMs }) => [
    { atMs: fromMs, by: 1 },
    { atMs: toMs, by: -1 },
  ])
  edges.sort((a, b) => a.atMs - b.atMs || a.by - b.by)
  let now = 0
  return Math.max(0, ...edges.map(({ by }) => (now += by)))
}

/** Versions of one controller that note which of them ran what, and have an effect outside for each size, once. */
function recordVersions(clock: Clock) {
  const intervals: (Interval & { readonly by: string })[] = []
  const effects: string[] = []
  const version = (by: string, runMs: number): Controller =>
    widgets(
      [],
      async ({ metadata: { name }, spec: { size } }, ctx) => {
        const interval = { name, by, fromMs: clock.nowMs(), toMs: Infinity }
        intervals.push(interval)
        await ctx.sleep(runMs)
        await ctx.once('effect', async () => void effects.push(`${name} ${size}`), { of: size })
        interval.toMs = clock.nowMs()
        return done()
      },
      { concurrency: 1 },
    )
  return { intervals, effects, version }
}

/** Whole engines over one store, each with its version of the controller, and one queue for all of them. */
async function startVersions(clock: VirtualClock, controllers: readonly [Controller, ...Controller[]]) {
  const engine = await testEngine(clock)
  const queues = new Map<string, WorkQueue>()
  const logger = { info() {}, warn() {}, error() {}, debug() {}, with: () => logger }
  const random = createSeededRandom(1)
  const start = (controller: Controller): Promise<LocalCore> =>
    engine.start({
      ports: engine.ports,
      controllers: [controller],
      authenticate: () => ({ name: 'test', groups: ['system:masters'] }),
      clock,
      random,
      logger,
      wrapQueue: (queue, name) => queues.get(name) ?? (queues.set(name, queue), queue),
    })
  const [first, ...others] = controllers
  const cores: [LocalCore, ...LocalCore[]] = [await start(first)]
  for (const other of others) cores.push(await start(other))
  const pass = async (ms: number): Promise<void> => {
    // A commit takes some turns of the event loop.
    for (let passed = 0; passed < ms; passed += 10) {
      for (let i = 0; i < 8; i++) await new Promise((resolve) => setImmediate(resolve))
      await clock.advance(10)
    }
  }
  const stop = async (): Promise<void> => {
    let isStopped = false
    const stopped = Promise.all(cores.map((core) => core.stop(0))).finally(() => (isStopped = true))
    while (!isStopped) await pass(10)
    await stopped
    engine.ports.close()
  }
  return { cores, pass, stop }
}

describe('one key', () => {
  it('A23 D11 is never run twice at once, by triggers, timeouts and functions that ignore them', longOnly, async () => {
    const intervals: Interval[] = []
    env = await createTestEnv({
      reconcilers: [
        widgets(
          (runs = []),
          async ({ metadata: { name } }) => {
            const interval = { name, fromMs: env.nowMs(), toMs: Infinity }
            intervals.push(interval)
            // Ignores the signal, and goes on long after its time.
            while (env.nowMs() < interval.fromMs + 25_000) await new Promise((resolve) => setTimeout(resolve, 2))
            interval.toMs = env.nowMs()
            return done()
          },
          { timeout: '5s', concurrency: 4 },
        ),
      ],
    })
    await create('a')
    await create('b')
    for (let i = 0; i < 30; i++) {
      await env.patch(Widget, 'a', { spec: { size: i + 2 } })
      await env.advance('2s')
    }
    const ofA = intervals.filter(({ name }) => name === 'a')
    expect(ofA.length).toBeGreaterThan(1)
    expect(overlap(ofA)).toBe(1)
    expect(overlap(intervals)).toBe(2)
  })

  it('A25 D32 two deployed versions on one queue never run it together, and each trigger has its effect once', async () => {
    env = await createTestEnv()
    const clock = createVirtualClock()
    const { intervals, effects, version } = recordVersions(clock)
    const versions = await startVersions(clock, [version('old', 70), version('new', 30)])
    const [{ resources, catalog }] = versions.cores
    const kind = await catalog.byKind('test.setpoint.dev', 'Widget')
    const names = ['a', 'b']
    for (let size = 1; size <= 40; size++) {
      for (const name of names)
        await resources.patch(
          kind as ServedKind,
          { namespace: 'default', name },
          { type: 'apply', body: { metadata: { name }, spec: { size } }, force: true },
          { manager: 'test' },
        )
      await versions.pass(60)
    }
    await versions.pass(10_000)
    await versions.stop()
    for (const name of names) {
      const own = intervals.filter((interval) => interval.name === name)
      expect(own.length).toBeGreaterThan(10)
      expect(overlap(own)).toBe(1)
      expect(effects.filter((effect) => effect.startsWith(`${name} `)).at(-1)).toBe(`${name} 40`)
    }
    expect(new Set(intervals.map(({ by }) => by))).toEqual(new Set(['old', 'new']))
    expect(effects).toEqual([...new Set(effects)])
    expect(overlap(intervals)).toBe(2)
  })
})

describe('a run that has lost its turn', () => {
  it('D32 A25 can write nothing any more, so that the one that took over has its effects alone', async () => {
    const refused: unknown[] = []
    const effects: number[] = []
    env = await createTestEnv({
      reconcilers: [
        widgets(
          (runs = []),
          async (_, ctx) => {
            const run = runs.length
            const act = async (): Promise<void> => {
              await ctx.apply(ConfigMap, { metadata: { name: 'child' }, data: { run: String(run) } })
              await ctx.once('notify', async () => effects.push(run))
            }
            // The first one hangs until its message has long been handed out again: six times its timeout.
            if (run > 1) {
              await act()
              return done()
            }
            const fromMs = env.nowMs()
            while (env.nowMs() < fromMs + 60_000) await new Promise((resolve) => setTimeout(resolve, 2))
            await act().catch((error: unknown) => refused.push(error))
            return done({ status: { seen: 'too late' } })
          },
          { timeout: '5s', concurrency: 4 },
        ),
      ],
    })
    await create('a')
    await env.advance('20s')
    expect(runs).toHaveLength(1)
    for (let i = 0; i < 40; i++) await env.advance('2s')
    expect(runs.length).toBeGreaterThan(1)
    expect(refused).toMatchObject([{ code: 'DEADLINE_EXCEEDED' }])
    expect(effects).toEqual([2])
    expect(await env.get(ConfigMap, 'child')).toMatchObject({ data: { run: '2' } })
    expect((await env.get(Widget, 'a'))?.status).not.toHaveProperty('seen')
  })
})

describe('urgency', () => {
  /** A hundred objects that wait for the one worker there is, each run taking a tenth of a second. */
  async function startWithBacklog(options: Parameters<typeof widgets>[2], failingOnes = false): Promise<void> {
    env = await createTestEnv({
      tickMs: 1_000,
      reconcilers: [
        widgets(
          (runs = []),
          async ({ metadata: { name }, spec }, ctx) => {
            if (spec.size > 1 || isBusy) await ctx.sleep('100ms')
            if (failingOnes && name.startsWith('w')) throw new Error('no luck')
            return done()
          },
          { concurrency: 1, ...options },
        ),
      ],
    })
    for (let i = 0; i < 100; i++) await create(`w${i}`)
    await create('edited')
    await env.settle()
    isBusy = true
  }
  let isBusy = false
  afterEach(() => (isBusy = false))

  const waitOfEdit = async (size: number): Promise<number> => {
    const atMs = env.nowMs()
    await env.patch(Widget, 'edited', { spec: { size } })
    await env.eventually(() => expect(runs.some((run) => run.name === 'edited' && run.size === size)).toBe(true))
    return (runs.findLast(({ name }) => name === 'edited')?.atMs ?? Infinity) - atMs
  }

  it("D26 A24 a user's change goes ahead of retries", async () => {
    await startWithBacklog({ resync: false }, true)
    await env.advance('30s')
    for (let size = 2; size < 12; size++) {
      expect(await waitOfEdit(size)).toBeLessThanOrEqual(200)
      await env.advance('1s')
    }
  })

  it("D26 a user's change goes ahead of the resync", async () => {
    await startWithBacklog({ resync: '5s' })
    await env.advance('30s')
    const resyncs = runs.length
    for (let size = 2; size < 12; size++) {
      expect(await waitOfEdit(size)).toBeLessThanOrEqual(200)
      await env.advance('1s')
    }
    expect(runs.length).toBeGreaterThan(resyncs + 50)
  })

  it(
    'D26 nothing starves: however many changes come, one delivery in ten is what waits behind them',
    longOnly,
    async () => {
      await startWithBacklog({ resync: '2m' })
      const before = runs.length
      // Twenty changes a second for one worker that does ten.
      for (let i = 0; i < 2_400; i++) {
        await env.patch(Widget, `w${i % 50}`, { spec: { size: i + 2 } })
        if (i % 2 === 1) await env.advance('100ms')
      }
      const behind = runs.slice(before).filter(({ name, size }) => Number(name.slice(1)) >= 50 && size === 1)
      const shareBehind = behind.length / (runs.length - before)
      expect(new Set(behind.map(({ name }) => name)).size).toBeGreaterThanOrEqual(45)
      expect(shareBehind).toBeGreaterThan(0.03)
      expect(shareBehind).toBeLessThan(0.15)
    },
  )
})

describe('many keys', () => {
  it.each([
    { options: {}, most: 10, because: 'the default' },
    { options: { concurrency: 1 }, most: 1, because: 'one at a time' },
    { options: { concurrency: 4 }, most: 4, because: 'as chosen' },
  ])('A24 D11 run side by side, $most at once: $because', async ({ options, most }) => {
    const intervals: Interval[] = []
    env = await createTestEnv({
      reconcilers: [
        widgets(
          (runs = []),
          async ({ metadata: { name } }, ctx) => {
            const interval = { name, fromMs: ctx.now(), toMs: Infinity }
            intervals.push(interval)
            await ctx.sleep('1s')
            interval.toMs = ctx.now()
            return done()
          },
          options,
        ),
      ],
    })
    for (let i = 0; i < 25; i++) await create(`w${i}`)
    await env.advance('1m')
    expect(intervals).toHaveLength(25)
    expect(overlap(intervals)).toBe(most)
  })

  it('A24 refuses a concurrency that is none', async () => {
    env = await createTestEnv()
    for (const concurrency of [0, -1, 1.5])
      expect(() => widgets([], () => done(), { concurrency })).toThrow('concurrency')
  })

  it('D12 D24 one that fails is tried more and more rarely, and delays no other', async () => {
    env = await createTestEnv({
      reconcilers: [
        widgets(
          (runs = []),
          (widget, ctx) => {
            if (widget.metadata.name.startsWith('bad')) return failing(Infinity)(widget, ctx)
            return done()
          },
          { concurrency: 1 },
        ),
      ],
    })
    for (let i = 0; i < 5; i++) await create(`bad-${i}`)
    await env.advance('1m')
    for (let i = 0; i < 20; i++) {
      const name = `good-${i}`
      await create(name)
      await env.settle()
      expect(runs.filter((run) => run.name === name)).toMatchObject([{ atMs: env.nowMs() }])
      await env.advance('1s')
    }
    const tries = timesOf(runs, 'bad-0')
    expect((tries.at(-1) ?? 0) - (tries.at(-2) ?? 0)).toBeGreaterThan(10_000)
  })

  it('A27 a long run delays no other key, is warned of, and ended by its timeout', async () => {
    env = await createTestEnv({
      reconcilers: [
        widgets(
          (runs = []),
          async ({ metadata: { name } }, ctx) => {
            if (name === 'long') await ctx.sleep('40s')
            if (name === 'endless') await ctx.sleep('1h')
            return done()
          },
          { timeout: '1m' },
        ),
      ],
    })
    await create('long')
    await create('endless')
    await env.advance('1s')
    await create('quick')
    await env.settle()
    expect(runs.at(-1)).toMatchObject({ name: 'quick', atMs: env.nowMs() })
    await env.advance('1m')
    const advice = env.logs.filter(({ message }) => message === 'advice').map(({ fields }) => fields['advice'])
    expect(advice).toContain('LongRun')
    expect((await env.get(Widget, 'endless'))?.status).toMatchObject({
      reconcile: { waiting: 'Backoff', lastError: expect.stringContaining('longer than 60 s') },
    })
  })
})

describe('a change that concerns many objects', () => {
  it('D26 wakes them over time, behind the edits of users, and warns', longOnly, async () => {
    // Most of those it names are not there: that costs them nothing but a look.
    const count = 2_000
    const all = () => Array.from({ length: 10_000 }, (_, i) => ({ name: `w${i}` }))
    env = await createTestEnv({
      tickMs: 1_000,
      reconcilers: [
        widgets((runs = []), () => done(), { watches: [mapped(ConfigMap, all)], concurrency: 1, resync: false }),
      ],
    })
    for (let i = 0; i < count; i += 500) await Promise.all(Array.from({ length: 500 }, (_, j) => create(`w${i + j}`)))
    await env.advance('1s')
    expect(runs).toHaveLength(count)

    runs.length = 0
    await env.apply(ConfigMap, { metadata: { name: 'shared' }, data: {} })
    await env.advance('10s')
    expect(runs.length).toBeGreaterThan(500)
    expect(runs.length).toBeLessThan(1_500)
    for (let i = 0; i < 10; i++) {
      const name = `w${count - 1 - i}`
      const before = runs.length
      await env.patch(Widget, name, { spec: { size: 2 } })
      await env.settle()
      // Ahead of all that waits: at most one delivery in ten is somebody else's.
      const at = runs.slice(before).findIndex((run) => run.name === name && run.size === 2)
      expect(at).toBeGreaterThanOrEqual(0)
      expect(at).toBeLessThanOrEqual(2)
    }
    await env.crash()
    await env.advance('3m')
    expect(new Set(runs.map(({ name }) => name)).size).toBe(count)
    expect(env.logs).toContainEqual(
      expect.objectContaining({
        message: 'advice',
        fields: expect.objectContaining({ advice: 'FanOut', about: '10000 objects' }),
      }),
    )
  })

  it.each([
    { concurrency: 1, runMs: 12, everyMs: 97, because: 'one worker, and more work than it can do' },
    { concurrency: 10, runMs: 40, everyMs: 97, because: 'workers to spare' },
    { concurrency: 10, runMs: 150, everyMs: 197, because: 'ten workers, and more work than they can do' },
    { concurrency: 10, runMs: 2_000, everyMs: 2_300, because: 'runs that take long: one worker is kept free' },
  ])(
    'D26 keeps the edits of users under 50 ms of queue wait meanwhile (p99): $because',
    longOnly,
    async ({ concurrency, runMs, everyMs }) => {
      const count = 10_000
      let isTaking = false
      env = await createTestEnv({
        tickMs: 1_000,
        reconcilers: [
          widgets(
            (runs = []),
            async (_, ctx) => {
              if (isTaking) await ctx.sleep(runMs)
              return done()
            },
            {
              watches: [mapped(ConfigMap, () => Array.from({ length: count }, (_, i) => ({ name: `w${i}` })))],
              concurrency,
              resync: false,
            },
          ),
        ],
      })
      for (let i = 0; i < count; i += 1_000)
        await Promise.all(Array.from({ length: 1_000 }, (_, j) => create(`w${i + j}`)))
      await env.advance('1s')
      expect(runs).toHaveLength(count)

      isTaking = true
      runs.length = 0
      await env.apply(ConfigMap, { metadata: { name: 'shared' }, data: {} })
      await env.advance('5s')
      const editsCount = 200
      const edits: { readonly name: string; readonly size: number; readonly atMs: number }[] = []
      for (let i = 0; i < editsCount; i++) {
        // Ahead of those that are at it: whoever is edited during a run of its own waits for that, not in the queue.
        const edit = { name: `w${count - 1 - ((i * 7_919) % (count / 2))}`, size: i + 2, atMs: env.nowMs() }
        edits.push(edit)
        await env.patch(Widget, edit.name, { spec: { size: edit.size } })
        await env.advance(everyMs)
      }
      isTaking = false
      await env.advance('3m')
      const waitsMs = edits.map(({ name, size, atMs }) => {
        const ran = runs.find((run) => run.name === name && run.size === size)
        return (ran?.atMs ?? Infinity) - atMs
      })
      expect(waitsMs.toSorted((a, b) => a - b)[Math.floor(0.985 * editsCount)]).toBeLessThan(50)
      expect(new Set(runs.map(({ name }) => name)).size).toBe(count)
    },
  )
})

/** What a run has begun and not waited for. */

it('an effect of a run that failed beside it is over before the next run of the key begins', async () => {
  let underWay = 0
  let most = 0
  let count = 0
  const ends = Promise.withResolvers<void>()
  const reconcile = async (_object: WidgetObject, ctx: Context) => {
    count++
    const order = ctx.once('order', async () => {
      most = Math.max(most, ++underWay)
      await ends.promise
      underWay--
    })
    const check = count === 1 ? Promise.reject(new Error('the quota is not known')) : Promise.resolve()
    await Promise.all([order, check])
    return done()
  }
  env = await createTestEnv({ reconcilers: [defineReconciler(Widget, { reconcile })] })
  await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
  await env.advance('5s')
  expect({ count, most }).toEqual({ count: 1, most: 1 })
  ends.resolve()
})

it('a write of a run that failed beside it does not undo what the next run has written', async () => {
  let count = 0
  const reconcile = async ({ spec: { size } }: WidgetObject, ctx: Context) => {
    count++
    const check = count === 2 ? Promise.reject(new Error('the quota is not known')) : Promise.resolve()
    const config = { metadata: { name: 'config' }, data: { size: String(size) } }
    await Promise.all([ctx.apply(ConfigMap, config, { owned: false }), check])
    return done()
  }
  env = await createTestEnv({
    reconcilers: [defineReconciler(Widget, { grants: [{ kind: ConfigMap, access: 'write' }], reconcile })],
  })
  await env.apply(Widget, { metadata: { name: 'w' }, spec: { size: 1 } })
  await env.settle()
  const isConfig = ([stored]: readonly unknown[]): boolean => (stored as StoredObject).object.kind === 'ConfigMap'
  env.faults.once('store.replace', { kind: 'delay', ms: 2_000 }, isConfig)
  await env.patch(Widget, 'w', { spec: { size: 2 } })
  await env.advance('500ms')
  await env.patch(Widget, 'w', { spec: { size: 3 } })
  await env.advance('1h')
  expect(await conditionOfWidget(env, 'Ready')).toMatchObject({ status: 'True', observedGeneration: 3 })
  expect((await env.get(ConfigMap, 'config'))?.data).toEqual({ size: '3' })
})
