import * as z from 'zod'
import { afterEach, describe, expect, expectTypeOf, it } from 'vitest'
import {
  again,
  ConfigMap,
  defineKind,
  defineReconciler,
  done,
  reference,
  retryAfter,
  stop,
  withReport,
  waiting,
  type Outcome,
} from '../../shared/index.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'
import { writesOf } from './support/primary.ts'
import { conditionOfWidget, failing, timesOf, Widget, widgetOf, widgets, type RunRecord } from './support/widgets.ts'

/** What a run says when it ends, and what follows from it. */

const Gizmo = defineKind({ group: 'test.setpoint.dev', version: 'v1', kind: 'Gizmo', spec: z.object({}) })

/** A controller whose first runs fail, and when it ran. */
function failingGizmos(failures: number) {
  const atMs: number[] = []
  const gizmos = defineReconciler(Gizmo, {
    resync: false,
    reconcile: async (_, ctx) => {
      atMs.push(ctx.now())
      if (atMs.length <= failures) throw new Error('no luck')
      return done()
    },
  })
  return { gizmos, atMs }
}

let env: TestEnv
let runs: RunRecord[]
afterEach(() => env.close())

const create = (name = 'w'): Promise<unknown> => env.apply(Widget, { metadata: { name }, spec: {} })
const change = (size: number, name = 'w'): Promise<unknown> => env.patch(Widget, name, { spec: { size } })

