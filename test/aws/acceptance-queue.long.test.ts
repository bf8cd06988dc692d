import { afterEach, describe, expect, it } from 'vitest'
import { again, conditionOf, ConfigMap, done, mapped, type Context } from '../../shared/index.ts'
import { OperatingError } from '../../shared/model/errors.ts'
import type { ObjectKey } from '../../shared/model/object-key.ts'
import { awsEngine } from '../../shared/testing-aws/aws-engine.ts'
import { createTestEnv, type TestEnv, type TestEnvOptions } from '../../shared/testing/test-env.ts'
import { failing, timesOf, Widget, widgets, type RunRecord, type WidgetObject } from '../acceptance/support/widgets.ts'

/**
 * What the source documents ask for, where the tests of test/acceptance rely on the queue of one process: the same
 * numbers on `awsEngine`, whose queues have the rules of SQS FIFO.
 */

let env: TestEnv
let runs: RunRecord[]
afterEach(() => env.close())

type Run = (widget: WidgetObject, ctx: Context) => Promise<void> | void

async function start(run: Run, options: Parameters<typeof widgets>[2] = {}, more: TestEnvOptions = {}): Promise<void> {
  const ended = async (widget: WidgetObject, ctx: Context) => {
    await run(widget, ctx)
    return done()
  }
  env = await createTestEnv({ ...more, engine: awsEngine, reconcilers: [widgets((runs = []), ended, options)] })
}

const create = (name = 'w'): Promise<unknown> => env.apply(Widget, { metadata: { name }, spec: {} })
const change = (size: number, name = 'w'): Promise<unknown> => env.patch(Widget, name, { spec: { size } })
const sizesOf = (name: string): readonly number[] => runs.filter((run) => run.name === name).map(({ size }) => size)

/** Of keys that come one by one each is a batch, and two batches are run at once where 20 keys may be. */
const two = { concurrency: 20, resync: false } as const

async function occupy(): Promise<void> {
  for (const name of ['busy-1', 'busy-2']) {
    await create(name)
    await env.settle()
  }
}

describe('level, not edge', () => {
  it('A3 an object that was woken three times is read when its run begins', async () => {
    await start(({ metadata: { name } }, ctx) => (name.startsWith('busy') ? ctx.sleep('10s') : undefined), two)
    await occupy()
    await create()
    await change(2)
    await change(3)
    await env.advance('10s')
    expect(sizesOf('w')).toEqual([3])
  })

  it('A4 the triggers of a key that wait are one run, as many as come in one batch', async () => {
    await start((_, ctx) => ctx.sleep('1s'), two)
    await occupy()
    await create()
    for (let size = 2; size <= 9; size++) await change(size)
    await env.advance('1500ms')
    expect(timesOf(runs)).toHaveLength(1)
    for (let size = 10; size <= 19; size++) await change(size)
    await env.advance('10s')
    expect(timesOf(runs)).toHaveLength(2)
  })

  it('A4 but where a batch is one message, each is a run', async () => {
    await start((_, ctx) => ctx.sleep('1s'), { concurrency: 2, resync: false })
    await occupy()
    await create()
    for (let size = 2; size <= 9; size++) await change(size)
    await env.advance('1m')
    expect(sizesOf('w')).toEqual(Array.from({ length: 9 }, () => 9))
  })
})

