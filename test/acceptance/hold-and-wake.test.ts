import { afterEach, describe, expect, it } from 'vitest'
import { ConfigMap, again, done } from '../../shared/index.ts'
import { OperatingError } from '../../shared/model/errors.ts'
import type { StoredObject } from '../../shared/model/stored-object.ts'
import { awsEngine } from '../../shared/testing-aws/aws-engine.ts'
import { createTestEnv, type TestEnv, type TestEnvOptions } from '../../shared/testing/test-env.ts'
import { Widget, conditionOfWidget, failing, timesOf, widgetOf, widgets, type RunRecord } from './support/widgets.ts'

/**
 * Promise 5: a change never waits behind a backoff, whatever moment it comes in. The moments are made with faults: a
 * call of a port that takes its time leaves a gap, and the change is put into the gap.
 */

let env: TestEnv
let runs: RunRecord[]
afterEach(() => env.close())

async function startFailing(times: number): Promise<void> {
  runs = []
  env = await createTestEnv({ reconcilers: [widgets(runs, failing(times))] })
}

/** The write by which a run ends. */
const ofConclusion = ([stored]: readonly unknown[]): boolean => (stored as StoredObject).engine.wait !== undefined

const change = (size = 2): Promise<unknown> => env.patch(Widget, 'w', { spec: { size } })
const label = (): Promise<unknown> => env.patch(Widget, 'w', { metadata: { labels: { a: 'b' } } })
const create = (): Promise<unknown> => env.apply(Widget, { metadata: { name: 'w' }, spec: {} })

describe('a change of the spec', () => {
  it('B15 ends the backoff at once, and the next failure starts from the beginning', async () => {
    await startFailing(Infinity)
    await create()
    await env.advance('10s')
    const before = runs.length
    expect((await widgetOf(env)).status).toMatchObject({ reconcile: { attempt: before, waiting: 'Backoff' } })
    await change()
    await env.settle()
    expect(runs.slice(before)).toMatchObject([{ size: 2, attempt: 0 }])
    expect((await widgetOf(env)).status).toMatchObject({ reconcile: { attempt: 1 } })
  })

  it('that comes while the run ends, before the wait is written, waits for nothing', async () => {
    await startFailing(1)
    env.faults.once('store.replace', { kind: 'delay', ms: 300 }, ofConclusion)
    await create()
    await env.advance('100ms')
    await change()
    await env.advance('200ms')
    expect(timesOf(runs)).toEqual([0, 300])
    expect(runs).toMatchObject([{ size: 1 }, { size: 2, attempt: 0 }])
  })

  it('that comes between the write of the wait and its beginning finds how to end it, and waits for nothing', async () => {
    await startFailing(1)
    env.faults.once('queue:widget.hold', { kind: 'delay', ms: 300 })
    await create()
    await env.advance('100ms')
    const written = env.calls.findLast(({ call, args }) => call === 'store.replace' && ofConclusion(args))
    expect(written?.atMs).toBe(env.nowMs() - 100)
    await change()
    await env.settle()
    expect(env.calls.findLast((one) => one.call === 'queue:widget.wake')).toMatchObject({ atMs: env.nowMs() })
    await env.advance('1s')
    // On AWS the message is visible as soon as the hold is ended, whether or not it has begun.
    expect(timesOf(runs)).toHaveLength(2)
    expect(timesOf(runs)[1]).toBeLessThanOrEqual(300)
  })

  it('that the relay hears of late waits for nothing then', async () => {
    await startFailing(1)
    await create()
    await env.settle()
    env.faults.once('queue:widget.send', { kind: 'delay', ms: 300 })
    await change()
    await env.advance('300ms')
    expect(timesOf(runs)).toEqual([0, 300])
  })

  it('after a restart finds a handle of the queue that died, and waits for nothing', async () => {
    await startFailing(2)
    await create()
    await env.settle()
    await env.crash()
    await env.advance('100ms')
    await change()
    await env.settle()
    expect(runs.at(-1)).toMatchObject({ size: 2 })
    expect(env.nowMs() - (runs.at(-1)?.atMs ?? 0)).toBe(0)
  })

  it('that comes while a run is going on causes exactly one more', async () => {
    runs = []
    env = await createTestEnv({
      reconcilers: [
        widgets(runs, async (_, ctx) => {
          await ctx.sleep('1s')
          return again('20s')
        }),
      ],
    })
    await create()
    await env.advance('100ms')
    for (const size of [2, 3, 4]) await change(size)
    await env.advance('5s')
    expect(runs).toMatchObject([{ size: 1 }, { size: 4 }])
    expect(timesOf(runs)).toEqual([0, 1_000])
  })
})

