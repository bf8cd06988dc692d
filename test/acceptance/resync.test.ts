import { afterEach, describe, expect, it } from 'vitest'
import { again, done } from '../../shared/index.ts'
import { createTestEnv, type TestEnv, type TestEnvOptions } from '../../shared/testing/test-env.ts'
import { failing, timesOf, Widget, widgetOf, widgets, type RunRecord } from './support/widgets.ts'
import { longOnly } from '../support/strength.ts'

/** Every object runs at least once per period, and after a restart no object runs that is not due. */

const hourMs = 3_600_000
let env: TestEnv
let runs: RunRecord[]
afterEach(() => env.close())

async function start(options: Partial<Parameters<typeof widgets>[2]>, more: TestEnvOptions = {}): Promise<void> {
  env = await createTestEnv({ tickMs: 60_000, reconcilers: [widgets((runs = []), () => done(), options)], ...more })
}

const create = (name = 'w', annotations: Record<string, string> = {}): Promise<unknown> =>
  env.apply(Widget, { metadata: { name, annotations }, spec: {} })

const annotate = (resync: string | null, name = 'w'): Promise<unknown> =>
  env.patch(Widget, name, { metadata: { annotations: { 'setpoint.dev/resync': resync } } })

const writes = (): number => env.calls.filter(({ call }) => call === 'store.replace').length

describe('the resync', () => {
  it('A21 runs an object every ten hours though nothing changed, and writes nothing', async () => {
    await start({})
    await create()
    await env.settle()
    const before = writes()
    await env.advance('40h')
    const gaps = timesOf(runs)
      .slice(1)
      .map((at, i) => at - (timesOf(runs)[i] ?? 0))
    expect(runs).toHaveLength(5)
    expect(gaps[0]).toBeLessThanOrEqual(10 * hourMs)
    for (const gap of gaps.slice(1)) expect(Math.abs(gap - 10 * hourMs)).toBeLessThanOrEqual(60_000)
    expect(writes()).toBe(before)
  })

  it('A21 takes the period that is chosen, and none if it is switched off', async () => {
    await start({ resync: '1h' })
    await create()
    await env.advance('5h')
    expect(runs).toHaveLength(6)
    await env.close()
    await start({ resync: false })
    await create()
    await env.advance('50h')
    expect(runs).toHaveLength(1)
  })

  it('is spread flat over the period', longOnly, async () => {
    await start({ resync: '1h' }, { tickMs: 10_000 })
    await Promise.all(Array.from({ length: 1_200 }, (_, i) => create(`w${i}`)))
    await env.advance('1m')
    runs.length = 0
    await env.advance('1h')
    const perTenMinutes = [0, 1, 2, 3, 4, 5].map(
      (i) => runs.filter(({ atMs }) => Math.floor((atMs - (runs[0]?.atMs ?? 0)) / 600_000) === i).length,
    )
    // A turn of the wheel hands out what is due in it, so that an object may come a minute early.
    const firstMs = new Map<string, number>()
    const early = runs.filter(({ name, atMs }) => {
      const before = firstMs.get(name)
      firstMs.set(name, atMs)
      return before !== undefined && atMs - before < hourMs - 60_000
    })
    expect([firstMs.size, early]).toEqual([1_200, []])
    expect(runs.length).toBeLessThan(1_220)
    for (const count of perTenMinutes) expect(Math.abs(count - 200)).toBeLessThan(60)
  })

  it('is caught up with after a downtime', longOnly, async () => {
    await start({ resync: '10m' })
    await create()
    await env.advance('2m')
    const before = runs.length
    // Nothing runs while the store is away; the tick goes on.
    const back = env.faults.always('store.get', { kind: 'delay', ms: hourMs }, ([key]) =>
      JSON.stringify(key).includes('Widget'),
    )
    await env.crash()
    await env.advance('15m')
    expect(runs).toHaveLength(before)
    back()
    await env.crash()
    await env.settle()
    expect(runs.length).toBeGreaterThan(before)
  })
})

