import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import {
  conditionOf,
  defineKind,
  defineReconciler,
  done,
  Secret,
  secretSource,
  secretTarget,
  type VaultGrants,
} from '../../../../shared/index.ts'
import {
  keepInVault,
  readSecretSource,
  removeFromVault,
  type UsingVault,
} from '../../../../shared/engine/turn/use-vault.ts'
import { awsEngine } from '../../../../shared/testing-aws/aws-engine.ts'
import {
  createTestEnv,
  createTestVault,
  type TestEnv,
  type TestEnvOptions,
} from '../../../../shared/testing/test-env.ts'

const Login = defineKind({
  group: 'test.dev',
  version: 'v1',
  kind: 'Login',
  spec: z.object({ from: secretSource, to: secretTarget.optional(), tells: z.boolean().optional() }),
  status: z.object({ length: z.int() }),
})

const usual: VaultGrants = {
  reads: [{ secretsManager: 'shop/{namespace}/' }, { parameter: 'shop/{namespace}/' }],
  writes: [{ secretsManager: 'made/' }, { parameter: 'made/{namespace}/' }],
}
const password = 'correct-horse-battery'

type Options = Pick<TestEnvOptions, 'engine' | 'vault'> & { readonly vaultGrants?: VaultGrants | undefined }

/** Its reconciler reads what the spec names, may keep it elsewhere, and may tell it. */
async function start({ vaultGrants = usual, ...options }: Options): Promise<TestEnv> {
  const logins = defineReconciler(Login, {
    grants: [{ kind: Secret, access: 'read' }],
    vault: vaultGrants,
    async reconcile({ spec: { from, to, tells } }, ctx) {
      const text = await ctx.outside.readSecret(from)
      ctx.log.info('read', { text })
      await ctx.event('Normal', 'Read', `it is ${text}`)
      if (to !== undefined) await ctx.outside.keepSecret(to, { password: text, user: 'me' })
      if (tells === true) throw new Error(`refused with ${text}`)
      return done({ status: { length: text.length } })
    },
    async cleanup({ spec: { to } }, ctx) {
      if (to !== undefined) await ctx.outside.removeSecret(to)
      return done()
    },
  })
  return createTestEnv({ reconcilers: [logins], ...options })
}

type Spec = z.input<typeof secretSource>

async function readyOf(env: TestEnv, name = 'a') {
  const stored = await env.get(Login, name)
  return { ...(stored && conditionOf(stored, 'Ready')), length: stored?.status?.length }
}

async function tryOut(env: TestEnv, from: Spec, more: object = {}): ReturnType<typeof readyOf> {
  await env.apply(Login, { metadata: { name: 'a' }, spec: { from, ...more } })
  await env.settle()
  return readyOf(env)
}