describe('the result of a run', () => {
  it('A6 D2 done: no failure is remembered, and nothing runs until a trigger or the resync', async () => {
    env = await createTestEnv({ tickMs: 60_000, seed: 23, reconcilers: [widgets((runs = []), failing(2))] })
    await create()
    await env.advance('9h')
    expect(runs).toHaveLength(3)
    expect((await widgetOf(env)).status).not.toHaveProperty('reconcile')
    expect(await conditionOfWidget(env, 'Ready')).toMatchObject({ status: 'True' })
  })

  it('A7 D2 again(0): runs again at once, counts as no failure, and is slowed down if it never ends', async () => {
    env = await createTestEnv({
      reconcilers: [widgets((runs = []), () => (runs.length < 4 ? again(0) : done()))],
    })
    await create()
    await env.settle()
    expect(timesOf(runs)).toEqual([0, 0, 0, 0])
    expect(runs.map(({ attempt }) => attempt)).toEqual([0, 0, 0, 0])
    expect((await widgetOf(env)).status).not.toHaveProperty('reconcile')
    expect(env.logs.filter(({ level }) => level === 'error')).toEqual([])
  })

  it('A7 again(0) that never ends is slowed down, for this object alone, and goes at once again when it has ended', async () => {
    let isEndless = true
    env = await createTestEnv({
      reconcilers: [widgets((runs = []), ({ metadata: { name } }) => (isEndless && name === 'w' ? again(0) : done()))],
    })
    await create()
    await env.settle()
    // A burst at once, and no endless loop: time may pass.
    const burst = runs.length
    expect(burst).toBeGreaterThan(4)
    expect(burst).toBeLessThanOrEqual(100)
    await env.advance('10m')
    const later = runs.length - burst
    expect(later).toBeGreaterThan(0)
    expect(later).toBeLessThan(600)
    await env.apply(Widget, { metadata: { name: 'other' }, spec: {} })
    await env.settle()
    expect(timesOf(runs, 'other')).toEqual([0])
    isEndless = false
    await env.patch(Widget, 'w', { spec: { size: 2 } })
    await env.settle()
    expect((await widgetOf(env)).status).toMatchObject({ observedGeneration: 2 })
    expect(runs.every(({ attempt }) => attempt === 0)).toBe(true)
  })

  it('A8 D2 D4 again(30 s): runs then, not sooner without a trigger, and forgets failures', async () => {
    const plan = [
      () => {
        throw new Error('once')
      },
      () => again('30s'),
      () => {
        throw new Error('twice')
      },
      () => done(),
    ]
    env = await createTestEnv({ reconcilers: [widgets((runs = []), () => (plan[runs.length - 1] ?? done)())] })
    await create()
    await env.advance('29s')
    expect(timesOf(runs)).toEqual([0, 1_000])
    await env.advance('5s')
    expect(timesOf(runs)).toEqual([0, 1_000, 31_000, 32_000])
    expect(runs.map(({ attempt }) => attempt)).toEqual([0, 1, 0, 1])
  })

  it('A8 again, before anything else was said: Ready stays Unknown, and no longer says that it waits for the controller', async () => {
    env = await createTestEnv({ reconcilers: [widgets((runs = []), () => (runs.length < 3 ? again('30s') : done()))] })
    await create()
    await env.settle()
    expect(await conditionOfWidget(env, 'Ready')).toMatchObject({ status: 'Unknown', reason: 'Requeued' })
    await env.advance('1m')
    expect(await conditionOfWidget(env, 'Ready')).toMatchObject({ status: 'True' })
  })

  it('D4 a condition that depends on time is looked at again when it is time', async () => {
    const expiresMs = Date.parse('2026-01-01T12:00:00Z')
    env = await createTestEnv({
      tickMs: 60_000,
      reconcilers: [
        widgets(
          (runs = []),
          (_, ctx) => {
            if (ctx.now() >= expiresMs) return done({ ready: waiting('Expired', 'the certificate has expired') })
            return again(expiresMs - ctx.now(), { ready: true })
          },
          { resync: false },
        ),
      ],
    })
    await create()
    await env.advance('11h')
    expect(await conditionOfWidget(env, 'Ready')).toMatchObject({ status: 'True' })
    await env.advance('1h')
    expect(await conditionOfWidget(env, 'Ready')).toMatchObject({ status: 'False', reason: 'Expired' })
    expect(timesOf(runs)).toEqual([0, 12 * 3_600_000])
  })

  it('A9 B14 D29 throw: 1 s, 2 s, 4 s … with chance in the upper half, 1000 s at most, and never given up', async () => {
    env = await createTestEnv({ tickMs: 60_000, reconcilers: [widgets((runs = []), failing(Infinity))] })
    await create()
    await env.advance('5h')
    const waits = timesOf(runs)
      .slice(1)
      .map((at, i) => at - (timesOf(runs)[i] ?? 0))
    expect(waits[0]).toBe(1_000)
    for (const [i, wait] of waits.entries()) {
      const ceiling = Math.min(1_000_000, 1_000 * 2 ** i)
      expect(wait).toBeLessThanOrEqual(ceiling)
      expect(wait).toBeGreaterThanOrEqual(ceiling / 2)
    }
    expect(waits.length).toBeGreaterThan(20)
  })

  it('A9 all retries together stay within a budget, if there is one, and none is lost', async () => {
    let fails = 300
    env = await createTestEnv({
      retryBudget: { perSecond: 10, burst: 100 },
      reconcilers: [
        widgets(
          (runs = []),
          () => {
            if (fails-- > 0) throw new Error('no luck')
            return done()
          },
          // Among so many, the wheel comes to one within the minute.
          { resync: false },
        ),
      ],
    })
    for (let i = 0; i < 300; i++) await create(`w${i}`)
    await env.settle()
    expect(runs).toHaveLength(300)
    const begunMs = env.nowMs()
    await env.advance('1m')
    const retries = runs.slice(300).map(({ atMs }) => atMs - begunMs)
    expect(retries).toHaveLength(300)
    expect(retries.filter((ms) => ms <= 1_000).length).toBeLessThanOrEqual(111)
    for (let second = 2; second < 20; second++) {
      expect(retries.filter((ms) => ms > second * 1_000 && ms <= (second + 1) * 1_000).length).toBeLessThanOrEqual(11)
    }
  })

  it('A9 the budget is of all controllers together, and who is woken again and again takes no more of it', async () => {
    const { gizmos, atMs } = failingGizmos(2)
    env = await createTestEnv({
      retryBudget: { perSecond: 0.1, burst: 1 },
      reconcilers: [widgets((runs = []), failing(Infinity), { resync: false }), gizmos],
    })
    await create()
    await env.settle()
    for (let i = 0; i < 20; i++) {
      await env.patch(Widget, 'w', { metadata: { labels: { poke: `p${i}` } } })
      await env.settle()
    }
    expect(runs.length).toBeGreaterThan(10)
    const begunMs = env.nowMs()
    await env.apply(Gizmo, { metadata: { name: 'g' }, spec: {} })
    await env.advance('1m')
    // One retry in ten seconds, for both: the widget's next ones stand between.
    const retries = atMs.slice(1).map((ms) => Math.round((ms - begunMs) / 1_000))
    expect(retries).toHaveLength(2)
    expect(retries[0]).toBeGreaterThanOrEqual(10)
    expect(retries[0]).toBeLessThanOrEqual(20)
    expect(retries[1]).toBeLessThanOrEqual(40)
  })

  it('A9 an error that asks for a retry within a time stays within the budget of all, and leaves others their turn', async () => {
    const { gizmos, atMs } = failingGizmos(1)
    const hasty = (): never => {
      throw withReport(new Error('no luck'), { retryWithin: '2s' })
    }
    env = await createTestEnv({
      retryBudget: { perSecond: 1, burst: 1 },
      reconcilers: [widgets((runs = []), hasty, { resync: false }), gizmos],
    })
    for (let i = 0; i < 20; i++) await create(`w${i}`)
    await env.settle()
    const before = runs.length
    await env.advance('1m')
    expect(runs.length - before).toBeGreaterThanOrEqual(50)
    expect(runs.length - before).toBeLessThanOrEqual(61)
    await env.apply(Gizmo, { metadata: { name: 'g' }, spec: {} })
    await env.advance('30s')
    expect(atMs).toHaveLength(2)
  })

  it('A9 who is woken ahead of its place in a line of hours keeps the place, and loses no attempt', async () => {
    const away = (): never => {
      throw new Error('away')
    }
    env = await createTestEnv({
      retryBudget: { burst: 1, perSecond: 0.001 },
      tickMs: 60_000,
      reconcilers: [widgets((runs = []), away, { resync: '1000h' })],
    })
    for (let i = 0; i < 10; i++) await create(`w${i}`)
    await env.settle()
    const placeOf = async (name: string): Promise<{ attempt?: number; nextRunAt?: string } | undefined> =>
      ((await env.get(Widget, name))?.status as Readonly<Record<string, object>> | undefined)?.['reconcile']
    const { attempt, nextRunAt } = (await placeOf('w9')) ?? {}
    for (let i = 0; i < 20; i++) {
      await env.patch(Widget, 'w9', { metadata: { labels: { at: `${i}` } } })
      await env.settle()
    }
    expect(await placeOf('w9')).toMatchObject({ attempt, nextRunAt })
  })

  it('A10 after a success the next failure starts from the beginning', async () => {
    let fails = 5
    env = await createTestEnv({
      reconcilers: [
        widgets((runs = []), () => {
          if (fails-- > 0) throw new Error('no luck')
          return done()
        }),
      ],
    })
    await create()
    await env.advance('2m')
    fails = 1
    await env.patch(Widget, 'w', { metadata: { labels: { a: 'b' } } })
    await env.settle()
    const failedAt = timesOf(runs).at(-1) ?? 0
    await env.advance('1s')
    expect((timesOf(runs).at(-1) ?? 0) - failedAt).toBe(1_000)
  })

  it('A11 a time and a failure at once cannot be said', async () => {
    expectTypeOf(done()).not.toHaveProperty('afterMs')
    expectTypeOf<Outcome>().toHaveProperty('kind').toEqualTypeOf<'done' | 'again'>()
    // @ts-expect-error -- an outcome has no error
    const both: Outcome = { kind: 'again', afterMs: 1, error: new Error('both') }
    expect(both.kind).toBe('again')
    defineReconciler(Widget, {
      // @ts-expect-error -- a run that says nothing is no outcome
      reconcile: async () => {},
    })
    defineReconciler(Widget, {
      // @ts-expect-error -- an error is thrown, not returned
      reconcile: async () => new Error('returned'),
    })
    env = await createTestEnv({ reconcilers: [widgets((runs = []), () => 'nonsense' as unknown as Outcome<object>)] })
    await create()
    await env.settle()
    expect((await widgetOf(env)).status).toMatchObject({
      reconcile: { waiting: 'Backoff', lastError: expect.stringContaining('returns done(…) or again(…)') },
    })
  })

  it('A35 D3 not ready yet: comes again, with a reason, no error in the log and no failure counted', async () => {
    const notReady = waiting('DependencyNotReady', 'the database is starting')
    env = await createTestEnv({ reconcilers: [widgets((runs = []), () => again('30s', { ready: notReady }))] })
    await create()
    await env.advance('2m')
    expect(timesOf(runs)).toEqual([0, 30_000, 60_000, 90_000, 120_000])
    expect(await conditionOfWidget(env, 'Ready')).toMatchObject({ status: 'False', reason: 'DependencyNotReady' })
    expect(env.logs.filter(({ level }) => level === 'error' || level === 'warn')).toEqual([])
    expect(runs.every(({ attempt }) => attempt === 0)).toBe(true)
    const metrics = await env.page('/metrics')
    expect(metrics).toContain('controller_runtime_reconcile_errors_total{controller="widget"} 0\n')
    expect(metrics).toContain('controller_runtime_reconcile_total{controller="widget",result="requeue_after"} 5\n')
  })

  it('stop: nothing is tried again until something changes', async () => {
    env = await createTestEnv({
      tickMs: 60_000,
      reconcilers: [
        widgets((runs = []), ({ spec }) => {
          if (spec.size === 1) throw stop('TooSmall', 'size 1 is too small')
          return done()
        }),
      ],
    })
    await create()
    await env.advance('5h')
    expect(runs.length).toBeLessThanOrEqual(2)
    expect(await conditionOfWidget(env, 'Stalled')).toMatchObject({ status: 'True', reason: 'TooSmall' })
    await change(2)
    await env.settle()
    expect(await conditionOfWidget(env, 'Stalled')).toBeUndefined()
  })

  it.each([
    { change: 'what it refers to', act: () => env.patch(ConfigMap, 'parts', { data: { a: '2' } }) },
    { change: 'its labels', act: () => env.patch(Widget, 'w', { metadata: { labels: { a: 'b' } } }) },
    {
      change: 'the token that asks for a run',
      act: () =>
        env.patch(Widget, 'w', { metadata: { annotations: { 'setpoint.dev/reconcile-requested-at': 'now' } } }),
    },
  ])('stop: a change of $change runs it again, and a restart does not', async ({ act }) => {
    env = await createTestEnv({
      tickMs: 60_000,
      reconcilers: [
        widgets(
          (runs = []),
          () => {
            throw stop('PartsWrong', 'these parts do not fit')
          },
          { watches: [reference(ConfigMap, ({ spec }) => spec.partsRef)], resync: false },
        ),
      ],
    })
    await env.apply(ConfigMap, { metadata: { name: 'parts' }, data: { a: '1' } })
    await env.apply(Widget, { metadata: { name: 'w' }, spec: { partsRef: { name: 'parts' } } })
    await env.advance('1h')
    expect(runs).toHaveLength(1)
    await env.crash()
    await env.advance('1h')
    expect(runs).toHaveLength(1)
    await act()
    await env.settle()
    expect(runs).toHaveLength(2)
    expect(await conditionOfWidget(env, 'Stalled')).toMatchObject({ status: 'True', reason: 'PartsWrong' })
  })

  it('retryAfter: exactly as long as the far side asked for, and no failure', async () => {
    env = await createTestEnv({
      reconcilers: [
        widgets((runs = []), () => {
          if (runs.length === 1) throw retryAfter('15s', new Error('429'))
          return done()
        }),
      ],
    })
    await create()
    await env.advance('1m')
    expect(timesOf(runs)).toEqual([0, 15_000])
    expect(runs.map(({ attempt }) => attempt)).toEqual([0, 0])
  })
})

