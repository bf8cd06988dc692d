import { afterEach, describe, expect, it } from 'vitest'
import {
  again,
  defineReconciler,
  done,
  expectation,
  retryAfter,
  stop,
  waiting,
  type Context,
  type Outcome,
  type StatusOf,
} from '../../shared/index.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'
import { Part, Widget, writesDuring } from './support/primary.ts'

/** ExpectationManager, in our words: an `expectation` by name, kept with the object, so that a restart forgets none. */

let env: TestEnv
afterEach(() => env.close())

const partDone = expectation<Widget>('PartDone', {
  within: '2m',
  met: async (_, ctx) => (await ctx.get(Part, 'p'))?.status?.done === true,
})
const never = expectation<Widget>('Never', { within: '30s', met: () => false })

type Run = (widget: Widget, ctx: Context) => Promise<Outcome<StatusOf<Widget>>>
interface RunRecord {
  readonly atMs: number
  readonly found: string
}

/** The sample of the document: makes a part, expects it to be done, says how that went. */
const sample =
  (runs: RunRecord[]): Run =>
  async (widget, ctx) => {
    const found = await partDone.check(widget, ctx)
    runs.push({ atMs: ctx.now(), found: found ?? 'none' })
    switch (found) {
      case 'ongoing':
        return done({ ready: waiting('PartPending', 'the part is being made') })
      case 'met':
        return done({ status: { message: 'the part is done' } })
      case 'timedOut':
        return done({ status: { message: 'the part takes too long' }, ready: waiting('PartLate', 'no part in time') })
      case undefined:
        await ctx.apply(Part, { metadata: { name: 'p' }, spec: {} })
        return (await partDone.setUnlessMet(widget, ctx))
          ? done({ ready: waiting('PartPending', 'the part is being made') })
          : done({ status: { message: 'the part was done already' } })
    }
  }

async function start(reconcile: Run): Promise<void> {
  env = await createTestEnv({
    tickMs: 60_000,
    kinds: [Part],
    reconcilers: [defineReconciler(Widget, { owns: [Part], reconcile })],
  })
  await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
  await env.settle()
}

const finish = () => env.patch(Part, 'p', { status: { done: true } }, { subresource: 'status' })
let touches = 0
const touch = () => env.patch(Widget, 'w', { metadata: { annotations: { touched: String(++touches) } } })
const statusOf = async () => (await env.get(Widget, 'w'))?.status

