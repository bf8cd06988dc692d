import { afterEach, describe, expect, it } from 'vitest'
import * as z from 'zod'
import {
  again,
  ConfigMap,
  defineKind,
  defineReconciler,
  done,
  reference,
  retryAfter,
  Secret,
  stop,
  type Context,
  type Controller,
  type ObjectOf,
  type Outcome,
} from '../../shared/index.ts'
import { OperatingError } from '../../shared/model/errors.ts'
import { createTestEnv, type LogLine, type TestEnv, type TestEnvOptions } from '../../shared/testing/test-env.ts'

const Widget = defineKind({
  group: 'test.setpoint.dev',
  version: 'v1',
  kind: 'Widget',
  spec: z.object({ size: z.number().int().default(1), settings: z.string().optional() }),
  status: z.object({ size: z.number().int().optional() }),
})
type Widget = ObjectOf<typeof Widget>

let env: TestEnv
afterEach(() => env.close())

type Reconcile = (widget: Widget, ctx: Context) => Promise<Outcome> | Outcome

function widgets(reconcile: Reconcile, more: { readonly concurrency?: number } = {}): Controller {
  return defineReconciler(Widget, {
    owns: [ConfigMap],
    watches: [reference(Secret, ({ spec: { settings } }) => (settings === undefined ? undefined : { name: settings }))],
    resync: '1h',
    reconcile: async (widget, ctx) => reconcile(widget, ctx),
    ...more,
  })
}

async function start(reconcile: Reconcile, more?: TestEnvOptions & { readonly concurrency?: number }): Promise<void> {
  env = await createTestEnv({ tickMs: 60_000, ...more, reconcilers: [widgets(reconcile, more)] })
}

async function make(name = 'w', spec: { size?: number; settings?: string } = {}): Promise<void> {
  await env.apply(Widget, { metadata: { name }, spec })
  await env.settle()
}

/** A series of the widgets' controller; all of its labels that are given must be as given. */
async function value(name: string, labels: Readonly<Record<string, string>> = {}): Promise<number | undefined> {
  const wanted = Object.entries({ controller: 'widget', ...labels }).map(([label, text]) => `${label}="${text}"`)
  const line = (await env.page('/metrics'))
    .split('\n')
    .find((one) => one.startsWith(`${name}{`) && wanted.every((label) => one.includes(label)))
  return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ') + 1))
}

function logged(message: string): readonly LogLine[] {
  return env.logs.filter((line) => line.message === message && line.fields['controller'] === 'widget')
}

