import { afterEach, describe, expect, it } from 'vitest'
import { again, ConfigMap, defineReconciler, done, reference } from '../../shared/index.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'
import { writesDuring } from './support/primary.ts'
import {
  conditionOfWidget,
  failing,
  timesOf,
  Widget,
  widgetOf,
  widgets,
  type RunRecord,
  type WidgetStatus,
} from './support/widgets.ts'

/** Objects that run again and again although nothing fails. */

let env: TestEnv
let runs: RunRecord[]
afterEach(() => env.close())

const create = (name = 'w'): Promise<unknown> => env.apply(Widget, { metadata: { name }, spec: {} })

describe('a status that changes with every run', () => {
  it('A26 D20 is no loop as such: a status wakes nobody, and an equal one is not written', async () => {
    env = await createTestEnv({
      tickMs: 60_000,
      reconcilers: [widgets((runs = []), (_, ctx) => done({ status: { seen: String(ctx.now()) } }))],
    })
    await create()
    await env.advance('1h')
    expect(runs).toHaveLength(1)
    const label = (a: string) => env.patch(Widget, 'w', { metadata: { labels: { a } } })
    expect(await writesDuring(env, 'w', () => label('1'))).toMatchObject([
      {},
      { touched: expect.arrayContaining(['status']) },
    ])
    // No time has passed: the status is what it was.
    expect(await writesDuring(env, 'w', () => label('2'))).toHaveLength(1)
    expect(runs).toHaveLength(3)
  })

  it('A26 in two controllers that watch each other opens the breaker, which names the field and heals by itself', async () => {
    let flips = true
    const flip = () => (flips ? done<WidgetStatus>({ status: { seen: String(runs.length) } }) : done())
    env = await createTestEnv({
      reconcilers: [
        widgets((runs = []), flip, { owns: [ConfigMap], watches: [reference(ConfigMap, () => ({ name: 'mirror' }))] }),
        defineReconciler(ConfigMap, {
          watches: [reference(Widget, ({ metadata }) => (metadata.name === 'mirror' ? { name: 'w' } : undefined))],
          reconcile: async (config, ctx) => {
            const widget = await ctx.get(Widget, 'w')
            await ctx.apply(ConfigMap, {
              metadata: { name: config.metadata.name },
              data: { seen: widget?.status?.seen ?? '' },
            })
            return done()
          },
        }),
      ],
    })
    await env.apply(ConfigMap, { metadata: { name: 'mirror' }, data: {} })
    await create()
    await env.settle()
    expect(runs.length).toBeLessThanOrEqual(101)
    expect(await conditionOfWidget(env, 'HotLoop')).toMatchObject({
      status: 'True',
      reason: 'StatusNeverSettles',
      message: expect.stringContaining('status.seen'),
    })
    expect((await widgetOf(env)).status).toMatchObject({ reconcile: { waiting: 'HotLoop' } })

    const before = runs.length
    await env.advance('5m')
    expect(runs.length - before).toBeLessThanOrEqual(11)
    expect(await conditionOfWidget(env, 'HotLoop')).toMatchObject({ status: 'True' })

    flips = false
    await env.advance('2m')
    expect(await conditionOfWidget(env, 'HotLoop')).toBeUndefined()
    expect((await widgetOf(env)).status).not.toHaveProperty('reconcile')
    const healed = runs.length
    await env.advance('1h')
    expect(runs).toHaveLength(healed)
  })
})