describe('a secret that a spec names', () => {
  it.each([
    ['one machine', {}],
    ['AWS', { engine: awsEngine }],
  ])('is read from each service, and from a Secret, on the engine of %s', async (_, options) => {
    const vault = createTestVault()
    vault.put({ secretsManager: 'shop/default/db' }, JSON.stringify({ password, port: 5432 }))
    vault.put({ parameter: '/shop/default/db' }, password)
    await using env = await start({ ...options, vault })
    await env.apply(Secret, { metadata: { name: 'db' }, stringData: { password } })
    const whole = JSON.stringify({ password, port: 5432 }).length
    for (const [from, length] of [
      [{ secretKeyRef: { name: 'db', key: 'password' } }, password.length],
      [{ secretsManager: { name: 'shop/default/db', key: 'password' } }, password.length],
      [{ secretsManager: { name: 'shop/default/db', key: 'port' } }, 4],
      [{ secretsManager: { name: 'shop/default/db' } }, whole],
      [{ parameter: { name: '/shop/default/db' } }, password.length],
      [{ parameter: { name: 'shop/default/db' } }, password.length],
    ] as const)
      expect(await tryOut(env, from)).toMatchObject({ status: 'True', length })
  })

  it('keeps a mark of the order of bytes that a Secret begins with, as the services do', async () => {
    await using env = await start({})
    const marked = Buffer.from(`\uFEFF${password}`).toString('base64')
    await env.apply(Secret, { metadata: { name: 'db' }, data: { password: marked } })
    const read = await tryOut(env, { secretKeyRef: { name: 'db', key: 'password' } })
    expect(read).toMatchObject({ status: 'True', length: password.length + 1 })
  })

  it('is told nowhere, whatever the run says', async () => {
    const vault = createTestVault()
    vault.put({ secretsManager: 'shop/default/db' }, JSON.stringify({ password, other: 'never-asked-for-text' }))
    await using env = await start({ vault })
    const from = { secretsManager: { name: 'shop/default/db', key: 'password' } }
    const to = { parameter: { name: '/made/default/db' } }
    expect(await tryOut(env, from, { tells: true, to })).toMatchObject({ message: 'refused with ***' })
    const said = JSON.stringify([await env.get(Login, 'a'), env.logs, env.calls])
    expect(said).not.toContain(password)
    expect(said).not.toContain('never-asked-for-text')
    expect(vault.texts.get('parameter:made/default/db')).toBe(JSON.stringify({ password, user: 'me' }))
  })

  it('that is not there yet is waited for', async () => {
    const vault = createTestVault()
    await using env = await start({ vault })
    const from = { parameter: { name: '/shop/default/db' } }
    expect(await tryOut(env, from)).toMatchObject({
      status: 'False',
      message: 'there is no parameter /shop/default/db',
    })
    vault.put({ parameter: '/shop/default/db' }, password)
    await env.advance('5m')
    expect(await readyOf(env)).toMatchObject({ status: 'True' })
  })

  it.each([
    [
      'of no JSON',
      { secretsManager: { name: 'shop/default/text', key: 'password' } },
      /is no JSON object, so it has no password$/,
    ],
    ['without the key', { secretsManager: { name: 'shop/default/db', key: 'user' } }, /has no text user$/],
    [
      'of another namespace',
      { secretsManager: { name: 'shop/other/db' } },
      /may not read the secret shop\/other\/db in Secrets Manager here, but those whose names begin with shop\/default\/ or made\/: the reads of its vault say so$/,
    ],
    ['outside of all prefixes', { parameter: { name: '/aws/reference/secret' } }, /may not read the parameter/],
    [
      'by the ARN of another one',
      { secretsManager: { name: 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:shop/other/db-AbCdEf' } },
      /may not read/,
    ],
    ['that is the prefix alone', { parameter: { name: '/shop/default/' } }, /may not read/],
    ['in a Secret that is not there', { secretKeyRef: { name: 'none', key: 'password' } }, /^there is no Secret none$/],
  ])('%s is refused with what to do', async (_, from, why) => {
    const vault = createTestVault()
    vault.put({ secretsManager: 'shop/default/text' }, password)
    vault.put({ secretsManager: 'shop/default/db' }, JSON.stringify({ password }))
    await using env = await start({ vault })
    const { status, message } = await tryOut(env, from)
    expect(status).toBe('False')
    expect(message).toMatch(why)
    expect(message).not.toContain(password)
  })

  it('is named once', async () => {
    await using env = await start({ vault: createTestVault() })
    const metadata = { name: 'a' }
    const two = { secretKeyRef: { name: 'a', key: 'b' }, parameter: { name: 'c' } }
    for (const from of [{}, two])
      await expect(env.apply(Login, { metadata, spec: { from } })).rejects.toThrow(
        /spec.from: .*name one of secretKeyRef, secretsManager and parameter/,
      )
  })

  it('of AWS is refused on one machine, with what to name in its place', async () => {
    await using env = await start({})
    expect(await tryOut(env, { parameter: { name: '/shop/default/db' } })).toMatchObject({
      message: expect.stringMatching(/are for control planes on AWS: name a Secret \(secretKeyRef\)/),
    })
  })

  it('of AWS is refused to a reconciler that declares none', async () => {
    await using env = await start({ vault: createTestVault(), vaultGrants: {} })
    expect(await tryOut(env, { parameter: { name: '/shop/default/db' } })).toMatchObject({
      message: expect.stringMatching(/may not read the parameter \/shop\/default\/db here, but none/),
    })
  })
})

describe('a secret that a run keeps', () => {
  const from = { secretKeyRef: { name: 'db', key: 'password' } }
  const to = { secretsManager: { name: 'made/db', key: 'password' } }

  it('is written once, and removed with its object', async () => {
    const vault = createTestVault()
    await using env = await start({ vault })
    await env.apply(Secret, { metadata: { name: 'db' }, stringData: { password } })
    await tryOut(env, from, { to })
    expect([...vault.texts]).toEqual([['secretsManager:made/db', password]])
    await env.advance('11h')
    expect(vault.writes).toBe(1)
    await env.delete(Login, 'a')
    await env.settle()
    expect([...vault.texts]).toEqual([])
  })

  it('that is somebody else’s is left alone, and the object says how to hand it over', async () => {
    const vault = createTestVault()
    vault.put({ secretsManager: 'made/db' }, 'by hand')
    await using env = await start({ vault })
    await env.apply(Secret, { metadata: { name: 'db' }, stringData: { password } })
    expect((await tryOut(env, from, { to })).message).toMatch(
      /made\/db in Secrets Manager is not of this object: to hand it over, tag it setpoint:owner=[\w-]+ and setpoint:controller=login/,
    )
    await env.delete(Login, 'a')
    await env.settle()
    expect(await env.get(Login, 'a')).toBeUndefined()
    expect([...vault.texts.values()]).toEqual(['by hand'])
  })

  it('is kept with its object by policy', async () => {
    const vault = createTestVault()
    await using env = await start({ vault })
    await env.apply(Secret, { metadata: { name: 'db' }, stringData: { password } })
    const annotations = { 'setpoint.dev/deletion-policy': 'Retain' }
    await env.apply(Login, { metadata: { name: 'a', annotations }, spec: { from, to } })
    await env.settle()
    await env.delete(Login, 'a')
    await env.settle()
    expect([...vault.texts.values()]).toEqual([password])
  })

  it('is not written where its reconciler may only read', async () => {
    await using env = await start({ vault: createTestVault() })
    await env.apply(Secret, { metadata: { name: 'db' }, stringData: { password } })
    const elsewhere = { parameter: { name: '/shop/default/x' } }
    expect((await tryOut(env, from, { to: elsewhere })).message).toMatch(/may not write the parameter/)
  })
})

it.each(['shop', '/shop/', '{namespace}/', 'shop/*/', 'shop/{name}/', ''])('a prefix %j is none', (secretsManager) => {
  expect(() =>
    defineReconciler(Login, { vault: { reads: [{ secretsManager }] }, reconcile: async () => done() }),
  ).toThrow(/must be the beginning of names/)
})

describe('one use of a vault', () => {
  /** A run in a namespace or none, with what it has noted of secrets. */
  function useOf({
    text,
    namespace = 'default',
    vault = usual,
    secret,
  }: {
    readonly text?: string
    readonly namespace?: string
    readonly vault?: VaultGrants
    readonly secret?: object
  }) {
    const noted: string[] = []
    const calls: unknown[][] = []
    const use = {
      controller: { name: 'login', vault },
      object: { metadata: { uid: 'u', ...(namespace !== '' && { namespace }) } },
      engine: {
        vault: {
          read: async () => text,
          write: async (...call: unknown[]) => void calls.push(call),
          remove: async (...call: unknown[]) => void calls.push(call),
        },
      },
      seen: {
        noteSecret: ({ stringData }: { readonly stringData: Readonly<Record<string, string>> }) =>
          void noted.push(...Object.values(stringData)),
      },
      get: async () => secret,
    } as unknown as UsingVault
    return { use, noted, calls }
  }

  it('notes every value that it keeps, and what is written in it', async () => {
    const { use, noted, calls } = useOf({})
    const data = { all: JSON.stringify({ inner: 'inner-value' }), other: 'other-value' }
    await keepInVault({ secretsManager: { name: 'made/a', key: 'all' } }, data, use)
    expect(noted).toEqual(expect.arrayContaining(['inner-value', 'other-value']))
    expect(calls).toEqual([[{ secretsManager: 'made/a' }, data.all, { uid: 'u', controller: 'login' }]])
  })

  it('keeps nothing under a key that it was not given', async () => {
    const { use, calls } = useOf({})
    const keep = keepInVault({ secretsManager: { name: 'made/a', key: 'c' } }, { a: '1', b: '2' }, use)
    await expect(keep).rejects.toThrow('there is no c to keep in the secret made/a in Secrets Manager, but a, b')
    expect(calls).toEqual([])
  })

  it('removes nothing that its reconciler may not write', async () => {
    const { use, calls } = useOf({})
    await expect(removeFromVault({ secretsManager: { name: 'shop/default/a' } }, use)).rejects.toThrow('may not write')
    await removeFromVault({ parameter: { name: '/made/default/a' } }, use)
    expect(calls).toEqual([[{ parameter: '/made/default/a' }, { uid: 'u', controller: 'login' }]])
  })

  it.each([
    [undefined, 'there is no Secret s'],
    [{ data: {} }, 'the Secret s has no k'],
    [{}, 'the Secret s has no k'],
  ])('of a Secret that is %j says what is missing', async (secret, message) => {
    const { use } = useOf(secret === undefined ? {} : { secret })
    await expect(readSecretSource({ secretKeyRef: { name: 's', key: 'k' } }, use)).rejects.toThrow(message)
  })

  it('of nothing is refused', async () => {
    await expect(readSecretSource({}, useOf({}).use)).rejects.toThrow('nothing is named')
  })

  it('is granted by service', async () => {
    const vault: VaultGrants = { reads: [{ parameter: 'p/' }, { secretsManager: 's/' }] }
    const { use } = useOf({ text: 'x', vault })
    expect(await readSecretSource({ parameter: { name: 'p/a' } }, use)).toBe('x')
    expect(await readSecretSource({ secretsManager: { name: 's/a' } }, use)).toBe('x')
    await expect(readSecretSource({ parameter: { name: 's/a' } }, use)).rejects.toThrow(
      'may not read the parameter s/a here, but those whose names begin with p/: the reads of its vault say so',
    )
    await expect(readSecretSource({ secretsManager: { name: 'p/a' } }, use)).rejects.toThrow('may not read')
    await expect(keepInVault({ parameter: { name: 'p/a' } }, { a: '1' }, use)).rejects.toThrow(
      'may not write the parameter p/a here, but none: the writes of its vault say so',
    )
  })

  it('without a namespace is granted by no prefix that names one', async () => {
    const { use } = useOf({ text: 'x', namespace: '' })
    expect(await readSecretSource({ secretsManager: { name: 'made/a' } }, use)).toBe('x')
    await expect(readSecretSource({ secretsManager: { name: 'shop//a' } }, use)).rejects.toThrow('may not read')
  })

  it.each([
    ['[1]', 'is no JSON object, so it has no k'],
    ['plain', 'is no JSON object, so it has no k'],
    ['{"k":[1]}', 'has no text k'],
    ['{}', 'has no text k'],
  ])('of the text %s says why there is no field', async (text, message) => {
    const { use } = useOf({ text })
    await expect(readSecretSource({ secretsManager: { name: 'made/a', key: 'k' } }, use)).rejects.toThrow(message)
  })

  it.each([
    ['{"k":"v"}', 'v'],
    ['{"k":7}', '7'],
    ['{"k":false}', 'false'],
  ])('of the text %s reads %s', async (text, value) => {
    const { use } = useOf({ text })
    expect(await readSecretSource({ secretsManager: { name: 'made/a', key: 'k' } }, use)).toBe(value)
  })

  it('keeps all values as one text, in the order of their names', async () => {
    const { use, calls } = useOf({})
    await keepInVault({ secretsManager: { name: 'made/a' } }, { b: '2', a: '1', c: '3' }, use)
    expect(calls[0]?.[1]).toBe('{"a":"1","b":"2","c":"3"}')
  })
})