describe('an expectation', () => {
  it('J35 that is ongoing ends a run early, which then writes nothing', async () => {
    const runs: RunRecord[] = []
    await start(sample(runs))
    expect(await writesDuring(env, 'w', touch)).toHaveLength(1)
    expect(runs.map(({ found }) => found).slice(-1)).toEqual(['ongoing'])
    expect(await statusOf()).toMatchObject({
      conditions: [{ reason: 'PartPending' }],
      reconcile: { waiting: 'Expectation', expectations: { PartDone: '2026-01-01T00:02:00.000Z' } },
    })
  })

  it('J36 that comes true is met, once, and then forgotten', async () => {
    const runs: RunRecord[] = []
    await start(sample(runs))
    await env.advance('1m')
    await finish()
    await env.settle()
    expect(runs.at(-1)?.found).toBe('met')
    expect(await statusOf()).toMatchObject({ message: 'the part is done', conditions: [{ status: 'True' }] })
    expect(await statusOf()).not.toHaveProperty('reconcile')
  })

  it('J37 that does not come true in time has timed out, and says so until it is forgotten', async () => {
    const found: (string | undefined)[] = []
    let forgets = false
    await start(async (widget, ctx) => {
      found.push(await never.check(widget, ctx))
      if (forgets) never.forget(ctx)
      else if (found.length === 1) never.set(ctx)
      return done({ status: { message: found.at(-1) ?? 'none' } })
    })
    await env.advance('31s')
    expect(await statusOf()).toMatchObject({
      message: 'timedOut',
      reconcile: { expectations: { Never: expect.any(String) } },
    })
    await touch()
    await env.settle()
    expect(found.at(-1)).toBe('timedOut')
    forgets = true
    await touch()
    await touch()
    await env.settle()
    await touch()
    await env.settle()
    expect(found.at(-1)).toBeUndefined()
    expect(await statusOf()).not.toHaveProperty('reconcile')
  })

  it('J37 that has timed out wakes its object once, not again and again', async () => {
    const runs: RunRecord[] = []
    await start(sample(runs))
    await env.advance('1h')
    expect(runs.map(({ found }) => found)).toEqual(['none', 'ongoing', 'timedOut'])
    expect(await statusOf()).toMatchObject({ message: 'the part takes too long' })
  })

  it('J40 whose deadline passes while a run is under way wakes its object once more', async () => {
    const runs: string[] = []
    await start(async (widget, ctx) => {
      const found = await never.check(widget, ctx)
      runs.push(found ?? 'none')
      if (found === undefined) never.set(ctx)
      if (found === 'ongoing') await ctx.sleep('10s')
      return done({ ready: waiting('PartPending', 'the part is being made') })
    })
    await env.advance('25s')
    await env.patch(Widget, 'w', { spec: { size: 2 } })
    await env.advance('1h')
    expect(runs).toEqual(['none', 'ongoing', 'timedOut'])
  })

  it('J36 that comes true too late is met all the same', async () => {
    const runs: RunRecord[] = []
    await start(sample(runs))
    await env.advance('3m')
    await finish()
    await env.settle()
    expect(runs.map(({ found }) => found).slice(-2)).toEqual(['timedOut', 'met'])
  })

  it('J38 is known by its name: another has no result', async () => {
    const found: (string | undefined)[] = []
    await start(async (widget, ctx) => {
      partDone.set(ctx)
      found.push(await never.check(widget, ctx), await partDone.check(widget, ctx))
      return done()
    })
    expect(found.slice(0, 2)).toEqual([undefined, 'ongoing'])
  })

  it('J39 of what holds already is not set', async () => {
    const expected: boolean[] = []
    await start(async (widget, ctx) => {
      await ctx.apply(Part, { metadata: { name: 'p' }, spec: {} })
      await ctx.patch(Part, 'p', { status: { done: true } }, { subresource: 'status' })
      expected.push(await partDone.setUnlessMet(widget, ctx), await never.setUnlessMet(widget, ctx))
      return done()
    })
    expect(expected.slice(0, 2)).toEqual([false, true])
    expect(await statusOf()).toMatchObject({ reconcile: { expectations: { Never: expect.any(String) } } })
    expect(await statusOf()).not.toHaveProperty('reconcile.expectations.PartDone')
  })

  it('J40 wakes its object at its deadline without any event, and a restart changes nothing', async () => {
    const runs: RunRecord[] = []
    await start(sample(runs))
    await env.advance('50s')
    await env.crash()
    await env.advance('69s')
    expect(runs.map(({ found }) => found)).not.toContain('timedOut')
    await env.advance('1s')
    expect(runs.at(-1)).toEqual({ atMs: (runs[0]?.atMs ?? 0) + 120_000, found: 'timedOut' })
  })

  it('J40 is set by a run even if that run then fails', async () => {
    let fails = true
    await start(async (_, ctx) => {
      if (!fails) return done()
      never.set(ctx)
      fails = false
      throw new Error('no luck')
    })
    expect(await statusOf()).toMatchObject({
      reconcile: { waiting: 'Backoff', expectations: { Never: expect.any(String) } },
    })
  })

  it('J41 goes with its object: one of the same name expects nothing', async () => {
    const runs: RunRecord[] = []
    await start(sample(runs))
    await env.delete(Widget, 'w')
    await env.settle()
    await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
    await env.settle()
    expect(runs.filter(({ found }) => found === 'none')).toHaveLength(2)
  })

  it('J41 wakes nobody when its object is gone', async () => {
    const runs: RunRecord[] = []
    await start(sample(runs))
    await env.delete(Widget, 'w')
    await env.settle()
    const before = runs.length
    expect(before).toBeGreaterThan(0)
    await env.advance('10m')
    expect(runs).toHaveLength(before)
  })
})

describe('the deadline beside other waits', () => {
  const rows: readonly { readonly end: () => Outcome; readonly nextMs: number; readonly because: string }[] = [
    { end: () => done(), nextMs: 30_000, because: 'an object at rest waits for it alone' },
    { end: () => again('1h'), nextMs: 30_000, because: 'a timer is "at the latest"' },
    { end: () => again('10s'), nextMs: 10_000, because: 'an earlier timer comes earlier' },
    {
      end: () => {
        throw retryAfter('1m', 'busy')
      },
      nextMs: 60_000,
      because: 'the far side said when',
    },
  ]

  it.each(rows)('J40 the next run comes after $nextMs ms: $because', async ({ end, nextMs }) => {
    const timesMs: number[] = []
    await start(async (_, ctx) => {
      timesMs.push(ctx.now())
      if (timesMs.length > 1) return done()
      never.set(ctx)
      return end()
    })
    await env.advance('2h')
    expect((timesMs[1] ?? 0) - (timesMs[0] ?? 0)).toBe(nextMs)
  })

  it('J40 a stopped object is not woken, since nothing would help', async () => {
    let runs = 0
    await start(async (_, ctx) => {
      runs++
      never.set(ctx)
      throw stop('Broken', 'nothing helps')
    })
    await env.advance('1h')
    expect(runs).toBe(1)
  })

  it('J40 a pause keeps what is expected, and its end brings the deadline back', async () => {
    const runs: RunRecord[] = []
    await start(sample(runs))
    const pause = (value: string | null) =>
      env.patch(Widget, 'w', { metadata: { annotations: { 'setpoint.dev/paused': value } } })
    await pause('true')
    await env.advance('1m')
    await pause(null)
    await env.settle()
    expect(runs.at(-1)?.found).toBe('ongoing')
    await env.advance('1m')
    expect(runs.at(-1)?.found).toBe('timedOut')
  })
})
