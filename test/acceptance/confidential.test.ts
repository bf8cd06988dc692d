import * as z from 'zod'
import { afterEach, describe, expect, it } from 'vitest'
import {
  again,
  ConfigMap,
  defineKind,
  defineReconciler,
  done,
  Secret,
  stop,
  waiting,
  withReport,
  type Context,
  type ObjectOf,
  type Outcome,
  type StatusOf,
} from '../../shared/index.ts'
import { createHarness } from '../unit/api/harness.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'
import { conditionOfWidget, Widget, widgetOf, type WidgetStatus } from './support/widgets.ts'

/** What no text may hold. It is no base64, so that it is refused as data. */
const value = 'clear!-text'
/** Of reconcilers that tell what they know. */
const grants = [{ kind: Secret, access: 'write' }] as const
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

/** Also as others would write it: in an address, in JSON, as it is stored. */
const password = 'p@ss"word +1'
const encoded = Buffer.from(password).toString('base64')
const forms = [
  password,
  encodeURIComponent(password),
  encoded,
  encoded.replace(/=+$/, ''),
  JSON.stringify(password).slice(1, -1),
]

describe('a reconciler that tells what it has read in a Secret', () => {
  let env: TestEnv
  afterEach(() => env.close())

  type Run = (text: string, ctx: Context) => Promise<Outcome<WidgetStatus>> | Outcome<WidgetStatus>

  const read = async (ctx: Context): Promise<string> => {
    const { data = {} } = (await ctx.get(Secret, 's')) ?? {}
    return Buffer.from(data['password'] ?? '', 'base64')
      .toString()
      .trim()
  }

  /** Everything that was told, but for the Secret itself. */
  async function tellAfter(run: Run, stored: string = password): Promise<string> {
    const reconcile = async (_: unknown, ctx: Context) => {
      const text = await read(ctx)
      return run(`${text} ${encodeURIComponent(text)} ${JSON.stringify(text)} ${btoa(text)}`, ctx)
    }
    env = await createTestEnv({ reconcilers: [defineReconciler(Widget, { grants, reconcile })] })
    const data = { password: Buffer.from(stored).toString('base64'), port: btoa('5432'), on: btoa('true') }
    await env.apply(Secret, { metadata: { name: 's' }, data })
    const before = env.calls.length
    await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
    await env.settle()
    return JSON.stringify([env.logs, env.calls.slice(before).map(({ args }) => args), await widgetOf(env)])
  }

  function expectNothingIn(told: string): void {
    for (const form of forms) {
      expect(told).not.toContain(form)
      expect(told).not.toContain(JSON.stringify(form).slice(1, -1))
    }
    expect(told).toMatch(/\*\*\*|Masked/)
  }

  const throwing =
    (error: (text: string) => unknown): Run =>
    (text) => {
      throw error(text)
    }

  const telling =
    (tell: (text: string, ctx: Context) => unknown): Run =>
    async (text, ctx) => {
      await tell(text, ctx)
      return done()
    }

  const runs: readonly (readonly [string, Run])[] = [
    ['an error', throwing((text) => new Error(`cannot log in with ${text}`))],
    ['an error of the program, with its stack', throwing((text) => new TypeError(`no ${text}`))],
    ['an error that is cut to its length', throwing((text) => new Error(`${'x'.repeat(4_090)}${text}`))],
    ['the reason of a stop', throwing((text) => stop(text, text))],
    ['the report of an error', throwing((text) => withReport(new Error('no'), { status: { seen: text } }))],
    ['what is no error', throwing((text) => ({ code: 'E1', detail: text }))],
    ['an event', telling((text, ctx) => ctx.event('Warning', 'Broken', `with ${text}`))],
    ['a drift', telling((text, ctx) => ctx.outside.recordDrift(`with ${text}`))],
    ['a log line', telling((text, { log }) => log.info(`with ${text}`))],
    ['fields of a log line', telling((text, { log }) => log.warn('with', { deep: [{ text }], [text]: 1 }))],
    ['a logger of its own', telling((text, { log }) => log.with({ text }).with({ also: text }).error('with'))],
    ['a status', (text) => done({ status: { seen: text } })],
    [
      'a status that it patches',
      telling((text, ctx) => ctx.patch(Widget, 'w', { status: { seen: text } }, { subresource: 'status' })),
    ],
    ['why it is not ready', (text) => done({ ready: waiting('No', `with ${text}`) })],
    ['a condition', (text) => again('1h', { conditions: { Own: { status: 'False', reason: 'No', message: text } } })],
    ['the reason of a condition', (text) => done({ conditions: { Own: { status: 'False', reason: text } } })],
  ]

  it.each(runs)('by %s tells *** in its place', async (_, run) => {
    expectNothingIn(await tellAfter(run))
  })

  it('keeps everything else of what it says, short values among it', async () => {
    await tellAfter(() => {
      throw new Error(`true: no ${password} on 5432, really`)
    })
    expect(await conditionOfWidget(env, 'Ready')).toMatchObject({ message: 'true: no *** on 5432, really' })
    expect(env.logs.filter(({ fields }) => fields?.['advice'] === 'SecretTold')).toHaveLength(1)
  })

  it('knows a value that was stored with the end of its line, and the lines of a key', async () => {
    expectNothingIn(await tellAfter((text) => done({ status: { seen: text } }), `${password}\n`))
    await env.close()
    const line = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC'
    const pem = `-----BEGIN KEY-----\n${line}\n-----END KEY-----\n`
    const told = await tellAfter(() => done({ status: { seen: `at ${line}: bad` } }), pem)
    expect(told).not.toContain(line)
  })

  it('knows what it has written itself, and what it lists', async () => {
    const writing: readonly ((ctx: Context) => Promise<unknown>)[] = [
      (ctx) => ctx.apply(Secret, { metadata: { name: 'new' }, stringData: { token: 'written-1' } }),
      (ctx) => ctx.create(Secret, { metadata: { name: 'new' }, stringData: { token: 'written-1' } }),
      (ctx) => ctx.create(Secret, { metadata: { name: 'No' }, stringData: { token: 'written-1' } }).catch(() => {}),
      (ctx) => ctx.patch(Secret, 's', { data: { password: btoa('written-1') } }),
      (ctx) => ctx.patch(Secret, 's', { data: { password: btoa('written-1') } }).then(() => ctx.list(Secret)),
    ]
    for (const write of writing) {
      await tellAfter(async (_, ctx) => {
        await write(ctx)
        throw new Error('with written-1')
      })
      expect(await conditionOfWidget(env, 'Ready')).toMatchObject({ message: 'with ***' })
      await env.close()
    }
  })

  const remembering: readonly (readonly [string, (ctx: Context) => Promise<unknown>])[] = [
    ['once', (ctx) => ctx.once('password', async () => 'remembered-1')],
    [
      'once, in an object',
      async (ctx) => (await ctx.once('login', async () => ({ id: 'user-12345', password: 'remembered-1' }))).password,
    ],
    [
      'in a note',
      async (ctx) => {
        const noted = ctx.notes.get('deep') ?? { list: [{ password: 'remembered-1' }] }
        ctx.notes.set('deep', noted)
        return (noted as { list: { password: string }[] }).list[0]?.password
      },
    ],
  ]
  it.each(remembering)('knows what an earlier run has left %s, though it reads no Secret', async (_, remember) => {
    let ran = 0
    const reconcile = async (_widget: unknown, ctx: Context) => {
      const token = await remember(ctx)
      if (++ran === 1) await ctx.apply(Secret, { metadata: { name: 'new' }, stringData: { token: String(token) } })
      if (ran === 1) return again('1s')
      await ctx.event('Warning', 'Told', `with ${String(token)}`)
      throw new Error(`user-12345 with ${String(token)}`)
    }
    env = await createTestEnv({ reconcilers: [defineReconciler(Widget, { grants, reconcile })] })
    await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
    await env.settle()
    await env.advance('8s')
    expect(ran).toBeGreaterThan(2)
    expect(await conditionOfWidget(env, 'Ready')).toMatchObject({ message: 'user-12345 with ***' })
    const events = env.calls.filter(({ args }) => JSON.stringify(args).includes('"reason":"Told"'))
    expect(events.length).toBeGreaterThan(0)
    expect(JSON.stringify([env.logs, events, await widgetOf(env)])).not.toContain('remembered-1')
  })

  it('knows what it lists alone, and its children', async () => {
    const reconcile = async (_: unknown, ctx: Context) => {
      const [child] = await ctx.children(Secret)
      if (child === undefined)
        await ctx.apply(Secret, { metadata: { name: 'c' }, stringData: { token: 'child-value' } })
      const [listed] = await ctx.list(Secret, { labels: { listed: 'yes' } })
      if (child === undefined || listed === undefined) return again('1s')
      throw new Error('with child-value and list-value')
    }
    env = await createTestEnv({ reconcilers: [defineReconciler(Widget, { grants, reconcile })] })
    await env.apply(Secret, { metadata: { name: 'l', labels: { listed: 'yes' } }, stringData: { token: 'list-value' } })
    await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
    await env.advance('3s')
    expect(await conditionOfWidget(env, 'Ready')).toMatchObject({ message: 'with *** and ***' })
  })

  it('is a reconciler of Secrets: its own values count', async () => {
    const reconcile = async () => {
      throw new Error('with own-value')
    }
    env = await createTestEnv({ reconcilers: [defineReconciler(Secret, { name: 'secrets', reconcile })] })
    await env.apply(Secret, { metadata: { name: 's' }, stringData: { token: 'own-value' } })
    await env.settle()
    const failed = env.logs.filter(({ level }) => level === 'warn')
    expect(JSON.stringify(failed)).toContain('with ***')
    expect(JSON.stringify(env.logs)).not.toContain('own-value')
  })

  it('is the last run of an object that is gone', async () => {
    const controller = defineReconciler(Widget, {
      grants,
      onRemoved: 'reconcile',
      async reconcile(_, ctx) {
        if (ctx.removed) await ctx.event('Warning', 'Gone', `with ${await read(ctx)}`)
        return done()
      },
    })
    env = await createTestEnv({ reconcilers: [controller] })
    await env.apply(Secret, { metadata: { name: 's' }, stringData: { password } })
    await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
    await env.settle()
    const before = env.calls.length
    await env.delete(Widget, 'w')
    await env.settle()
    expectNothingIn(JSON.stringify([env.logs, env.calls.slice(before).map(({ args }) => args)]))
  })

  it('says what is no secret: names, what the object declares, what the Secret calls public', async () => {
    const reconcile = async (_: ObjectOf<typeof Colored>, ctx: Context) => {
      await ctx.apply(Secret, {
        metadata: { name: 'orders-login', annotations: { 'setpoint.dev/public-keys': 'host, username' } },
        stringData: {
          host: 'db.example',
          username: 'somebody',
          database: 'orders',
          color: 'turquoise',
          token: 'hidden',
        },
      })
      return done<StatusOf<ObjectOf<typeof Colored>>>({
        status: { seen: 'orders-login: somebody at db.example, turquoise, hidden' },
      })
    }
    env = await createTestEnv({ reconcilers: [defineReconciler(Colored, { grants, reconcile })] })
    await env.apply(Colored, { metadata: { name: 'w' }, spec: { color: 'turquoise' } })
    await env.settle()
    expect((await env.get(Colored, 'w'))?.status).toMatchObject({
      seen: 'orders-login: somebody at db.example, turquoise, ***',
    })
  })
})