describe('many keys', () => {
  it('A24 where one is to run at once two do: Lambda cannot be held to less', async () => {
    let running = 0
    let most = 0
    await start(
      async (_, ctx) => {
        most = Math.max(most, ++running)
        await ctx.sleep('1s')
        running--
      },
      { concurrency: 1 },
    )
    for (let i = 0; i < 10; i++) await create(`w${i}`)
    await env.advance('1m')
    expect([runs.length, most]).toEqual([10, 2])
  })

  const dawdle: Run = async ({ metadata: { name } }, ctx) => {
    if (name === 'long') await ctx.sleep('40s')
    if (name === 'endless') await ctx.sleep('1h')
  }

  it('A27 a long run delays no other key, is warned of, and ended by its timeout', async () => {
    // Four batches are run at once.
    await start(dawdle, { timeout: '1m', concurrency: 40 })
    for (const name of ['long', 'endless']) {
      await create(name)
      await env.advance('1s')
    }
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

  it('A27 but as many long runs as batches are run at once keep all others waiting until one of them ends', async () => {
    await start(dawdle, { timeout: '1m' })
    for (const name of ['long', 'endless']) {
      await create(name)
      await env.advance('1s')
    }
    await create('quick')
    await env.advance('37s')
    expect(sizesOf('quick')).toEqual([])
    await env.advance('1s')
    expect(sizesOf('quick')).toEqual([1])
  })
})

describe('who goes first, with one lane', () => {
  /** How long a change of this object waits for its run. */
  async function waitOfEdit(name: string, size: number): Promise<number> {
    const atMs = env.nowMs()
    await change(size, name)
    const seen = (): number => runs.findIndex((run) => run.name === name && run.size === size)
    await env.eventually(() => expect(seen()).toBeGreaterThanOrEqual(0))
    return (runs[seen()]?.atMs ?? Infinity) - atMs
  }

  it("D26 a user's change goes ahead of hundreds of objects that another change wakes", async () => {
    const count = 400
    const all = Array.from({ length: count }, (_, i) => ({ name: `w${i}` }))
    const watches = [mapped(ConfigMap, () => all)]
    await start((_, ctx) => ctx.sleep('100ms'), { watches, resync: false })
    for (const { name } of all) await create(name)
    await create('edited')
    await env.advance('1m')
    runs.length = 0
    await env.apply(ConfigMap, { metadata: { name: 'shared' }, data: {} })
    const waits: number[] = []
    for (let size = 2; size < 30; size++) {
      waits.push(await waitOfEdit(size % 2 === 0 ? 'edited' : `w${count - size}`, size))
      await env.advance('3s')
    }
    // A batch that is under way, and what it holds of the key itself.
    expect(Math.max(...waits)).toBeLessThanOrEqual(1_000)
    await env.advance('3m')
    expect(new Set(runs.map(({ name }) => name)).size).toBe(count + 1)
  })

  it("D26 a user's change goes ahead of the resync, and the resync is not starved", async () => {
    await start((_, ctx) => ctx.sleep('100ms'), { resync: '10m' })
    for (let i = 0; i < 300; i++) await create(`w${i}`)
    await create('edited')
    await env.advance('1m')
    runs.length = 0
    const waits: number[] = []
    for (let size = 2; size < 42; size++) {
      waits.push(await waitOfEdit('edited', size))
      await env.advance('15s')
    }
    expect(Math.max(...waits)).toBeLessThanOrEqual(1_000)
    expect(new Set(runs.map(({ name }) => name)).size).toBeGreaterThan(250)
  })
})

it('a change of a child during a run that ends in a short wait is seen when that wait is over', async () => {
  const run = async (_: WidgetObject, ctx: Context) => {
    await ctx.apply(ConfigMap, { metadata: { name: 'child' }, data: { a: '1' } })
    await ctx.sleep('1s')
    return again('40s')
  }
  env = await createTestEnv({ engine: awsEngine, reconcilers: [widgets((runs = []), run, { owns: [ConfigMap] })] })
  await create()
  await env.advance('41500ms')
  await env.patch(ConfigMap, 'child', { data: { a: 'edited' } })
  await env.advance('2m')
  expect(timesOf(runs).slice(0, 3)).toEqual([0, 41_000, 82_000])
  expect(await env.get(ConfigMap, 'child')).toMatchObject({ data: { a: '1' } })
})

it('a crash between the write of a wait and its beginning costs no attempt, and as long as the visibility timeout', async () => {
  const fails = failing(1)
  env = await createTestEnv({ engine: awsEngine, reconcilers: [widgets((runs = []), fails, { timeout: '30s' })] })
  env.faults.once('queue:widget.hold', { kind: 'crash' })
  await create()
  await env.advance('10m')
  // Six times what the function may take: the run and 15 seconds.
  expect(timesOf(runs)).toEqual([0, 270_000])
  expect(runs.map(({ attempt }) => attempt)).toEqual([0, 1])
})

it('a crash in a sweep is made up for: the process starts, though more is due than the queue has room for, and all run', async () => {
  await start(() => {}, { resync: '10m', concurrency: 1, timeout: '30s' })
  for (let i = 0; i < 40; i++) await create(`w${i}`)
  await env.advance('1m')
  runs.length = 0
  env.faults.once('store.get', { kind: 'crash' }, ([key]) => (key as ObjectKey).name === 'w7')
  await env.advance('11m')
  // What the process had in hand comes again when its visibility timeout ends.
  expect(new Set(runs.map(({ name }) => name)).size).toBeGreaterThanOrEqual(39)
  await env.advance('5m')
  expect(new Set(runs.map(({ name }) => name)).size).toBe(40)
})

it('D12 a message that no turn can end is given up after ten receipts, and delays no other: the object says so, and runs again later', async () => {
  await start(() => {}, { resync: false })
  // The first look is the API's, as it creates the object.
  let looks = 0
  const isAway = ([key]: readonly unknown[]): boolean => (key as ObjectKey).name === 'w' && looks++ > 0
  const error = new OperatingError('UNAVAILABLE', 'this object cannot be read')
  const heal = env.faults.always('store.get', { kind: 'error', error }, isAway)
  await create()
  await env.advance('15m')
  const told = env.logs.filter(({ message }) => message.startsWith('dead letter not processed'))
  expect(told.length).toBeGreaterThan(0)
  await create('other')
  await env.settle()
  expect([sizesOf('w'), sizesOf('other')]).toEqual([[], [1]])
  heal()
  await env.eventually(async () => expect(await readyReason()).toBe('RunNotEnded'), '10m')
  await env.eventually(async () => expect(await readyReason()).toBe('Reconciled'), '30m')
})

async function readyReason(): Promise<string | undefined> {
  const widget = await env.get(Widget, 'w')
  return widget && conditionOf(widget, 'Ready')?.reason
}