describe('level, not edge', () => {
  it('A1 a lost trigger changes nothing in the end: the next one brings the current spec', async () => {
    env = await createTestEnv({
      tickMs: 60_000,
      reconcilers: [widgets((runs = []), ({ spec }) => done({ status: { size: spec.size } }), { resync: '1h' })],
    })
    await create()
    await env.settle()
    const back = env.faults.always('queue:widget.send', { kind: 'lost' })
    await change(2)
    await env.advance('1m')
    back()
    expect((await widgetOf(env)).status).toMatchObject({ size: 1, observedGeneration: 1 })
    await change(3)
    await env.settle()
    expect((await widgetOf(env)).status).toMatchObject({ size: 3, observedGeneration: 3 })
  })

  it('A1 a lost trigger that no other follows is made up for by the sweep', async () => {
    env = await createTestEnv({
      tickMs: 60_000,
      reconcilers: [widgets((runs = []), ({ spec }) => done({ status: { size: spec.size } }), { resync: '1h' })],
    })
    await create()
    await env.settle()
    const back = env.faults.always('queue:widget.send', { kind: 'lost' })
    await change(2)
    await env.settle()
    back()
    expect(runs).toHaveLength(1)
    await env.advance('1h')
    // By the resync; on AWS by the timer that the change itself has set, and then by the resync.
    expect(runs.length).toSatisfy((count: number) => count === 2 || count === 3)
    expect(runs[1]).toMatchObject({ size: 2 })
    expect((await widgetOf(env)).status).toMatchObject({ size: 2, observedGeneration: 2 })
  })

  it('A1 a trigger that comes twice, because its sender never heard that it had arrived, changes nothing either', async () => {
    env = await createTestEnv({
      reconcilers: [widgets((runs = []), ({ spec }) => done({ status: { size: spec.size } }))],
    })
    await create()
    await env.settle()
    env.faults.once('queue:widget.send', { kind: 'unknown', error: new Error('sent, and then an error') })
    await change(2)
    await env.advance('1m')
    expect((await widgetOf(env)).status).toMatchObject({ size: 2, observedGeneration: 2 })
  })

  it('A2 a hundred edits end in the last one, with far fewer runs', async () => {
    env = await createTestEnv({
      reconcilers: [
        widgets((runs = []), async ({ spec }, ctx) => {
          await ctx.sleep('100ms')
          return done({ status: { size: spec.size } })
        }),
      ],
    })
    await create()
    for (let size = 1; size <= 100; size++) {
      await change(size)
      if (size % 10 === 0) await env.advance('100ms')
    }
    await env.advance('1s')
    expect((await widgetOf(env)).status).toMatchObject({ size: 100 })
    expect(runs.length).toBeLessThan(25)
  })

  it('A3 the object is read when its run begins, not when it was woken', async () => {
    env = await createTestEnv({
      reconcilers: [
        widgets(
          (runs = []),
          async ({ metadata }, ctx) => {
            if (metadata.name === 'busy') await ctx.sleep('10s')
            return done()
          },
          { concurrency: 1 },
        ),
      ],
    })
    await create('busy')
    await env.settle()
    await create('w')
    await change(2)
    await change(3)
    await env.advance('10s')
    expect(runs.filter(({ name }) => name === 'w').map(({ size }) => size)).toEqual([3])
  })

  it('A4 many triggers while a key waits are one run, and while it runs exactly one more', async () => {
    env = await createTestEnv({
      reconcilers: [
        widgets(
          (runs = []),
          async (_, ctx) => {
            await ctx.sleep('1s')
            return done()
          },
          { concurrency: 1 },
        ),
      ],
    })
    await create('busy')
    await env.settle()
    await create('w')
    for (let size = 2; size <= 9; size++) await change(size)
    await env.advance('1500ms')
    expect(timesOf(runs)).toHaveLength(1)
    for (let size = 10; size <= 19; size++) await change(size)
    await env.advance('10s')
    expect(timesOf(runs)).toHaveLength(2)
  })

  it('A5 from an API write to a child, its owner once more, and then quiet', async () => {
    env = await createTestEnv({
      reconcilers: [
        widgets(
          (runs = []),
          async (widget, ctx) => {
            await ctx.apply(ConfigMap, {
              metadata: { name: widget.metadata.name },
              data: { size: String(widget.spec.size) },
            })
            return done({ status: { size: widget.spec.size } })
          },
          { owns: [ConfigMap] },
        ),
      ],
    })
    await create()
    await env.settle()
    expect(await env.get(ConfigMap, 'w')).toMatchObject({ data: { size: '1' } })
    expect(runs).toHaveLength(2)
    await env.advance('1h')
    expect(runs.length).toBe(2)
  })

  it('A34 an equal status is not written, and a different one is, once', async () => {
    env = await createTestEnv({
      reconcilers: [widgets((runs = []), ({ spec }) => done({ status: { size: spec.size } }))],
    })
    await create()
    await env.settle()
    /** Which writes are of the status. */
    const writesSince = (count: number): readonly boolean[] =>
      writesOf(env, 'Widget', 'w')
        .slice(count)
        .map(({ touched }) => touched.includes('status'))
    const before = writesSince(0).length
    await env.patch(Widget, 'w', { metadata: { labels: { a: 'b' } } })
    await env.settle()
    expect(runs).toHaveLength(2)
    expect(writesSince(before)).toEqual([false])
    await change(2)
    await env.settle()
    expect(runs).toHaveLength(3)
    expect(writesSince(before)).toEqual([false, false, true])
    expect((await widgetOf(env)).status).toMatchObject({ size: 2, observedGeneration: 2 })
    await env.patch(Widget, 'w', { metadata: { labels: { a: 'c' } } })
    await env.settle()
    expect(runs).toHaveLength(4)
    expect(writesSince(before)).toEqual([false, false, true, false])
  })

  it('A37 a status that was wiped is there again after the next run', async () => {
    env = await createTestEnv({
      reconcilers: [widgets((runs = []), ({ spec }) => done({ status: { size: spec.size } }))],
    })
    await create()
    await env.settle()
    const before = (await widgetOf(env)).status
    expect(before).toMatchObject({ size: 1, conditions: [{ type: 'Ready', status: 'True' }] })
    await env.patch(Widget, 'w', { status: null }, { subresource: 'status' })
    expect((await widgetOf(env)).status).not.toHaveProperty('size')
    await env.patch(Widget, 'w', { metadata: { labels: { a: 'b' } } })
    await env.settle()
    expect((await widgetOf(env)).status).toEqual(before)
  })
})