const Colored = defineKind({
  group: 'test.setpoint.dev',
  version: 'v1',
  kind: 'Colored',
  spec: z.object({ color: z.string() }),
  status: z.object({ seen: z.string() }),
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

  const patchType = 'application/json-patch+json'
  const texts: readonly (readonly [string, string, string])[] = [
    ['an alias', 'application/yaml', `data: {password: *${value}}`],
    ['a tag', 'application/yaml', `data: {password: !${value}! x}`],
    ['the head of a block', 'application/apply-patch+yaml', `data:\n  password: |${value}\n`],
    ['an escape', 'application/apply-patch+yaml', `data: {password: "\\${value}"}`],
    ['a quote without an end', 'application/yaml', `data: {password: "${value}}`],
    ['a test that does not hold', patchType, JSON.stringify([{ op: 'test', path: '/data/password', value }])],
    ['an operation that is none', patchType, JSON.stringify([{ op: value, path: '/data/password' }])],
    ['a path that is none', patchType, JSON.stringify([{ op: 'add', path: [value], value }])],
    ['a patch that is no JSON', patchType, `[{"op": "add", "value": ${value}}]`],
  ]

  it.each(texts)('refuses the text of a Secret with %s without repeating it', async (_, type, body) => {
    await using stack = new AsyncDisposableStack()
    const harness = stack.adopt(await createHarness(), (one) => one.close())
    await harness.send(`POST ${secrets}`, { body: { metadata: { name: 'live' }, data: {} } })
    const to = type === 'application/yaml' ? `PUT ${secrets}/live` : `PATCH ${secrets}/live?fieldManager=a`
    const reply = await harness.send(to, { body, type })
    expect([400, 422]).toContain(reply.status)
    const said = JSON.stringify([reply.body, harness.errors])
    for (const part of [value, 'clear', '-text']) expect(said).not.toContain(part)
  })
})

