import * as z from 'zod'
import { afterEach, describe, expect, it } from 'vitest'
import { ConfigMap, defineKind, defineReconciler, done, Namespace, type Context } from '../../shared/index.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'
import { Widget } from './support/primary.ts'

/** What a run means by a name without a namespace, of kinds that are in one and of those that are not. */

const Zone = defineKind({
  group: 'test.setpoint.dev',
  version: 'v1',
  kind: 'Zone',
  scope: 'Cluster',
  spec: z.object({}),
})
const grants = [
  { kind: Namespace, access: 'read' },
  { kind: ConfigMap, access: 'write' },
  { kind: Zone, access: 'write' },
] as const

let env: TestEnv
afterEach(() => env.close())

it('an object in a namespace lists all objects of a kind that is in none', async () => {
  let listed: readonly (readonly string[])[] = []
  const reconcile = async (_: unknown, ctx: Context) => {
    const found = [await ctx.list(Namespace), await ctx.list(Zone), await ctx.list(Zone, { namespace: 'elsewhere' })]
    listed = found.map((objects) => objects.map(({ metadata }) => metadata.name))
    return done()
  }
  env = await createTestEnv({ kinds: [Zone], reconcilers: [defineReconciler(Widget, { grants, reconcile })] })
  await env.apply(Zone, { metadata: { name: 'z' }, spec: {} })
  await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
  await env.settle()
  expect(listed).toEqual([['default'], ['z'], ['z']])
})

describe('an object in no namespace that leaves out the namespace of another is told so', () => {
  const here = { metadata: { name: 'c' }, data: {} }
  it.each<[string, (ctx: Context) => Promise<unknown>]>([
    ['get', (ctx) => ctx.get(ConfigMap, 'c')],
    ['apply', (ctx) => ctx.apply(ConfigMap, here)],
    ['create', (ctx) => ctx.create(ConfigMap, here)],
    ['patch', (ctx) => ctx.patch(ConfigMap, 'c', {})],
    ['delete', (ctx) => ctx.delete(ConfigMap, 'c')],
  ])('by %s', async (_verb, call) => {
    const reconcile = async (__: unknown, ctx: Context) => {
      await call(ctx)
      return done()
    }
    env = await createTestEnv({ reconcilers: [defineReconciler(Zone, { grants, reconcile })] })
    await env.apply(Zone, { metadata: { name: 'z' }, spec: {} })
    await env.settle()
    const message = 'ConfigMap c is in a namespace: say which, as { namespace, name }'
    expect((await env.get(Zone, 'z'))?.status?.conditions).toMatchObject([{ reason: 'Refused', message }, {}])
  })
})