describe('a tight requeue', () => {
  it('B17 is stopped after a hundred runs, and says that it asks for them itself', async () => {
    env = await createTestEnv({ reconcilers: [widgets((runs = []), () => again(0))] })
    await create()
    await env.settle()
    expect(runs.length).toBe(100)
    expect(await conditionOfWidget(env, 'HotLoop')).toMatchObject({
      reason: 'RunsWithoutEnd',
      message: expect.stringContaining('its own request'),
    })
    await env.advance('2m')
    const probesMs = timesOf(runs).slice(99)
    // One every 30 s; on AWS the tick finds it, up to a minute late.
    expect(probesMs.length).toBeGreaterThanOrEqual(3)
    expect(probesMs.slice(1).every((ms, i) => ms - (probesMs[i] ?? 0) >= 30_000)).toBe(true)
  })

  it('is not forgotten with the process: the object says that it is in a loop, and why', async () => {
    let spins = true
    env = await createTestEnv({ reconcilers: [widgets((runs = []), () => (spins ? again(0) : done()))] })
    await create()
    await env.settle()
    const told = await conditionOfWidget(env, 'HotLoop')
    for (let crashes = 0; crashes < 5; crashes++) {
      await env.crash()
      await env.advance('30s')
    }
    expect(runs.length).toBeLessThanOrEqual(110)
    expect(await conditionOfWidget(env, 'HotLoop')).toEqual(told)

    await env.crash()
    await env.patch(Widget, 'w', { spec: { size: 5 } })
    await env.settle()
    expect(runs.at(-1)).toMatchObject({ size: 5 })

    spins = false
    await env.crash()
    await env.advance('2m')
    expect(await conditionOfWidget(env, 'HotLoop')).toBeUndefined()
    const healed = runs.length
    await env.advance('1h')
    expect(runs).toHaveLength(healed)
  })

  it('has its probe although something else used up the message of its timer ahead of time', async () => {
    const watches = [reference(ConfigMap, () => ({ name: 'mirror' }))]
    env = await createTestEnv({ reconcilers: [widgets((runs = []), () => again(0), { watches })] })
    await env.apply(ConfigMap, { metadata: { name: 'mirror' }, data: {} })
    await env.advance('40s')
    await create()
    await env.settle()
    expect(runs).toHaveLength(100)
    await env.advance('28s')
    await env.apply(ConfigMap, { metadata: { name: 'mirror' }, data: { seen: 'anything' } })
    await env.advance('5m')
    const [lastMs = 0, probeMs = Infinity] = timesOf(runs).slice(99)
    expect(probeMs - lastMs).toBeGreaterThanOrEqual(30_000)
    // When the tick finds it late: here it is a minute apart at most.
    expect(probeMs - lastMs).toBeLessThanOrEqual(90_000)
  })

  it('B16 does not keep other keys waiting', async () => {
    const order: string[] = []
    env = await createTestEnv({
      reconcilers: [
        widgets(
          (runs = []),
          async ({ metadata: { name } }) => {
            order.push(name)
            return name === 'hot' ? again(0) : done()
          },
          { concurrency: 1 },
        ),
      ],
    })
    await create('hot')
    for (let i = 0; i < 50; i++) await create(`other-${i}`)
    await env.settle()
    const positions = order.flatMap((name, i) => (name === 'hot' ? [] : [i]))
    const hotBetween = order.slice(0, (positions.at(-1) ?? 0) + 1).filter((name) => name === 'hot')
    expect(positions).toHaveLength(50)
    // What comes back comes behind what is fresh: at most one delivery in ten, and those before the others came.
    expect(hotBetween.length).toBeLessThanOrEqual(60)
    expect(positions.slice(1).every((at, i) => at - (positions[i] ?? 0) <= 2)).toBe(true)
  })

  it('lets a new generation of the user run at once, though not one of its own making', async () => {
    env = await createTestEnv({ reconcilers: [widgets((runs = []), () => again(0))] })
    await create()
    await env.settle()
    expect(runs).toHaveLength(100)
    await env.patch(Widget, 'w', { spec: { size: 5 } })
    await env.settle()
    expect(runs.at(-1)).toMatchObject({ size: 5 })
    expect(runs.length).toBeGreaterThan(100)
  })

  it('of a controller that edits its own objects is a loop too', async () => {
    env = await createTestEnv({
      reconcilers: [
        widgets((runs = []), async (widget, ctx) => {
          await ctx.patch(Widget, widget.metadata.name, { spec: { size: widget.spec.size + 1 } })
          return done()
        }),
      ],
    })
    await create()
    await env.settle()
    expect(runs.length).toBeLessThanOrEqual(102)
    expect(await conditionOfWidget(env, 'HotLoop')).toMatchObject({ status: 'True' })
  })
})

describe('a controller of a built-in kind, of whose changes nothing is noted,', () => {
  const start = async (most: number): Promise<() => number> => {
    let count = 0
    const controller = defineReconciler(ConfigMap, {
      name: 'loop',
      async reconcile({ metadata: { name } }, ctx) {
        if (name !== 'o') return done()
        await ctx.sleep('20ms')
        if (++count < most) await ctx.patch(ConfigMap, 'o', { data: { n: String(count) } })
        return done()
      },
    })
    env = await createTestEnv({ reconcilers: [controller] })
    await env.apply(ConfigMap, { metadata: { name: 'o' }, data: {} })
    return () => count
  }

  it('that edits its own objects is a loop too', async () => {
    const count = await start(1_000)
    await env.advance('30s')
    expect(count()).toBeGreaterThan(100)
    expect(count()).toBeLessThan(200)
  })

  it('runs at once when a user edits them, or takes something away', async () => {
    const count = await start(1_000)
    await env.patch(ConfigMap, 'o', { data: { user: 'w' } })
    for (const user of ['x', null]) {
      await env.advance('12s')
      const before = count()
      await env.patch(ConfigMap, 'o', { data: { user } })
      await env.advance('1s')
      expect(count()).toBeGreaterThan(before)
    }
  })
})

