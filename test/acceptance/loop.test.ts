import * as z from 'zod'
import { afterEach, describe, expect, it } from 'vitest'
import {
  again,
  conditionOf,
  defineKind,
  defineReconciler,
  done,
  type Controller,
  type ObjectOf,
} from '../../shared/index.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'

const Widget = defineKind({
  group: 'test.setpoint.dev',
  version: 'v1',
  kind: 'Widget',
  spec: z.object({ size: z.number().int().default(1) }),
  status: z.object({ size: z.number().int() }),
})

let env: TestEnv
afterEach(() => env.close())

function copying(seen: number[]): Controller {
  return defineReconciler(Widget, {
    reconcile: async (widget) => {
      seen.push(widget.spec.size)
      return done({ status: { size: widget.spec.size } })
    },
  })
}

describe('the loop', () => {
  it('runs a new object once and tells of it', async () => {
    const seen: number[] = []
    env = await createTestEnv({ reconcilers: [copying(seen)] })
    await env.apply(Widget, { metadata: { name: 'w' }, spec: { size: 3 } })
    await env.settle()
    const widget = (await env.get(Widget, 'w')) as ObjectOf<typeof Widget>
    expect(widget.status).toMatchObject({ size: 3, observedGeneration: 1 })
    expect(conditionOf(widget, 'Ready')).toMatchObject({ status: 'True' })
    expect(seen).toEqual([3])
  })

  it('A9 D29 a failure backs off doubling, and success forgets it', async () => {
    const runs: number[] = []
    let fails = 4
    env = await createTestEnv({
      reconcilers: [
        defineReconciler(Widget, {
          reconcile: async (_, ctx) => {
            runs.push(ctx.now())
            if (fails-- > 0) throw new Error('no luck')
            return done()
          },
        }),
      ],
    })
    await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
    await env.advance('1m')
    const waits = runs.slice(1).map((at, i) => at - (runs[i] ?? 0))
    expect(waits).toHaveLength(4)
    expect(waits[0]).toBe(1000)
    for (const [i, wait] of waits.entries()) expect(wait).toBeLessThanOrEqual(1000 * 2 ** i)
    expect(await env.get(Widget, 'w')).not.toHaveProperty('status.reconcile')
  })

  it('survives a crash in the middle of a wait', async () => {
    const runs: number[] = []
    env = await createTestEnv({
      reconcilers: [
        defineReconciler(Widget, {
          reconcile: async (_, ctx) => {
            runs.push(ctx.now())
            return again('30s')
          },
        }),
      ],
    })
    await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
    await env.advance('10s')
    await env.crash()
    await env.advance('25s')
    expect(runs.map((at) => at - (runs[0] ?? 0))).toEqual([0, 30_000])
  })
})
