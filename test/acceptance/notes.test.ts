import { afterEach, describe, expect, it } from 'vitest'
import { done, stop, withReport, type Context, type Outcome } from '../../shared/index.ts'
import { OperatingError } from '../../shared/model/errors.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'
import {
  conditionOfWidget,
  timesOf,
  Widget,
  widgetOf,
  widgets,
  type RunRecord,
  type WidgetStatus,
} from './support/widgets.ts'

/** What a run leaves to later ones: notes, the time of the next resync, and what a failure says of the object. */

let env: TestEnv
let runs: RunRecord[]
afterEach(() => env.close())

const create = (): Promise<unknown> => env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
const change = (size: number): Promise<unknown> => env.patch(Widget, 'w', { spec: { size } })

type Run = (ctx: Context) => Outcome<WidgetStatus> | Promise<Outcome<WidgetStatus>>

async function started(run: Run): Promise<void> {
  env = await createTestEnv({ reconcilers: [widgets((runs = []), (_, ctx) => run(ctx))] })
  await create()
  await env.settle()
}

/** The process dies in the first run, after this. The next process has the object ten minutes later. */
async function diedOnce(work: (ctx: Context) => Promise<void>): Promise<void> {
  await started(async (ctx) => {
    await work(ctx)
    return runs.length === 1 ? new Promise(() => {}) : done()
  })
  await env.crash()
  // On AWS what the process had in hand comes again after its visibility timeout.
  await env.advance('10m')
}

describe('notes', () => {
  it('are there in the next run, after a failure and a crash too, and no client sees them', async () => {
    const seen: unknown[] = []
    await started((ctx) => {
      seen.push(ctx.notes.get('count'))
      ctx.notes.set('count', Number(ctx.notes.get('count') ?? 0) + 1)
      if (runs.length === 2) throw new Error('no luck')
      return done()
    })
    await change(2)
    await env.settle()
    await env.crash()
    await env.advance('2s')
    expect(seen).toEqual([undefined, 1, 2])
    expect(JSON.stringify(await widgetOf(env))).not.toContain('count')
  })

  it('are durable once keep resolves, though the process dies in that run', async () => {
    const seen: unknown[] = []
    await diedOnce(async (ctx) => {
      seen.push(ctx.notes.get('intent'))
      ctx.notes.set('intent', 'begun')
      await ctx.notes.keep()
    })
    expect(seen.slice(0, 2)).toEqual([undefined, 'begun'])
  })

  it('may be read, changed and set, from run to run and after each keep', async () => {
    const seen: unknown[] = []
    await diedOnce(async (ctx) => {
      const steps = (ctx.notes.get('steps') ?? []) as string[]
      seen.push([...steps])
      for (const step of ['a', 'b']) {
        steps.push(step)
        ctx.notes.set('steps', steps)
        await ctx.notes.keep()
      }
    })
    await change(2)
    await env.settle()
    expect(seen.slice(0, 3)).toEqual([[], ['a', 'b'], ['a', 'b', 'a', 'b']])
  })

  it('that are taken back after a keep whose answer was lost are gone', async () => {
    const seen: unknown[] = []
    const lost = new OperatingError('WRITE_UNKNOWN', 'the answer was lost')
    await started(async (ctx) => {
      seen.push(ctx.notes.get('ticket'))
      if (runs.length > 1) return done()
      ctx.notes.set('ticket', 'A')
      env.faults.once('store.replace', { kind: 'unknown', error: lost })
      await ctx.notes.keep().catch((error: unknown) => seen.push(String(error)))
      ctx.notes.set('ticket', undefined)
      return done()
    })
    await change(2)
    await env.settle()
    expect(seen).toEqual([undefined, String(lost), undefined])
  })

  it('have a limit that says so', async () => {
    await started((ctx) => {
      ctx.notes.set('much', 'x'.repeat(5_000))
      return done()
    })
    expect(await conditionOfWidget(env, 'Ready')).toMatchObject({ message: expect.stringContaining('4096 characters') })
  })
})

describe('the end of a run', () => {
  it('done with resyncAfter runs again after exactly that, restarts and triggers notwithstanding', async () => {
    let untilMs = 0
    await started((ctx) => {
      if (untilMs <= ctx.now()) untilMs = ctx.now() + 90_000
      return done({ resyncAfter: untilMs - ctx.now() })
    })
    await env.advance('40s')
    await change(2)
    await env.settle()
    expect((await widgetOf(env)).status).toMatchObject({ reconcile: { waiting: 'Resync' } })
    await env.crash()
    await env.advance('3m')
    // What was relayed just before the crash may be relayed again.
    expect([...new Set(timesOf(runs))]).toEqual([0, 40_000, 90_000, 180_000])
  })

  it('a failure says more of the object than its message, and is tried again within a time', async () => {
    const report = { conditions: { Synced: { status: 'False', reason: 'Refused' } }, retryWithin: '30s' } as const
    await started(() => {
      throw withReport(new Error('no luck'), { ...report, status: { seen: 'it' } })
    })
    expect(await conditionOfWidget(env, 'Synced')).toMatchObject({ status: 'False', reason: 'Refused' })
    expect((await widgetOf(env)).status).toMatchObject({ seen: 'it' })
    await env.advance('10m')
    const waits = timesOf(runs).map((at, i) => at - (timesOf(runs)[i - 1] ?? 0))
    expect(Math.max(...waits)).toBe(30_000)
  })

  it('what is stopped comes again within its time, and not before', async () => {
    await started(() => {
      throw withReport(stop('Refused', 'no'), { retryWithin: '5m' })
    })
    await env.advance('11m')
    expect(timesOf(runs)).toEqual([0, 300_000, 600_000])
    expect(await conditionOfWidget(env, 'Stalled')).toMatchObject({ status: 'True', reason: 'Refused' })
  })
})

it('what is mended outside is counted as drift, and told', async () => {
  env = await createTestEnv({
    reconcilers: [
      widgets((runs = []), async (_, ctx) => {
        ctx.outside.recordCall('update', 'success')
        await ctx.outside.recordDrift('host was changed; put back')
        return done()
      }),
    ],
  })
  await create()
  await env.settle()
  const metrics = await env.page('/metrics')
  expect(metrics).toContain('setpoint_drift_found_total{controller="widget"} 1')
  expect(metrics).toContain('setpoint_outside_calls_total{controller="widget",verb="update",result="success"} 1')
  expect(await env.explain(Widget, 'w')).toContain('host was changed; put back')
})