describe('D16 metrics', () => {
  it('D16 are there at 0 before anything has happened', async () => {
    await start(() => done())
    for (const result of ['success', 'error', 'requeue', 'requeue_after'])
      expect(await value('controller_runtime_reconcile_total', { result })).toBe(0)
    const names = [
      'controller_runtime_reconcile_errors_total',
      'controller_runtime_terminal_reconcile_errors_total',
      'controller_runtime_reconcile_time_seconds_count',
      'controller_runtime_active_workers',
      'workqueue_depth',
      'workqueue_adds_total',
      'workqueue_retries_total',
      'setpoint_time_to_converge_seconds_count',
      'setpoint_oldest_unconverged_seconds',
      'setpoint_repairs_total',
      'setpoint_drift_found_total',
    ]
    const values = await Promise.all(names.map(async (name) => [name, await value(name)]))
    expect(values).toEqual(names.map((name) => [name, 0]))
    expect(await value('controller_runtime_max_concurrent_reconciles')).toBe(10)
  })

  it.each([
    { how: 'done', result: 'success', outcome: () => done() },
    { how: 'again', result: 'requeue_after', outcome: () => again('1h') },
    {
      how: 'told when to come',
      result: 'requeue_after',
      outcome: (): Outcome => {
        throw retryAfter('1h', new Error('429'))
      },
    },
    {
      how: 'failed',
      result: 'error',
      outcome: (): Outcome => {
        throw new Error('no luck')
      },
    },
    {
      how: 'stopped',
      result: 'error',
      outcome: (): Outcome => {
        throw stop('NameTaken', 'it is taken')
      },
    },
    {
      how: 'met a conflict',
      result: 'requeue',
      outcome: (): Outcome => {
        throw new OperatingError('VERSION_CONFLICT', 'somebody was faster')
      },
    },
  ])('D16 count a run that ended $how as $result', async ({ result, outcome }) => {
    await start(outcome)
    await make()
    expect(await value('controller_runtime_reconcile_total', { result })).toBe(1)
    expect(await value('controller_runtime_reconcile_errors_total')).toBe(result === 'error' ? 1 : 0)
    expect(await value('controller_runtime_reconcile_time_seconds_count')).toBe(1)
  })

  it('D16 count terminal errors and retries apart', async () => {
    await start(({ spec: { size } }) => {
      throw size === 1 ? new Error('no luck') : stop('NameTaken', 'it is taken')
    })
    await make()
    expect(await value('workqueue_retries_total')).toBe(1)
    expect(await value('controller_runtime_terminal_reconcile_errors_total')).toBe(0)
    await env.patch(Widget, 'w', { spec: { size: 2 } })
    await env.settle()
    expect(await value('workqueue_retries_total')).toBe(1)
    expect(await value('controller_runtime_terminal_reconcile_errors_total')).toBe(1)
  })

  it('D16 time runs, and say what runs now', async () => {
    await start(async (_, ctx) => {
      await ctx.sleep('20s')
      return done()
    })
    await make()
    await env.advance('15s')
    expect(await value('controller_runtime_active_workers')).toBe(1)
    expect(await value('workqueue_unfinished_work_seconds')).toBe(15)
    expect(await value('workqueue_longest_running_processor_seconds')).toBe(15)
    await env.advance('5s')
    expect(await value('controller_runtime_active_workers')).toBe(0)
    expect(await value('workqueue_longest_running_processor_seconds')).toBe(0)
    expect(await value('controller_runtime_reconcile_time_seconds_sum')).toBe(20)
    expect(await value('controller_runtime_reconcile_time_seconds_bucket', { le: '10' })).toBe(0)
    expect(await value('controller_runtime_reconcile_time_seconds_bucket', { le: '30' })).toBe(1)
  })

  it('D16 tell a queue that grows: its depth, and how long its keys wait', async () => {
    await start(
      async (_, ctx) => {
        await ctx.sleep('30s')
        return done()
      },
      { concurrency: 1 },
    )
    for (const name of ['a', 'b', 'c']) await make(name)
    await env.advance('10s')
    expect(await value('workqueue_adds_total')).toBe(3)
    expect(await value('workqueue_depth')).toBe(2)
    expect(await value('setpoint_queue_oldest_seconds')).toBe(10)
    await env.advance('80s')
    expect(await value('workqueue_depth')).toBe(0)
    expect(await value('workqueue_queue_duration_seconds_count')).toBe(3)
    expect(await value('workqueue_queue_duration_seconds_sum')).toBe(90)
  })

  it('D16 time from a change to its observation, over failures and a crash', async () => {
    let fails = true
    await start(() => {
      if (fails) throw new Error('no luck')
      return done()
    })
    await make()
    await env.advance('3m')
    expect(await value('setpoint_time_to_converge_seconds_count')).toBe(0)
    expect(await value('setpoint_oldest_unconverged_seconds')).toBe(180)
    await env.crash()
    fails = false
    await env.advance('10m')
    expect(await value('setpoint_time_to_converge_seconds_count')).toBe(1)
    const seconds = (await value('setpoint_time_to_converge_seconds_sum')) ?? 0
    expect(seconds).toBeGreaterThan(180)
    expect(seconds).toBeLessThan(600)
    expect(await value('setpoint_oldest_unconverged_seconds')).toBe(0)
  })

  it('D16 forget a change whose object is gone', async () => {
    await start(() => {
      throw new Error('no luck')
    })
    await make()
    await env.advance('5m')
    expect(await value('controller_runtime_reconcile_errors_total')).toBeGreaterThan(5)
    expect(await value('setpoint_oldest_unconverged_seconds')).toBe(300)
    await env.delete(Widget, 'w')
    await env.advance('30m')
    expect(await value('setpoint_oldest_unconverged_seconds')).toBe(0)
  })

  it('D16 count the drift that was found, and not what the reconciler itself changed its mind about', async () => {
    await start(async ({ spec: { size } }, ctx) => {
      await ctx.apply(ConfigMap, { metadata: { name: 'parts' }, data: { size: String(size) } })
      return done()
    })
    await make()
    await env.patch(Widget, 'w', { spec: { size: 2 } })
    await env.settle()
    expect(await value('setpoint_drift_found_total')).toBe(0)

    await env.advance('5s')
    await env.patch(ConfigMap, 'parts', { data: { size: 'huge' } }, { manager: 'kubectl-edit' })
    await env.settle()
    expect(await value('setpoint_drift_found_total')).toBe(1)
    expect(logged('drift corrected').at(-1)?.fields).toMatchObject({
      child: '/ConfigMap/default/parts',
      found: 'changed',
      by: 'kubectl-edit',
    })

    await env.delete(ConfigMap, 'parts')
    await env.settle()
    expect(await value('setpoint_drift_found_total')).toBe(2)
    expect(logged('drift corrected').at(-1)?.fields).toMatchObject({ found: 'missing' })
  })

  it('D16 count no repairs as long as wake-ups arrive, and one when the resync finds what none has told of', async () => {
    await start(() => done())
    await make()
    await env.advance('3h')
    expect(await value('setpoint_repairs_total')).toBe(0)

    const lose = env.faults.always('queue:widget.send', { kind: 'lost' })
    await env.patch(Widget, 'w', { spec: { size: 2 } })
    await env.advance('2m')
    lose()
    await env.advance('2h')
    expect(await env.get(Widget, 'w')).toMatchObject({ status: { observedGeneration: 2 } })
    expect(await value('setpoint_repairs_total')).toBe(1)
  })

  it('D16 name kinds and controllers, never an object', async () => {
    await start(() => done())
    await make('a-very-particular-name')
    await env.advance('1h')
    expect(await value('controller_runtime_reconcile_total', { result: 'success' })).toBeGreaterThan(0)
    expect(await value('setpoint_time_to_converge_seconds_count')).toBe(1)
    expect(await env.page('/metrics')).not.toContain('a-very-particular-name')
  })
})