describe('a wait', () => {
  it('is one write, with the status and what ends it, and none if nothing of it is new but that', async () => {
    await startFailing(Infinity)
    await create()
    await env.settle()
    const writes = () =>
      env.calls.filter(
        ({ call, args }) => call === 'store.replace' && (args[0] as StoredObject).object.kind === 'Widget',
      )
    expect(writes()).toHaveLength(1)
    expect(writes()[0]?.args[0]).toMatchObject({
      object: { status: { conditions: [{ type: 'Ready', status: 'False' }] } },
      engine: { wait: { kind: 'Backoff', failure: { attempt: 1 } }, hold: { untilMs: env.nowMs() + 1_000 } },
    })
    await env.advance('10s')
    expect(writes()).toHaveLength(runs.length)
    for (const { args } of writes().slice(1)) expect(args[1]).toEqual(['engine'])
  })
})

const engines: readonly { readonly engine: string; readonly options: TestEnvOptions }[] = [
  { engine: 'one machine', options: {} },
  { engine: 'AWS', options: { engine: awsEngine } },
]

describe.each(engines)('an object whose message cannot be hidden, on $engine', ({ options }) => {
  /** Ticks of AWS come at full minutes. The object is made 20 s behind one. */
  async function startWaiting(time: string): Promise<void> {
    runs = []
    env = await createTestEnv({ ...options, reconcilers: [widgets(runs, () => again(time))] })
    await env.advance('20s')
  }

  const failToHide = (): void =>
    env.faults.once('queue:widget.hold', {
      kind: 'error',
      error: new OperatingError('UNAVAILABLE', 'the queue is away'),
    })

  it('runs at the time that it asked for, and not ahead of it', async () => {
    await startWaiting('50s')
    failToHide()
    await create()
    await env.advance('95s')
    expect(timesOf(runs)).toEqual([0, 50_000])
  })

  it('does not run ahead of its time if a timer that was sent early cannot be hidden', async () => {
    await startWaiting('100s')
    await create()
    await env.settle()
    failToHide()
    await env.advance('165s')
    const [, secondMs] = timesOf(runs)
    expect(secondMs).toBeGreaterThanOrEqual(100_000)
    // The next tick finds it.
    expect(secondMs).toBeLessThanOrEqual(160_000)
  })

  it('runs at once for a change, before and after the next timer is sent', async () => {
    await startWaiting('50s')
    failToHide()
    await create()
    await env.advance('10s')
    await label()
    await env.settle()
    expect(timesOf(runs)).toEqual([0, 10_000])
    failToHide()
    await env.advance('95s')
    await change()
    await env.settle()
    expect(timesOf(runs).slice(-2)).toEqual([60_000, 105_000])
  })
})

