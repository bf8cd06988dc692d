import { afterEach, expect, it } from 'vitest'
import { ConfigMap, defineReconciler, done, Secret, type Context } from '../../shared/index.ts'
import { awsEngine } from '../../shared/testing-aws/aws-engine.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'
import { Part, Widget } from './support/primary.ts'
import { conditionOfWidget } from './support/widgets.ts'

let env: TestEnv
afterEach(() => env.close())

const calls: Readonly<Record<string, (ctx: Context) => Promise<unknown>>> = {
  get: (ctx) => ctx.get(Secret, 's'),
  list: (ctx) => ctx.list(Secret),
  children: (ctx) => ctx.children(Secret),
  apply: (ctx) => ctx.apply(Secret, { metadata: { name: 's' } }),
  create: (ctx) => ctx.create(Secret, { metadata: { name: 's' } }),
  patch: (ctx) => ctx.patch(Secret, 's', {}),
  delete: (ctx) => ctx.delete(Secret, 's'),
}

const options = { SQLite: {}, DynamoDB: { engine: awsEngine } } as const

it.each([
  ...Object.keys(calls).map((verb) => ['SQLite', verb] as const),
  ['DynamoDB', 'list'] as const,
  ['DynamoDB', 'apply'] as const,
])('on %s a reconciler fails at a %s that it does not declare', async (engine, verb) => {
  const reconcile = async (_: unknown, ctx: Context) => {
    await ctx.get(Widget, 'w')
    await ctx.apply(Part, { metadata: { name: 'p' }, spec: {} })
    await ctx.get(ConfigMap, 'c')
    await calls[verb]?.(ctx)
    return done()
  }
  const grants = [{ kind: ConfigMap, access: 'read' }] as const
  const reconcilers = [defineReconciler(Widget, { owns: [Part], grants, reconcile })]
  env = await createTestEnv({ reconcilers, ...options[engine] })
  await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
  await env.settle()
  const access = ['get', 'list', 'children'].includes(verb) ? 'read' : 'write'
  expect(await conditionOfWidget(env, 'Ready')).toMatchObject({
    status: 'False',
    message: expect.stringContaining(`the reconciler widget may not ${access} Secret (core)`),
  })
  expect(await env.get(Part, 'p')).toBeDefined()
  expect(await env.get(Secret, 's')).toBeUndefined()
})

it('a reconciler without grants may do what it owns and watches, and its condition says what else to declare', async () => {
  const reconcile = async (_: unknown, ctx: Context) => {
    await ctx.apply(Part, { metadata: { name: 'p' }, spec: {} })
    await ctx.get(ConfigMap, 'c')
    return done()
  }
  env = await createTestEnv({ reconcilers: [defineReconciler(Widget, { owns: [Part], reconcile })] })
  await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
  await env.settle()
  expect(await conditionOfWidget(env, 'Ready')).toMatchObject({
    status: 'False',
    message: expect.stringContaining("add grants: [{ kind: ConfigMap, access: 'read' }] to its definition"),
  })
  expect(await env.get(Part, 'p')).toBeDefined()
})
