import * as z from 'zod'
import { afterEach, describe, expect, it } from 'vitest'
import { again, ConfigMap, defineKind, defineReconciler, done, waiting } from '../../shared/index.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'
import { failing, Widget, widgetOf, widgets, type RunRecord } from './support/widgets.ts'

/** Patterns that work, and cost: they are seen, counted and told of. */

let env: TestEnv
let runs: RunRecord[]
afterEach(() => env.close())

const create = (name = 'w'): Promise<unknown> => env.apply(Widget, { metadata: { name }, spec: {} })
const advice = (): readonly unknown[] =>
  env.logs.filter(({ message }) => message === 'advice').map(({ fields }) => fields['advice'])

describe('advice', () => {
  it('A12 is given when the same error comes five times, and not when errors differ', async () => {
    env = await createTestEnv({
      tickMs: 60_000,
      reconcilers: [
        widgets(
          (runs = []),
          failing(Infinity, () => new Error('not ready yet')),
        ),
      ],
    })
    await create()
    await env.advance('1m')
    expect(advice()).toEqual(['RepeatedError'])
    await env.close()
    env = await createTestEnv({
      tickMs: 60_000,
      reconcilers: [
        widgets(
          (runs = []),
          failing(Infinity, () => new Error(`no ${runs.length}`)),
        ),
      ],
    })
    await create()
    await env.advance('1m')
    expect(runs.length).toBeGreaterThan(5)
    expect(advice()).toEqual([])
  })

  it('A28 is given for polling what the controller could watch', async () => {
    const notReady = waiting('ChildNotReady', 'the child is not ready')
    env = await createTestEnv({
      tickMs: 60_000,
      reconcilers: [widgets((runs = []), () => again('5s', { ready: notReady }), { owns: [ConfigMap] })],
    })
    await create()
    await env.advance('30s')
    expect(advice()).toEqual([])
    await env.advance('30s')
    expect(advice()).toEqual(['Polling'])
  })

  it('A28 is not given for polling what is outside', async () => {
    env = await createTestEnv({
      tickMs: 60_000,
      reconcilers: [widgets((runs = []), () => again('5s', { ready: waiting('Creating', 'the vendor is at it') }))],
    })
    await create()
    await env.advance('5m')
    expect(runs.length).toBeGreaterThan(50)
    expect(advice()).toEqual([])
  })

  it('A30 is given for running on though all is as declared, once an hour', async () => {
    env = await createTestEnv({
      tickMs: 60_000,
      reconcilers: [widgets((runs = []), () => again('10s', { ready: true }))],
    })
    await create()
    await env.advance('30m')
    expect(advice()).toEqual(['SteadyRequeue'])
    await env.advance('1h')
    expect(advice()).toEqual(['SteadyRequeue', 'SteadyRequeue'])
  })

  it('A36 is given for a spec that says what to do instead of what is to be', async () => {
    const Job = defineKind({
      group: 'test.setpoint.dev',
      version: 'v1',
      kind: 'Job',
      spec: z.object({ restartNow: z.boolean().optional(), image: z.string().optional() }),
    })
    let restarts = 0
    const restarting = defineReconciler(Job, {
      reconcile: async ({ spec: { restartNow = false } }) => {
        if (restartNow) restarts++
        return done()
      },
    })
    env = await createTestEnv({ tickMs: 60_000, reconcilers: [restarting] })
    expect(env.logs).toContainEqual(
      expect.objectContaining({
        message: 'advice',
        fields: expect.objectContaining({ advice: 'ImperativeSpec', about: 'Job spec.restartNow' }),
      }),
    )
    // What the advice is about: the action is taken once more by each resync.
    await env.apply(Job, { metadata: { name: 'j' }, spec: { restartNow: true } })
    await env.advance('21h')
    expect(restarts).toBe(3)
  })

  it('B17 is given for a hot loop', async () => {
    env = await createTestEnv({ tickMs: 60_000, reconcilers: [widgets((runs = []), () => again(0))] })
    await create()
    await env.settle()
    expect(advice()).toContain('HotLoop')
  })
})

describe('idempotency', () => {
  it('A20 ten runs on the same spec write nothing after the first', async () => {
    env = await createTestEnv({
      tickMs: 60_000,
      reconcilers: [
        widgets((runs = []), async (widget, ctx) => {
          await ctx.apply(ConfigMap, { metadata: { name: 'child' }, data: { size: String(widget.spec.size) } })
          return done({ status: { size: widget.spec.size } })
        }),
      ],
    })
    await create()
    await env.settle()
    const writes = () =>
      env.calls.filter(({ call }) => ['store.create', 'store.replace', 'store.remove'].includes(call))
    await env.patch(Widget, 'w', { metadata: { annotations: { n: '0' } } })
    await env.settle()
    const before = writes().length
    for (let i = 1; i <= 10; i++) {
      await env.patch(Widget, 'w', { metadata: { annotations: { n: String(i) } } })
      await env.settle()
    }
    expect(runs).toHaveLength(12)
    expect(writes().length - before).toBe(10)
  })
})

describe('conflicts', () => {
  it('D21 a status written while another writes is written again, and nobody hears of it', async () => {
    env = await createTestEnv({
      tickMs: 60_000,
      reconcilers: [
        widgets(
          (runs = []),
          async ({ spec, metadata }, ctx) => {
            await env.patch(Widget, metadata.name, { metadata: { labels: { at: String(ctx.now()) } } })
            return done({ status: { size: spec.size } })
          },
          { when: ({ touched }) => !touched.includes('labels') },
        ),
      ],
    })
    await create()
    await env.settle()
    expect((await widgetOf(env)).status).toMatchObject({ size: 1, observedGeneration: 1 })
    expect(env.logs.filter(({ level }) => level !== 'debug')).toEqual([])
    expect((await widgetOf(env)).status).not.toHaveProperty('reconcile')
  })

  it('D5 fields of another writer are kept, and the same field is taken with what was declared', async () => {
    env = await createTestEnv({
      tickMs: 60_000,
      reconcilers: [
        widgets(
          (runs = []),
          async (_, ctx) => {
            await ctx.apply(ConfigMap, { metadata: { name: 'child' }, data: { mine: '1' } })
            return done()
          },
          { owns: [ConfigMap] },
        ),
      ],
    })
    await create()
    await env.settle()
    await env.patch(ConfigMap, 'child', { data: { theirs: '2', mine: 'changed' } }, { manager: 'somebody' })
    await env.settle()
    expect(await env.get(ConfigMap, 'child')).toMatchObject({ data: { mine: '1', theirs: '2' } })
  })
})