describe('another change', () => {
  it('of a label runs the object now, costs no attempt and leaves the time of the retry as it was', async () => {
    await startFailing(Infinity)
    await create()
    await env.advance('4s')
    const before = runs.length
    const { reconcile } = (await widgetOf(env)).status as { readonly reconcile?: unknown }
    await label()
    await env.settle()
    expect(runs).toHaveLength(before + 1)
    expect((await widgetOf(env)).status).toMatchObject({ reconcile })
  })

  it('of a label that comes while the run ends waits for nothing', async () => {
    await startFailing(1)
    env.faults.once('store.replace', { kind: 'delay', ms: 300 }, ofConclusion)
    await create()
    await env.advance('100ms')
    await label()
    await env.advance('200ms')
    expect(timesOf(runs)).toEqual([0, 300])
  })

  it('of a child that comes while the run goes on runs the owner right after', async () => {
    env = await createTestEnv({
      reconcilers: [
        widgets(
          (runs = []),
          async (_, ctx) => {
            await ctx.apply(ConfigMap, { metadata: { name: 'child' }, data: { a: '1' } })
            await ctx.sleep('1s')
            return again('40s')
          },
          { owns: [ConfigMap] },
        ),
      ],
    })
    await create()
    // The first run makes the child, which wakes the owner once more.
    await env.advance('10s')
    expect(timesOf(runs)).toEqual([0, 1_000])
    await env.advance('32500ms')
    await env.patch(ConfigMap, 'child', { data: { a: 'edited' } })
    await env.advance('2s')
    // The last run is for the child that the one before it put back.
    expect(timesOf(runs)).toEqual([0, 1_000, 42_000, 43_000, 44_000])
    expect(await env.get(ConfigMap, 'child')).toMatchObject({ data: { a: '1' } })
  })

  it('of a child that comes while the wait is written runs the owner right after', async () => {
    env = await createTestEnv({
      reconcilers: [
        widgets(
          (runs = []),
          async (_, ctx) => {
            await ctx.apply(ConfigMap, { metadata: { name: 'child' }, data: { a: '1' } })
            return again('40s')
          },
          { owns: [ConfigMap] },
        ),
      ],
    })
    await create()
    await env.advance('10s')
    env.faults.once('store.replace', { kind: 'delay', ms: 300 }, ofConclusion)
    const before = runs.length
    await env.advance('30100ms')
    expect(runs).toHaveLength(before + 1)
    await env.patch(ConfigMap, 'child', { data: { a: 'edited' } })
    await env.advance('200ms')
    expect(runs).toHaveLength(before + 3)
    expect(await env.get(ConfigMap, 'child')).toMatchObject({ data: { a: '1' } })
  })

  it('of the status wakes nobody', async () => {
    await startFailing(1)
    await create()
    await env.settle()
    await env.patch(Widget, 'w', { status: { seen: 'by hand' } }, { subresource: 'status' })
    await env.advance('500ms')
    expect(runs).toHaveLength(1)
    await env.advance('500ms')
    expect(timesOf(runs)).toEqual([0, 1_000])
  })
})

describe('deletion', () => {
  it('during a backoff cleans up at once', async () => {
    const cleaned: number[] = []
    env = await createTestEnv({
      tickMs: 60_000,
      reconcilers: [
        widgets((runs = []), failing(Infinity), {
          cleanup: async (_, ctx) => {
            cleaned.push(ctx.now())
            return done()
          },
        }),
      ],
    })
    await create()
    await env.advance('200s')
    const atMs = env.nowMs()
    await env.delete(Widget, 'w')
    await env.settle()
    expect(cleaned).toEqual([atMs])
    expect(await env.get(Widget, 'w')).toBeUndefined()
  })
})

describe('pausing', () => {
  it('during a wait ends it, and the object runs when it is taken back', async () => {
    await startFailing(1)
    await create()
    await env.settle()
    await env.patch(Widget, 'w', { metadata: { annotations: { 'setpoint.dev/paused': 'true' } } })
    await env.settle()
    expect(await conditionOfWidget(env, 'Paused')).toMatchObject({ status: 'True' })
    expect((await widgetOf(env)).status).not.toHaveProperty('reconcile')
    await env.advance('1h')
    expect(runs).toHaveLength(1)
    await env.patch(Widget, 'w', { metadata: { annotations: { 'setpoint.dev/paused': null } } })
    await env.settle()
    expect(runs).toHaveLength(2)
    expect(await conditionOfWidget(env, 'Paused')).toBeUndefined()
  })
})

