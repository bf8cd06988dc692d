import * as z from 'zod'
import { expect, it } from 'vitest'
import { defineKind, defineReconciler, done, type Controller } from '../../shared/index.ts'
import { createTestEnv } from '../../shared/testing/test-env.ts'
import { Widget } from './support/widgets.ts'

const group = 'test.setpoint.dev'
const Zone = defineKind({ group, version: 'v1', kind: 'Zone', spec: z.object({ domain: z.string() }) })
const ZoneWithTtl = defineKind({
  group,
  version: 'v1',
  kind: 'Zone',
  spec: z.object({ domain: z.string(), ttl: z.number().int().default(300) }),
})

it('a reconciler finds the defaults of its kind in objects that are older than these', async () => {
  const given: number[] = []
  const read: number[] = []
  const reading: readonly Controller[] = [
    defineReconciler(ZoneWithTtl, {
      reconcile: async ({ spec }) => {
        given.push(spec.ttl)
        return done()
      },
    }),
    defineReconciler(Widget, {
      grants: [{ kind: ZoneWithTtl, access: 'read' }],
      reconcile: async (_, ctx) => {
        const zones = [await ctx.get(ZoneWithTtl, 'z'), ...(await ctx.list(ZoneWithTtl))]
        read.push(...zones.map((zone) => zone?.spec.ttl ?? 0))
        return done()
      },
    }),
  ]
  await using env = await createTestEnv({
    tickMs: 60_000,
    reconcilers: [defineReconciler(Zone, { reconcile: async () => done() })],
  })
  await env.apply(Zone, { metadata: { name: 'z' }, spec: { domain: 'example.dev' } })
  await env.settle()

  await env.crash(reading)
  await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
  await env.advance('11h')
  for (const seen of [given, read]) expect(new Set(seen)).toEqual(new Set([300]))
  expect(read.length).toBeGreaterThanOrEqual(2)
  expect(await env.get(Zone, 'z')).toMatchObject({ metadata: { generation: 1 } })
})

it('what became invalid meanwhile may stay, beside a default that was added with it', async () => {
  const Stricter = defineKind({
    group,
    version: 'v1',
    kind: 'Zone',
    spec: z.object({ domain: z.string(), contact: z.string(), ttl: z.number().int().default(300) }),
  })
  const idle = (kind: typeof Zone): Controller => defineReconciler(kind, { reconcile: async () => done() })
  await using env = await createTestEnv({ tickMs: 60_000, reconcilers: [idle(Zone)] })
  await env.apply(Zone, { metadata: { name: 'z' }, spec: { domain: 'example.dev' } })
  await env.crash([idle(Stricter)])
  const annotated = await env.patch(Zone, 'z', { metadata: { annotations: { 'setpoint.dev/paused': 'true' } } })
  expect(annotated).toMatchObject({
    metadata: { annotations: { 'setpoint.dev/paused': 'true' }, generation: 1 },
    spec: { ttl: 300 },
  })
  await expect(env.patch(Zone, 'z', { spec: { domain: 'example.com' } })).rejects.toThrow(
    'spec.contact: Required value',
  )
})