describe('after a long downtime', () => {
  /** Objects that have converged, and a wheel that nobody could turn for two periods. */
  async function comeBack(count: number, run: Parameters<typeof widgets>[1] = () => done()): Promise<void> {
    let isBack = false
    env = await createTestEnv({
      tickMs: 1_000,
      reconcilers: [widgets((runs = []), (widget, ctx) => (isBack ? run(widget, ctx) : done()), { resync: '1h' })],
    })
    for (let i = 0; i < count; i += 1_000)
      await Promise.all(Array.from({ length: Math.min(1_000, count - i) }, (_, j) => create(`w${i + j}`)))
    await env.settle()
    const back = env.faults.always('index.onWheel', { kind: 'error', error: new Error('away') })
    await env.advance('2h')
    back()
    runs.length = 0
    isBack = true
    await env.advance('1s')
  }

  it('few objects run at once, each once', async () => {
    await comeBack(100)
    expect(runs).toHaveLength(100)
    expect(new Set(runs.map(({ name }) => name)).size).toBe(100)
  })

  it('many come a little at a time, and all of them', longOnly, async () => {
    await comeBack(5_000)
    expect(runs.length).toBeGreaterThan(900)
    expect(runs.length).toBeLessThan(2_000)
    await env.advance('1s')
    expect(runs.length).toBeLessThan(2_300)
    await env.advance('10s')
    expect(new Set(runs.map(({ name }) => name)).size).toBe(5_000)
    expect(runs.length).toBeLessThan(5_100)
  })

  it('the next slice waits for the one before', longOnly, async () => {
    await comeBack(3_000, async (_, ctx) => {
      await ctx.sleep('1s')
      return done()
    })
    let most = 0
    for (let i = 0; i < 60; i++) {
      await env.advance('1s')
      const depth = /^workqueue_depth\{.*controller="widget".*\} (\d+)$/m.exec(await env.page('/metrics'))?.[1]
      most = Math.max(most, Number(depth))
    }
    expect(most).toBeGreaterThan(900)
    expect(most).toBeLessThan(2_100)
  })
})

describe('a restart', () => {
  it('runs nothing that is not due, however many objects there are', longOnly, async () => {
    await start({})
    await Promise.all(Array.from({ length: 3_000 }, (_, i) => create(`w${i}`)))
    await env.advance('2h')
    expect(new Set(runs.map(({ name }) => name)).size).toBe(3_000)
    const before = runs.length
    const ofLastTurn = runs.filter(({ atMs }) => atMs === env.nowMs()).map(({ name }) => name)
    await env.crash()
    await env.settle()
    // What was due at the moment of the crash may come again: better twice than not at all.
    expect(ofLastTurn).toEqual(expect.arrayContaining(runs.slice(before).map(({ name }) => name)))
    expect(ofLastTurn.length).toBeLessThan(20)
    const restarted = runs.length
    await env.advance('10m')
    // Fifty of three thousand are due in ten minutes of ten hours.
    expect(Math.abs(runs.length - restarted - 50)).toBeLessThan(30)
  })

  it('repeats the turn of the wheel that was not over', async () => {
    await start({ resync: '10m', concurrency: 1 })
    for (let i = 0; i < 40; i++) await create(`w${i}`)
    await env.advance('1m')
    runs.length = 0
    env.faults.once('store.get', { kind: 'crash' }, ([key]) => JSON.stringify(key).includes('w7'))
    await env.advance('11m')
    expect(new Set(runs.map(({ name }) => name)).size).toBe(40)
  })

  it(
    'with a new controller looks at many objects a little at a time, and begins anew if it dies on the way',
    longOnly,
    async () => {
      env = await createTestEnv({ tickMs: 1_000, kinds: [Widget] })
      for (let i = 0; i < 3_000; i += 1_000)
        await Promise.all(Array.from({ length: 1_000 }, (_, j) => create(`w${i + j}`)))
      await env.advance('1m')
      runs = []
      await env.crash([widgets(runs, () => done(), { resync: false })])
      await env.settle()
      expect(runs.length).toBeGreaterThan(900)
      expect(runs.length).toBeLessThan(1_200)
      await env.crash()
      await env.advance('10s')
      expect(new Set(runs.map(({ name }) => name)).size).toBe(3_000)
      const before = runs.length
      await env.advance('1m')
      await env.crash()
      await env.advance('1m')
      expect(runs.length).toBeLessThanOrEqual(before + 20)
    },
  )

  it('with a controller that was not there before looks at the objects there are', async () => {
    env = await createTestEnv({ tickMs: 60_000, kinds: [Widget] })
    await create()
    await env.advance('1h')
    await env.crash([widgets((runs = []))])
    await env.settle()
    expect(runs).toHaveLength(1)
    await env.advance('1m')
    await env.crash()
    await env.advance('1m')
    expect(runs).toHaveLength(1)
  })
})

