import { afterEach, describe, expect, it } from 'vitest'
import {
  again,
  ConfigMap,
  defineReconciler,
  done,
  type Context,
  type Outcome,
  type StatusOf,
} from '../../shared/index.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'
import { Part, watchWidgets, Widget } from './support/primary.ts'

/**
 * DeleteControl, in our words: `done()` from `cleanup` is defaultDelete; `again` from it is noFinalizerRemoval with
 * rescheduleAfter: the object stays until a clean-up says `done()`.
 */

let env: TestEnv
afterEach(() => env.close())

type Run = (widget: Widget, ctx: Context) => Promise<Outcome<StatusOf<Widget>>>

const noting =
  (runs: string[]): Run =>
  async ({ metadata }) => {
    runs.push(`reconcile with ${metadata.finalizers?.join() ?? 'none'}`)
    return done()
  }

async function start(cleanup: Run, reconcile: Run = async () => done()): Promise<void> {
  const reconciler = defineReconciler(Widget, { owns: [Part], reconcile, cleanup })
  env = await createTestEnv({ tickMs: 60_000, kinds: [Part], reconcilers: [reconciler] })
  await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
  await env.settle()
}

describe('the end of a clean-up', () => {
  it('J16 done: the finalizer goes, and the object with it', async () => {
    await start(async () => done())
    expect(await env.delete(Widget, 'w')).toMatchObject({ gone: false })
    await env.settle()
    expect(await env.get(Widget, 'w')).toBeUndefined()
  })

  it("J16 somebody else's finalizer still holds the object, and ours is not missed", async () => {
    const cleanups: number[] = []
    await start(async (_, ctx) => {
      cleanups.push(ctx.now())
      return done()
    })
    await env.patch(Widget, 'w', { metadata: { finalizers: ['test.setpoint.dev/widget', 'example.dev/other'] } })
    await env.delete(Widget, 'w')
    await env.advance('11h')
    expect((await env.get(Widget, 'w'))?.metadata.finalizers).toEqual(['example.dev/other'])
    expect(cleanups).toHaveLength(1)
  })

  it('J17 again: the finalizer stays, and clean-up comes at its time until it is done', async () => {
    const timesMs: number[] = []
    await start(async (_, ctx) => {
      timesMs.push(ctx.now())
      return timesMs.length < 4 ? again('10s', { status: { phase: 'Draining' } }) : done()
    })
    await env.delete(Widget, 'w')
    await env.settle()
    expect(await env.get(Widget, 'w')).toMatchObject({
      metadata: { finalizers: ['test.setpoint.dev/widget'] },
      status: { phase: 'Draining', reconcile: { waiting: 'Requeue' } },
    })
    await env.advance('1m')
    expect(timesMs.map((ms) => ms - (timesMs[0] ?? 0))).toEqual([0, 10_000, 20_000, 30_000])
    expect(await env.get(Widget, 'w')).toBeUndefined()
  })

  it('J18 a child that goes wakes the clean-up of its owner, which waits for nothing else', async () => {
    const timesMs: number[] = []
    await start(
      async (_, ctx) => {
        timesMs.push(ctx.now())
        return (await ctx.get(Part, 'w')) === undefined ? done() : again('10h')
      },
      async (_, ctx) => {
        await ctx.apply(Part, { metadata: { name: 'w' }, spec: {} })
        return done()
      },
    )
    await env.delete(Widget, 'w')
    await env.advance('1m')
    expect(await env.get(Widget, 'w')).toBeDefined()
    await env.delete(Part, 'w')
    await env.settle()
    expect(await env.get(Widget, 'w')).toBeUndefined()
    expect(timesMs.at(-1)).toBe(env.nowMs())
  })

  it('J22 an error keeps the finalizer, and clean-up comes again with backoff', async () => {
    const timesMs: number[] = []
    await start(async (_, ctx) => {
      timesMs.push(ctx.now())
      if (timesMs.length < 3) throw new Error('the far side is away')
      return done()
    })
    await env.delete(Widget, 'w')
    await env.settle()
    expect(await env.get(Widget, 'w')).toMatchObject({
      metadata: { finalizers: ['test.setpoint.dev/widget'] },
      status: { conditions: [{ type: 'Ready', status: 'False', message: 'the far side is away' }] },
    })
    await env.advance('10s')
    expect(timesMs).toHaveLength(3)
    expect(await env.get(Widget, 'w')).toBeUndefined()
  })
})