it('a note of a Secret’s value that stays, because the end of its run had no room, is still known as one', async () => {
  let run = 0
  const widgets = defineReconciler(Widget, {
    grants: [{ kind: Secret, access: 'read' }],
    reconcile: async (_, ctx) => {
      run++
      if (run <= 2) {
        const secret = await ctx.get(Secret, 's')
        const token = Buffer.from(secret?.data?.['token'] ?? '', 'base64').toString()
        if (run === 1) {
          ctx.notes.set('token', token)
          return done()
        }
        // It keeps the token no more, and reports far too much.
        ctx.notes.set('token', undefined)
        return done({ status: { seen: 'x'.repeat(3_000_000) } })
      }
      throw new Error(`the far side refuses ${String(ctx.notes.get('token'))}`)
    },
  })
  await using env = await createTestEnv({ reconcilers: [widgets] })
  await env.apply(Secret, { metadata: { name: 's' }, stringData: { token: value } })
  await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
  await env.settle()
  expect(run).toBe(1)
  await env.apply(Widget, { metadata: { name: 'w' }, spec: { size: 2 } })
  await env.settle()
  expect(run).toBe(2)
  await env.apply(Widget, { metadata: { name: 'w' }, spec: { size: 3 } })
  await env.settle()
  expect(run).toBe(3)
  const told = JSON.stringify([await env.get(Widget, 'w'), env.logs])
  expect(told).not.toContain(value)
})