describe('a crash', () => {
  it('between the write of the wait and its beginning keeps the time, and the repeated run costs no attempt', async () => {
    await startFailing(2)
    env.faults.once('queue:widget.hold', { kind: 'crash' })
    await create()
    await env.settle()
    expect((await widgetOf(env)).status).toMatchObject({ reconcile: { attempt: 1 } })
    await env.advance('1s')
    expect(timesOf(runs)).toEqual([0, 0, 1_000])
  })

  it('before the write of the wait repeats the run, as if the first had not been', async () => {
    await startFailing(2)
    env.faults.once('store.replace', { kind: 'crash' }, ofConclusion)
    await create()
    // On AWS the message comes again after its visibility timeout.
    await env.eventually(() => expect(runs).toHaveLength(2))
    await env.settle()
    expect(runs.map(({ attempt }) => attempt)).toEqual([0, 0])
    expect((await widgetOf(env)).status).toMatchObject({ reconcile: { attempt: 1 } })
  })

  it('before the relay has sent what it was told sends it after the restart', async () => {
    await startFailing(0)
    env.faults.once('queue:widget.send', { kind: 'crash' })
    await create().catch(() => {})
    await env.settle()
    expect(runs).toHaveLength(1)
  })

  it('while a conflict about the finalizer is solved loses nothing', async () => {
    runs = []
    env = await createTestEnv({ reconcilers: [widgets(runs, () => done(), { cleanup: async () => done() })] })
    const ofFinalizer = ([stored]: readonly unknown[]): boolean =>
      (stored as StoredObject).object.metadata.finalizers !== undefined
    env.faults.once('store.replace', { kind: 'delay', ms: 100 }, ofFinalizer)
    await create()
    await env.advance('50ms')
    await env.patch(Widget, 'w', { status: { seen: 'by hand' } }, { subresource: 'status' })
    env.faults.once('store.replace', { kind: 'crash' }, ofFinalizer)
    await env.advance('10m')
    expect(runs).toHaveLength(1)
    expect((await widgetOf(env)).metadata.finalizers).toEqual(['test.setpoint.dev/widget'])
  })
})

describe('a store that is away', () => {
  it('when a run ends makes the run come again, and counts as no failure of the object', async () => {
    await startFailing(0)
    env.faults.once('store.replace', { kind: 'error', error: new OperatingError('UNAVAILABLE', 'away') })
    await create()
    await env.advance('2s')
    expect(timesOf(runs)).toEqual([0, 1_000])
    expect(runs).toMatchObject([{ attempt: 0 }, { attempt: 0 }])
    expect((await widgetOf(env)).status).not.toHaveProperty('reconcile')
  })

  it('when the relay looks for waits loses nothing, and holds nothing up for ever', async () => {
    env = await createTestEnv({
      reconcilers: [
        widgets(
          (runs = []),
          async (_, ctx) => {
            await ctx.apply(ConfigMap, { metadata: { name: 'child' }, data: { a: '1' } })
            return done()
          },
          { owns: [ConfigMap] },
        ),
      ],
    })
    await create()
    await env.advance('10s')
    const before = runs.length
    const stop = env.faults.always('store.get', { kind: 'error', error: new OperatingError('UNAVAILABLE', 'away') })
    const patched = env.patch(ConfigMap, 'child', { data: { a: '2' } })
    await expect(patched).rejects.toThrow('away')
    stop()
    await env.patch(ConfigMap, 'child', { data: { a: '3' } })
    await env.advance('10s')
    expect(runs.length).toBeGreaterThan(before)
    expect(await env.get(ConfigMap, 'child')).toMatchObject({ data: { a: '1' } })
    await env.crash()
    const settled = runs.length
    await env.advance('10s')
    expect(runs).toHaveLength(settled)
  })
})