describe('the finalizer', () => {
  it('J19 the finalizer is there before the first run, by a write of its own', async () => {
    const runs: string[] = []
    // A watch on AWS looks once a second, and tells what was written between as the last of it.
    const reconcile: Run = async (widget, ctx) => {
      await ctx.sleep('2s')
      return noting(runs)(widget, ctx)
    }
    env = await createTestEnv({
      tickMs: 60_000,
      reconcilers: [defineReconciler(Widget, { debounce: '2s', reconcile, cleanup: async () => done() })],
    })
    const versions = await watchWidgets(env)
    await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
    await env.advance('10s')
    expect(runs).toEqual(['reconcile with test.setpoint.dev/widget'])
    expect(versions.map(({ metadata, status }) => [metadata.finalizers ?? [], status?.observedGeneration])).toEqual([
      [[], undefined],
      [['test.setpoint.dev/widget'], undefined],
      [['test.setpoint.dev/widget'], 1],
    ])
  })

  it('J19 a crash before or after that write never lets a run go without it', async () => {
    for (const fault of ['crash', 'unknown'] as const) {
      const runs: string[] = []
      env = await createTestEnv({
        tickMs: 60_000,
        reconcilers: [defineReconciler(Widget, { reconcile: noting(runs), cleanup: async () => done() })],
      })
      const error = new Error('the answer is lost')
      env.faults.once('store.replace', fault === 'crash' ? { kind: fault } : { kind: fault, error })
      await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
      // On AWS the message comes again after its visibility timeout.
      await env.advance('10m')
      expect(runs.length).toBeGreaterThan(0)
      expect(new Set(runs)).toEqual(new Set(['reconcile with test.setpoint.dev/widget']))
      await env.close()
    }
    env = await createTestEnv()
  })

  it('J20 its name is made of the group and the name of the controller, or given', () => {
    const cleanup = async () => done()
    const reconcile = cleanup
    expect(defineReconciler(Widget, { reconcile, cleanup }).finalizer).toBe('test.setpoint.dev/widget')
    expect(defineReconciler(Widget, { name: 'makers', reconcile, cleanup }).finalizer).toBe('test.setpoint.dev/makers')
    expect(defineReconciler(ConfigMap, { reconcile, cleanup }).finalizer).toBe('setpoint.dev/configmap')
    expect(defineReconciler(Widget, { finalizer: 'example.dev/parts', reconcile, cleanup }).finalizer).toBe(
      'example.dev/parts',
    )
  })

  it('J20 a name that Kubernetes would refuse is refused, and so is one without cleanup', () => {
    const cleanup = async () => done()
    const reconcile = cleanup
    for (const finalizer of ['no spaces/please', '/widget', 'example.dev/', `example.dev/${'x'.repeat(64)}`])
      expect(() => defineReconciler(Widget, { finalizer, reconcile, cleanup })).toThrow(TypeError)
    // @ts-expect-error -- nobody would take it away
    expect(() => defineReconciler(Widget, { finalizer: 'example.dev/parts', reconcile })).toThrow(TypeError)
  })

  it('J20 controllers of built-in kinds have a name that the API takes, too', async () => {
    env = await createTestEnv({
      tickMs: 60_000,
      reconcilers: [defineReconciler(ConfigMap, { reconcile: async () => done(), cleanup: async () => done() })],
    })
    await env.apply(ConfigMap, { metadata: { name: 'c' }, data: {} })
    await env.settle()
    await env.patch(ConfigMap, 'c', { data: { a: 'b' } })
    expect((await env.get(ConfigMap, 'c'))?.metadata.finalizers).toEqual(['setpoint.dev/configmap'])
  })

  it('J21 what was marked for deletion while nobody was there to clean up is cleaned up when somebody is, without a resync', async () => {
    let cleanups = 0
    const reconciler = defineReconciler(Widget, {
      reconcile: async () => done(),
      cleanup: async () => {
        cleanups++
        return done()
      },
    })
    env = await createTestEnv({ tickMs: 60_000, reconcilers: [reconciler] })
    await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
    await env.settle()
    await env.crash([])
    await env.delete(Widget, 'w')
    await env.advance('1m')
    expect(cleanups).toBe(0)
    await env.crash([reconciler])
    await env.advance('1m')
    expect(cleanups).toBe(1)
    expect(await env.get(Widget, 'w')).toBeUndefined()
  })

  it('J21 a crash at the moment of the mark delays clean-up by no resync', async () => {
    const cleanups: number[] = []
    await start(async (_, ctx) => {
      cleanups.push(ctx.now())
      return done()
    })
    let isDown = false
    env.faults.once('queue:widget.send', { kind: 'crash' }, () => (isDown = true))
    const deletedMs = env.nowMs()
    await env.delete(Widget, 'w').catch(() => {})
    await env.advance('1m')
    expect(isDown).toBe(true)
    expect(cleanups).toHaveLength(1)
    expect((cleanups[0] ?? Infinity) - deletedMs).toBeLessThanOrEqual(60_000)
    expect(await env.get(Widget, 'w')).toBeUndefined()
  })
})

describe('ownership', () => {
  it('J23 without cleanup, the children go with their owner', async () => {
    env = await createTestEnv({
      tickMs: 60_000,
      kinds: [Part],
      reconcilers: [
        defineReconciler(Widget, {
          owns: [Part],
          reconcile: async (_, ctx) => {
            await ctx.apply(Part, { metadata: { name: 'w' }, spec: {} })
            return done()
          },
        }),
      ],
    })
    await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
    await env.settle()
    expect(await env.get(Part, 'w')).toBeDefined()
    expect(await env.delete(Widget, 'w')).toMatchObject({ gone: true })
    await env.settle()
    expect(await env.get(Part, 'w')).toBeUndefined()
  })
})