describe('D17 logs', () => {
  it('D17 carry controller, kind, key and the id of the run, in what the reconciler says and in what is said of it', async () => {
    await start((_, ctx) => {
      ctx.log.info('hello', { size: 1 })
      return done()
    })
    await make()
    const [hello] = logged('hello')
    expect(hello?.fields).toMatchObject({
      controller: 'widget',
      kind: 'Widget',
      namespace: 'default',
      name: 'w',
      size: 1,
    })
    expect(logged('reconciled')[0]?.fields['reconcileID']).toBe(hello?.fields['reconcileID'])
    await env.patch(Widget, 'w', { spec: { size: 2 } })
    await env.settle()
    expect(logged('hello')[1]?.fields['reconcileID']).not.toBe(hello?.fields['reconcileID'])
  })

  it('D17 say of a success only to who asks for it, and of a failure to all', async () => {
    await start(({ spec: { size } }) => {
      if (size === 2) throw new Error('no luck')
      return done()
    })
    await make()
    expect(logged('reconciled').map(({ level }) => level)).toEqual(['debug'])
    expect(env.logs.filter(({ level }) => level !== 'debug')).toEqual([])
    await env.patch(Widget, 'w', { spec: { size: 2 } })
    await env.settle()
    const [failure] = logged('reconcile did not succeed')
    expect(failure).toMatchObject({ level: 'warn', fields: { outcome: 'failed', error: 'no luck', durationMs: 0 } })
  })

  it('D17 say why each run came: who changed which fields, which child, which reference, the resync', async () => {
    await start(async ({ metadata: { name } }, ctx) => {
      await ctx.apply(ConfigMap, { metadata: { name: `${name}-parts` }, data: {} })
      return done()
    })
    await env.apply(Secret, { metadata: { name: 'keys' }, stringData: {} })
    await make('w', { settings: 'keys' })
    const reasons = async (act: () => Promise<unknown>): Promise<unknown> => {
      const before = logged('reconciled').length
      await act()
      await env.settle()
      return logged('reconciled')
        .slice(before)
        .map(({ fields }) => fields['reasons'])
    }
    expect(logged('reconciled')[0]?.fields['reasons']).toEqual(['created by test'])
    await env.advance('5s')
    const by = { manager: 'kubectl-edit' }
    expect(await reasons(() => env.patch(Widget, 'w', { spec: { size: 2 } }, by))).toEqual([
      ['changed by kubectl-edit (spec.size)'],
    ])
    expect(await reasons(() => env.patch(Widget, 'w', { metadata: { labels: { a: 'b' } } }, by))).toEqual([
      ['labels changed by kubectl-edit'],
    ])
    expect(await reasons(() => env.patch(ConfigMap, 'w-parts', { data: { more: 'things' } }, by))).toEqual([
      ['child ConfigMap default/w-parts changed by kubectl-edit'],
    ])
    expect(await reasons(() => env.patch(Secret, 'keys', { stringData: { a: 'b' } }, by))).toEqual([
      ['Secret default/keys changed by kubectl-edit, and is referred to'],
    ])
    expect(await reasons(() => env.advance('1h'))).toEqual([['resync']])
  })

  it('D17 tell no reconcile function why it runs', async () => {
    const seen: unknown[] = []
    await start((widget, ctx) => {
      seen.push(JSON.stringify([widget, ctx, Object.keys(ctx)]))
      return done()
    })
    await make()
    await env.patch(Widget, 'w', { metadata: { annotations: { some: 'text' } } }, { manager: 'kubectl-edit' })
    await env.settle()
    expect(seen).toHaveLength(2)
    for (const text of seen) expect(text).not.toMatch(/created by|changed by|annotations changed|reasons/)
  })
})

