import { afterEach, describe, expect, it } from 'vitest'
import { ConfigMap, defineReconciler, done, Secret, type Context } from '../../shared/index.ts'
import { createHarness } from '../unit/api/harness.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'

/** What no text may hold. It is no base64, so that it is refused as data. */
const value = 'clear!-text'
const secrets = '/api/v1/namespaces/default/secrets'

describe('a Secret that is refused', () => {
  let env: TestEnv
  afterEach(() => env.close())

  const refused: readonly (readonly [string, (ctx: Context) => Promise<unknown>])[] = [
    ['data that is not base64', (ctx) => ctx.apply(Secret, { metadata: { name: 's' }, data: { password: value } })],
    ['the same, created', (ctx) => ctx.create(Secret, { metadata: { name: 's' }, data: { password: value } })],
    ['data that is no map', (ctx) => ctx.apply(Secret, { metadata: { name: 's' }, data: value as never })],
    [
      'stringData that is no map',
      (ctx) => ctx.create(Secret, { metadata: { name: 's' }, stringData: [value] as never }),
    ],
    [
      'a value that is a map',
      (ctx) => ctx.apply(Secret, { metadata: { name: 's' }, data: { a: { b: value } } as never }),
    ],
  ]

  it.each(refused)('for %s says where, and in no place what', async (_, write) => {
    const reconciler = defineReconciler(ConfigMap, {
      name: 'leaking',
      async reconcile({ metadata: { name } }, ctx) {
        if (name === 'c') await write(ctx)
        return done()
      },
    })
    env = await createTestEnv({ reconcilers: [reconciler] })
    await env.apply(ConfigMap, { metadata: { name: 'c' }, data: {} })
    await env.settle()
    const failed = env.logs.filter(({ level }) => level === 'warn' || level === 'error')
    expect(failed.length).toBeGreaterThan(0)
    expect(JSON.stringify(failed)).toMatch(/Secret/)
    const kept = JSON.stringify([env.logs, env.calls])
    // What was asked of the store: the ConfigMap and its engine state, events.
    expect(kept).not.toContain(value)
  })
})

describe('the API', () => {
  const bodies: readonly (readonly [string, object | string])[] = [
    ['data that is not base64', { metadata: { name: 's' }, data: { password: value } }],
    ['data that is no map', { metadata: { name: 's' }, data: value }],
    ['data that is a list', { metadata: { name: 's' }, data: [value] }],
    ['stringData that is no map', { metadata: { name: 's' }, stringData: value }],
    ['a value that is a map', { metadata: { name: 's' }, stringData: [{ a: value }] }],
    ['no JSON', `{"metadata": {"name": "s"}, "data": {"password": ${value}}}`],
    ['a number', '{"metadata": {"name": "s"}, "data": {"pin": 12345678901234567}}'],
  ]

  it.each(bodies)('refuses %s without repeating it', async (_, body) => {
    await using stack = new AsyncDisposableStack()
    const harness = stack.adopt(await createHarness(), (one) => one.close())
    await harness.send(`POST ${secrets}`, { body: { metadata: { name: 'live' }, data: {} } })
    const sends = [
      () => harness.send(`POST ${secrets}`, { body: body as never }),
      () => harness.send(`PATCH ${secrets}/live`, { body: body as never, type: 'application/merge-patch+json' }),
      () =>
        harness.send(`PATCH ${secrets}/s?fieldManager=a`, {
          body: body as never,
          type: 'application/apply-patch+yaml',
        }),
      () => harness.send(`PUT ${secrets}/live`, { body: body as never }),
    ]
    for (const send of sends) {
      const reply = await send()
      expect(reply.status).toBeGreaterThanOrEqual(400)
      expect(reply.status).toBeLessThan(500)
      const said = JSON.stringify([reply.body, harness.errors])
      for (const part of [value, 'clear', '12345678']) expect(said).not.toContain(part)
    }
  })
})
