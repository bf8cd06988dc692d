import { afterEach, expect, it } from 'vitest'
import { defineReconciler, done } from '../../shared/index.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'
import { Widget } from './support/widgets.ts'

let env: TestEnv
afterEach(() => env.close())

it('a new object does not wait for the backoff of the last run of the object before it', async () => {
  const runs: { readonly isLast: boolean; readonly atMs: number }[] = []
  const controller = defineReconciler(Widget, {
    onRemoved: 'reconcile',
    reconcile: async (_, ctx) => {
      runs.push({ isLast: ctx.removed, atMs: ctx.now() })
      if (!ctx.removed) return done()
      await ctx.sleep('2s')
      throw new Error('not yet')
    },
  })
  const lastRuns = (): number => runs.filter(({ isLast }) => isLast).length
  env = await createTestEnv({ reconcilers: [controller] })
  await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
  await env.advance('2m')
  await env.delete(Widget, 'w')
  // The backoff of the sixth one is half a minute or so, which on AWS is a message that is hidden.
  for (let i = 0; lastRuns() < 6 && i < 1_200; i++) await env.advance('500ms')
  expect(lastRuns()).toBe(6)
  const madeMs = env.nowMs()
  await env.apply(Widget, { metadata: { name: 'w' }, spec: { size: 2 } })
  await env.advance('3m')
  const first = runs.find(({ isLast, atMs }) => !isLast && atMs >= madeMs)
  expect((first?.atMs ?? Infinity) - madeMs).toBeLessThan(10_000)
})