describe('D18 events and status', () => {
  it('D18 a failure is an event on the object, counted while it stays the same', async () => {
    await start(() => {
      throw new Error('no luck')
    })
    await make()
    await env.advance('30s')
    expect(await env.explain(Widget, 'w')).toMatch(/Warning ReconcileFailed \(\d times\): no luck/)
    const events = JSON.parse(await env.page('/api/v1/namespaces/default/events')) as {
      readonly items: readonly { readonly count: number; readonly involvedObject: object; readonly reason: string }[]
    }
    expect(events.items).toHaveLength(1)
    expect(events.items[0]).toMatchObject({ reason: 'ReconcileFailed', involvedObject: { kind: 'Widget', name: 'w' } })
    expect(events.items[0]?.count).toBeGreaterThan(3)
  })

  it('D18 while an object waits, its status says which change is not observed: whose, when, of which fields', async () => {
    let fails = false
    await start(() => {
      if (fails) throw new Error('no luck')
      return done()
    })
    await make()
    fails = true
    await env.patch(Widget, 'w', { spec: { size: 2 } }, { manager: 'kubectl-edit' })
    await env.advance('1m')
    expect(await env.get(Widget, 'w')).toMatchObject({
      status: {
        reconcile: {
          waiting: 'Backoff',
          lastError: 'no luck',
          change: { by: 'kubectl-edit', verb: 'changed', fields: ['spec.size'], at: '2026-01-01T00:00:00.000Z' },
        },
      },
    })
  })

  it('D18 what is noted for people costs no write of its own', async () => {
    await start(({ spec: { size } }) => done({ status: { size } }))
    await make()
    await env.patch(Widget, 'w', { spec: { size: 2 } })
    await env.settle()
    const writes = env.calls.filter(
      ({ call, args }) => call.startsWith('store.') && (args[0] as { object?: Widget }).object?.kind === 'Widget',
    )
    expect(writes.map(({ call }) => call)).toEqual(['store.create', 'store.replace', 'store.replace', 'store.replace'])
    expect(await env.get(Widget, 'w')).not.toHaveProperty('status.reconcile')
  })
})

describe('anti-patterns', () => {
  it('A12 errors that say the same again and again are counted, from the fifth on', async () => {
    await start(() => {
      throw new Error('the cluster is not ready yet')
    })
    await make()
    await env.eventually(async () => expect(await value('controller_runtime_reconcile_errors_total')).toBe(4))
    expect(await value('setpoint_repeated_errors_total')).toBe(0)
    await env.eventually(async () => expect(await value('controller_runtime_reconcile_errors_total')).toBe(6))
    expect(await value('setpoint_repeated_errors_total')).toBe(2)
  })

  it('A12 errors that differ are not', async () => {
    let runs = 0
    await start(() => {
      throw new Error(`failure ${++runs}`)
    })
    await make()
    await env.advance('10m')
    expect(runs).toBeGreaterThan(5)
    expect(await value('setpoint_repeated_errors_total')).toBe(0)
  })

  it('A30 requeues in steady state are counted apart', async () => {
    await start(() => again('10s', { ready: true }))
    await make()
    expect(await value('setpoint_steady_runs_total', { result: 'requeued' })).toBe(0)
    await env.advance('1m')
    expect(await value('setpoint_steady_runs_total', { result: 'requeued' })).toBe(6)
  })

  it('A30 a steady run that finds nothing to do is quiet, one that writes is not', async () => {
    let size = 0
    await start(async (_, ctx) => {
      await ctx.apply(ConfigMap, { metadata: { name: 'parts' }, data: { size: String(size) } })
      return done()
    })
    await make()
    await env.advance('1h')
    expect(await value('setpoint_steady_runs_total', { result: 'quiet' })).toBe(1)
    size = 7
    await env.advance('1h')
    expect(await value('setpoint_steady_runs_total', { result: 'wrote' })).toBe(1)
  })
})
