import * as z from 'zod'
import { afterEach, expect, it } from 'vitest'
import { defineKind, defineReconciler, done, type Context, type Controller } from '../../shared/index.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'

/**
 * Promises 1 and 10 for an object that is accepted with hardly a byte to spare: no room for its finalizer, its status,
 * or a condition.
 */
const Crate = defineKind({
  group: 'test.setpoint.dev',
  version: 'v1',
  kind: 'Crate',
  spec: z.object({ filling: z.string() }),
  status: z.object({ weight: z.number().optional(), label: z.string().optional() }),
})

let env: TestEnv
let runs: number
afterEach(() => env.close())

function crates(act: (ctx: Context) => Promise<void> = async () => {}): Controller {
  runs = 0
  return defineReconciler(Crate, {
    reconcile: async ({ spec: { filling } }, ctx) => {
      runs++
      await act(ctx)
      // Takes more room than the engine has beside a spec on any store, and more than it frees with its first run.
      return done({ status: { weight: filling.length, label: 'x'.repeat(500) } })
    },
    cleanup: async () => done(),
  })
}

const limit = 350 * 1_024

/** As full as may be. */
async function fill(annotations: Readonly<Record<string, string>> = {}): Promise<void> {
  const metadata = { name: 'w', annotations }
  const crateOf = (size: number) => env.apply(Crate, { metadata, spec: { filling: 'x'.repeat(size) } })
  const refused = await crateOf(limit).then(
    () => '',
    (error: unknown) => String(error),
  )
  const tooMany = Number(/would take (\d+) bytes/.exec(refused)?.[1]) - limit
  await crateOf(limit - tooMany)
}

it('runs, and says by its wait that its status has no room; smaller, it is as it should be, and it can go', async () => {
  env = await createTestEnv({ reconcilers: [crates()] })
  await fill()
  await env.advance('10m')
  expect(runs).toBe(1)
  expect((await env.get(Crate, 'w'))?.metadata.finalizers).toHaveLength(1)
  expect((await env.get(Crate, 'w'))?.status).toMatchObject({
    reconcile: { waiting: 'Stopped', lastError: expect.stringContaining('the limit is 358400') },
  })
  await env.patch(Crate, 'w', { spec: { filling: 'x' } })
  await env.settle()
  expect((await env.get(Crate, 'w'))?.status).toMatchObject({ weight: 1, observedGeneration: 2 })
  await env.delete(Crate, 'w')
  await env.settle()
  expect(await env.get(Crate, 'w')).toBeUndefined()
  expect(env.logs.filter(({ message }) => message === 'turn not ended')).toEqual([])
})

it('can be paused though it cannot say so', async () => {
  env = await createTestEnv({ reconcilers: [crates()] })
  await fill({ 'setpoint.dev/paused': 'true' })
  await env.advance('10m')
  expect(runs).toBe(0)
  expect(env.logs.filter(({ message }) => message === 'turn not ended')).toEqual([])
  await env.patch(Crate, 'w', { metadata: { annotations: { 'setpoint.dev/paused': null } }, spec: { filling: 'x' } })
  await env.settle()
  expect(runs).toBe(1)
})

it.each<[string, (ctx: Context) => Promise<void>]>([
  [
    'expects much, and has done much once',
    async (ctx) => {
      for (let i = 0; i < 8; i++) await ctx.once(`certificate-${i}`, async () => 'x'.repeat(4_000))
      for (let i = 0; i < 50; i++) ctx.expectations.set(`${i}`.padEnd(200, 'x'), ctx.now() + 60_000)
    },
  ],
  [
    'notes much, and has done much once',
    async (ctx) => {
      for (let i = 0; i < 9; i++) await ctx.once(`certificate-${i}`, async () => 'x'.repeat(4_080))
      ctx.notes.set('a', 'x'.repeat(4_080))
    },
  ],
])('says why it stopped where its run %s', async (_what, act) => {
  env = await createTestEnv({ reconcilers: [crates(act)] })
  await fill()
  await env.advance('10m')
  expect([runs, env.logs.filter(({ message }) => message === 'turn not ended')]).toEqual([1, []])
  expect((await env.get(Crate, 'w'))?.status).toMatchObject({ reconcile: { waiting: 'Stopped' } })
})

it('says why it stopped where its run has failed with a call under way, and is not run again at once', async () => {
  env = await createTestEnv({
    reconcilers: [
      crates(async (ctx) => {
        void ctx.once('order', async () => 'x')
        throw new Error('away')
      }),
    ],
  })
  await fill()
  await env.advance('1m')
  expect(runs).toBeLessThan(20)
  expect(JSON.stringify((await env.get(Crate, 'w'))?.status)).toMatch(/away|the limit is/)
})

it('has room to say why it waits, however much its runs remember', async () => {
  env = await createTestEnv({
    reconcilers: [
      crates(async (ctx) => {
        for (let length = 4_000, i = 0; runs === 1 && i < 32 && length > 10; i++)
          await ctx.once(`k${i}`, async () => 'x'.repeat(length)).catch(() => (length = Math.floor(length / 2)))
        throw new Error('away')
      }),
    ],
  })
  await fill()
  await env.advance('1h')
  expect(runs).toBeLessThan(20)
  expect(JSON.stringify((await env.get(Crate, 'w'))?.status)).toMatch(/away|the limit is/)
})