describe('a rate limit', () => {
  it('per object postpones, never drops, counts no failure and leaves other objects alone', async () => {
    env = await createTestEnv({
      reconcilers: [widgets((runs = []), () => done(), { rateLimit: { object: { runs: 2, within: '3s' } } })],
    })
    await create('w')
    await create('x')
    await env.settle()
    for (let size = 2; size <= 9; size++) {
      await env.patch(Widget, 'w', { spec: { size } })
      await env.advance('100ms')
    }
    expect(timesOf(runs)).toEqual([0, 0])
    expect((await widgetOf(env)).status).toMatchObject({ reconcile: { waiting: 'RateLimited' } })
    expect((await widgetOf(env)).status).not.toHaveProperty('reconcile.attempt')
    await env.patch(Widget, 'x', { spec: { size: 2 } })
    await env.settle()
    expect(timesOf(runs, 'x')).toHaveLength(2)
    await env.advance('10s')
    // On AWS messages are hidden for whole seconds, and so many changes are two batches.
    const later = timesOf(runs).slice(2)
    expect(later.filter((ms) => ms >= 3_000 && ms < 4_000)).toEqual(later)
    expect([1, 2]).toContain(later.length)
    expect(runs.findLast(({ name }) => name === 'w')).toMatchObject({ size: 9 })
  })

  it.each([
    ['of each object', { object: { runs: 1, within: '10s' } }],
    ['of the controller', { controller: { perSecond: 0.1, burst: 1 } }],
    ['against hot loops', undefined],
  ] as const)(
    '%s that puts off a run ahead of a retry costs no attempt and moves no retry',
    async (_what, rateLimit) => {
      const options = { resync: false, ...(rateLimit && { rateLimit }) } as const
      env = await createTestEnv({ reconcilers: [widgets((runs = []), failing(Infinity), options)] })
      await create()
      await env.settle()
      const waitOf = async (): Promise<Partial<Record<string, unknown>>> =>
        ((await widgetOf(env)).status as { readonly reconcile: Record<string, unknown> }).reconcile
      const leftMs = async (): Promise<number> => Date.parse(String((await waitOf())['nextRunAt'])) - env.nowMs()
      while ((await leftMs()) < 120_000) await env.advance(Math.max(1_000, await leftMs()))
      const { attempt, nextRunAt, waiting } = await waitOf()
      const before = runs.length
      const labels = rateLimit === undefined ? 110 : 3
      for (let i = 0; i < labels; i++) {
        await env.patch(Widget, 'w', { metadata: { labels: { at: `${i}` } } })
        await (rateLimit === undefined ? env.settle() : env.advance('12s'))
      }
      expect((await waitOf())['waiting']).toBe(rateLimit === undefined ? 'HotLoop' : 'Backoff')
      // On AWS the next probe comes with a tick.
      if (rateLimit === undefined) await env.advance('90s')
      expect(runs.length - before).toBeGreaterThanOrEqual(3)
      expect(await waitOf()).toMatchObject({ attempt, nextRunAt, waiting })
    },
  )

  it('per object survives a restart', async () => {
    env = await createTestEnv({
      reconcilers: [widgets((runs = []), () => done(), { rateLimit: { object: { runs: 1, within: '10m' } } })],
    })
    await create()
    await env.advance('10s')
    await env.crash()
    await env.patch(Widget, 'w', { spec: { size: 2 } })
    await env.advance('9m')
    expect(runs).toHaveLength(1)
    await env.advance('1m')
    expect(timesOf(runs)).toEqual([0, 600_000])
  })

  it('D13 D25 per controller spares what it calls, and puts nobody behind for ever', async () => {
    env = await createTestEnv({
      reconcilers: [widgets((runs = []), () => done(), { rateLimit: { controller: { perSecond: 2, burst: 5 } } })],
    })
    for (let i = 0; i < 25; i++) await create(`w${i}`)
    await env.settle()
    expect(runs).toHaveLength(5)
    await env.advance('5s')
    expect(runs).toHaveLength(15)
    await create('urgent')
    await env.advance('10s')
    expect(runs).toHaveLength(26)
  })

  it.each([
    { rateLimit: { object: { runs: 0, within: '1s' } }, because: 'no run at all' },
    { rateLimit: { object: { runs: 1, within: 0 } }, because: 'no time' },
    { rateLimit: { controller: { perSecond: 0 } }, because: 'no rate' },
  ])('is refused with $because', ({ rateLimit }) => {
    expect(() => widgets([], () => done(), { rateLimit })).toThrow('rateLimit')
  })
})
