import { afterEach, describe, expect, it } from 'vitest'
import { again, ConfigMap, defineReconciler, done } from '../../shared/index.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'
import { Widget } from './support/primary.ts'

let env: TestEnv
afterEach(() => env.close())

describe('the flow', () => {
  it('J1 a trigger during a run starts no second one at once, and one more when it has ended', async () => {
    const runs: { readonly size: number; readonly fromMs: number; readonly toMs: number }[] = []
    env = await createTestEnv({
      tickMs: 60_000,
      reconcilers: [
        defineReconciler(Widget, {
          reconcile: async (widget, ctx) => {
            const fromMs = ctx.now()
            await ctx.sleep('5s')
            runs.push({ size: widget.spec.size, fromMs, toMs: ctx.now() })
            return done()
          },
        }),
      ],
    })
    await env.apply(Widget, { metadata: { name: 'w' }, spec: { size: 1 } })
    await env.advance('1s')
    for (const size of [2, 3, 4]) await env.apply(Widget, { metadata: { name: 'w' }, spec: { size } })
    await env.advance('1m')
    expect(runs.map(({ size }) => size)).toEqual([1, 4])
    expect(runs[1]?.fromMs).toBe(runs[0]?.toMs)
  })

  const endings = [
    { ends: 'throws', event: false, nextMs: 1_000, because: 'an exception is retried' },
    { ends: 'throws', event: true, nextMs: 0, because: 'an edit waits for no backoff' },
    { ends: 'again', event: true, nextMs: 0, because: 'an event goes before the timer' },
    { ends: 'again', event: false, nextMs: 30_000, because: 'without events the timer is next' },
    { ends: 'done', event: true, nextMs: 0, because: 'an event is never lost' },
    { ends: 'done', event: false, nextMs: undefined, because: 'nothing is left to do' },
  ] as const

  it.each(endings)('J2 after a run that $ends, event meanwhile: $event: $because', async ({ ends, event, nextMs }) => {
    const endOf = { throws: () => Promise.reject(new Error('no luck')), again: () => again('30s'), done: () => done() }
    const startsMs: number[] = []
    let endedMs = 0
    env = await createTestEnv({
      tickMs: 60_000,
      reconcilers: [
        defineReconciler(Widget, {
          reconcile: async (_, ctx) => {
            startsMs.push(ctx.now())
            if (startsMs.length > 1) return done()
            await ctx.sleep('2s')
            endedMs = ctx.now()
            return endOf[ends]()
          },
        }),
      ],
    })
    await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
    await env.advance('1s')
    if (event) await env.apply(Widget, { metadata: { name: 'w' }, spec: { size: 2 } })
    await env.advance('1h')
    expect(endedMs - (startsMs[0] ?? 0)).toBe(2_000)
    expect(startsMs.slice(1).map((ms) => ms - endedMs)).toEqual(nextMs === undefined ? [] : [nextMs])
  })
})

describe('the phases', () => {
  function recording(phases: string[], withCleanup: boolean) {
    return defineReconciler(Widget, {
      owns: [ConfigMap],
      reconcile: async () => {
        phases.push('reconcile')
        return done()
      },
      ...(withCleanup && {
        cleanup: async () => {
          phases.push('cleanup')
          return again('30s')
        },
      }),
    })
  }

  it('J3 an object that is not being deleted is reconciled, and never cleaned up', async () => {
    const phases: string[] = []
    env = await createTestEnv({ tickMs: 60_000, reconcilers: [recording(phases, true)] })
    await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
    await env.settle()
    await env.apply(Widget, { metadata: { name: 'w' }, spec: { size: 2 } })
    await env.advance('11h')
    expect(phases).toEqual(['reconcile', 'reconcile', 'reconcile'])
  })

  it('J4 an object that is marked for deletion is cleaned up, and never reconciled', async () => {
    const phases: string[] = []
    env = await createTestEnv({ tickMs: 60_000, reconcilers: [recording(phases, true)] })
    await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
    await env.settle()
    await env.delete(Widget, 'w')
    await env.patch(Widget, 'w', { spec: { size: 2 }, metadata: { labels: { a: 'b' } } })
    await env.advance('5m')
    expect(phases[0]).toBe('reconcile')
    expect(new Set(phases.slice(1))).toEqual(new Set(['cleanup']))
  })

  it('J5 without cleanup there is never a finalizer, deletion is immediate, and nothing runs for it', async () => {
    const phases: string[] = []
    env = await createTestEnv({ tickMs: 60_000, reconcilers: [recording(phases, false)] })
    await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
    await env.settle()
    expect((await env.get(Widget, 'w'))?.metadata).not.toHaveProperty('finalizers')
    expect(await env.delete(Widget, 'w')).toMatchObject({ gone: true })
    await env.advance('11h')
    expect(phases).toEqual(['reconcile'])
  })

  it("J5 nor does anything run while somebody else's finalizer holds a deleted object", async () => {
    const phases: string[] = []
    env = await createTestEnv({ tickMs: 60_000, reconcilers: [recording(phases, false)] })
    await env.applyManifest({
      apiVersion: 'test.setpoint.dev/v1',
      kind: 'Widget',
      metadata: { name: 'w', finalizers: ['example.dev/other'] },
      spec: {},
    })
    await env.settle()
    await env.delete(Widget, 'w')
    await env.advance('11h')
    expect(phases).toEqual(['reconcile'])
  })
})