describe('an object with a period of its own', () => {
  it('runs by it, shorter or longer than the kind, and shows when', async () => {
    await start({ resync: '1h' })
    await create('often', { 'setpoint.dev/resync': '5m' })
    await create('seldom', { 'setpoint.dev/resync': '24h' })
    await create('never', { 'setpoint.dev/resync': '0' })
    await create('usual')
    await env.settle()
    expect((await widgetOf(env, 'often')).status).toMatchObject({ reconcile: { waiting: 'Resync' } })
    await env.advance('48h')
    const count = (name: string): number => timesOf(runs, name).length - 1
    expect(count('often')).toBe(12 * 48)
    expect(count('seldom')).toBe(2)
    expect(count('never')).toBe(0)
    expect(count('usual')).toBe(48)
  })

  it('follows the annotation as it changes', async () => {
    await start({ resync: '10h' })
    await create()
    await annotate('10m')
    await env.advance('1h')
    const often = runs.length
    expect(often).toBeGreaterThanOrEqual(7)
    await annotate(null)
    await env.settle()
    expect((await widgetOf(env)).status).not.toHaveProperty('reconcile')
    await env.advance('1h')
    expect(runs.length).toBeLessThanOrEqual(often + 2)
  })

  it('keeps the shorter of its period and what the run asked for', async () => {
    env = await createTestEnv({
      tickMs: 60_000,
      reconcilers: [widgets((runs = []), () => again('2m'), { resync: false })],
    })
    await create('w', { 'setpoint.dev/resync': '1h' })
    await env.advance('10m')
    expect(timesOf(runs)).toEqual([0, 120_000, 240_000, 360_000, 480_000, 600_000])
  })

  it('does not try a failing object sooner than its backoff says', async () => {
    env = await createTestEnv({
      tickMs: 60_000,
      reconcilers: [widgets((runs = []), failing(Infinity), { resync: false })],
    })
    await create('w', { 'setpoint.dev/resync': '1s' })
    await env.advance('1h')
    expect(runs.length).toBeGreaterThan(10)
    expect(runs.length).toBeLessThan(25)
  })

  it('with a text that is no period has that of its kind', async () => {
    await start({ resync: '1h' })
    await create('w', { 'setpoint.dev/resync': 'often' })
    await env.advance('3h')
    expect(runs).toHaveLength(4)
  })
})

describe('catching up', () => {
  it('a stopped process that comes back brings every object to its current spec', async () => {
    await start({})
    await create()
    await env.settle()
    env.faults.once('queue:widget.send', { kind: 'crash' })
    await env.patch(Widget, 'w', { spec: { size: 2 } }).catch(() => {})
    await env.settle()
    await env.patch(Widget, 'w', { spec: { size: 3 } })
    await env.settle()
    expect(runs.at(-1)).toMatchObject({ size: 3 })
  })
})
