import { execFile } from 'node:child_process'
import { pbkdf2 } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import {
  ConfigMap,
  defineKind,
  defineReconciler,
  done,
  type ApiObject,
  type Controller,
  type JsonObject,
} from '../../../shared/index.ts'
import { OperatingError } from '../../../shared/model/errors.ts'
import { createTestEnv, type TestEnv } from '../../../shared/testing/test-env.ts'
import { underLoad } from '../../support/under-load.ts'

/** What those who test their reconcilers with it rely on. */

let env: TestEnv
afterEach(() => env.close())

const config = (value = '1') => ({ metadata: { name: 'c' }, data: { value } })

/** Copies the value of every ConfigMap but its own into one of its own. */
function copying(sleepMs = 0): Controller {
  return defineReconciler(ConfigMap, {
    name: 'copy',
    async reconcile({ metadata: { name }, data }, ctx) {
      if (name.endsWith('-copy')) return done()
      if (sleepMs > 0) await ctx.sleep(sleepMs)
      await ctx.apply(ConfigMap, { metadata: { name: `${name}-copy` }, data: { value: data?.['value'] ?? '' } })
      return done()
    },
  })
}

const copy = async (): Promise<string | undefined> => (await env.get(ConfigMap, 'c-copy'))?.data?.['value']

describe('settle', () => {
  const real: readonly { readonly what: string; readonly wait: () => Promise<unknown> }[] = [
    { what: 'a real timer of 60 ms', wait: () => pause(60) },
    { what: 'a real timer of 300 ms', wait: () => pause(300) },
    {
      what: 'one timer after the other',
      wait: () =>
        pause(80)
          .then(() => pause(80))
          .then(() => pause(80)),
    },
    { what: 'the answer of a server', wait: async () => (await fetch(slowServer.url)).text() },
    { what: 'a child process', wait: () => promisify(execFile)('sleep', ['0.2']) },
    { what: 'a key that is derived', wait: () => promisify(pbkdf2)('a', 'b', 20_000, 64, 'sha512') },
  ]
  const slowServer = { url: '' }
  const server = createServer((_, response) => void pause(150).then(() => response.end('slow')))
  beforeAll(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening')
    slowServer.url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`
  })
  afterAll(() => server.close())

  it.each(real)('waits for a run that awaits $what', async ({ wait }) => {
    const reconciler = defineReconciler(ConfigMap, {
      name: 'slow',
      reconcile: async ({ metadata: { name } }, ctx) => {
        if (name !== 'c') return done()
        await wait()
        await ctx.apply(ConfigMap, { metadata: { name: 'c-copy' }, data: { value: 'waited' } })
        return done()
      },
    })
    env = await createTestEnv({ reconcilers: [reconciler] })
    await env.apply(ConfigMap, config())
    await env.settle()
    expect(await copy()).toBe('waited')
  })

  it('does not wait for a run that nothing but virtual time can end', async () => {
    const hanging = defineReconciler(ConfigMap, { name: 'hang', reconcile: () => new Promise(() => {}) })
    env = await createTestEnv({ reconcilers: [hanging] })
    await env.apply(ConfigMap, config())
    const beganMs = performance.now()
    for (let i = 0; i < 10; i++) await env.settle()
    expect(performance.now() - beganMs).toBeLessThan(underLoad(2_500))
  })
})

describe('faults', () => {
  it('an error is thrown instead of the call', async () => {
    env = await createTestEnv()
    env.faults.once('store.create', { kind: 'error', error: new OperatingError('UNAVAILABLE', 'away') })
    await expect(env.apply(ConfigMap, config())).rejects.toThrow('away')
    expect(await env.get(ConfigMap, 'c')).toBeUndefined()
    await env.apply(ConfigMap, config())
    expect(await env.get(ConfigMap, 'c')).toMatchObject({ data: { value: '1' } })
  })

  it('an unknown end is an error after the call', async () => {
    env = await createTestEnv()
    env.faults.once('store.create', { kind: 'unknown', error: new OperatingError('WRITE_UNKNOWN', 'no answer') })
    await expect(env.apply(ConfigMap, config())).rejects.toThrow('no answer')
    expect(await env.get(ConfigMap, 'c')).toMatchObject({ data: { value: '1' } })
  })

  it('a lost call does nothing, and nobody is told', async () => {
    env = await createTestEnv({ reconcilers: [copying()] })
    env.faults.once('queue:copy.send', { kind: 'lost' })
    await env.apply(ConfigMap, config())
    await env.advance('1m')
    expect(await copy()).toBeUndefined()
  })

  it('a delay takes virtual time', async () => {
    env = await createTestEnv({ reconcilers: [copying()] })
    env.faults.once('store.create', { kind: 'delay', ms: 5_000 }, ([stored]) =>
      JSON.stringify(stored).includes('c-copy'),
    )
    await env.apply(ConfigMap, config())
    await env.advance('4s')
    expect(await copy()).toBeUndefined()
    await env.advance('1s')
    expect(await copy()).toBe('1')
  })

  it('a delay keeps nobody from closing', async () => {
    env = await createTestEnv({ reconcilers: [copying()] })
    env.faults.once('queue:copy.settle', { kind: 'delay', ms: 60_000 })
    await env.apply(ConfigMap, config())
    await env.settle()
    await expect(env.close()).resolves.toBeUndefined()
    env = await createTestEnv()
  })

  it('a conflict is met by who writes, as any other is', async () => {
    env = await createTestEnv({ reconcilers: [copying()] })
    await env.apply(ConfigMap, config())
    await env.settle()
    const conflict = { kind: 'error', error: new OperatingError('VERSION_CONFLICT', 'somebody was faster') } as const
    env.faults.once('store.replace', conflict, ([stored]) => JSON.stringify(stored).includes('c-copy'))
    await env.patch(ConfigMap, 'c', { data: { value: '2' } })
    await env.settle()
    expect(await copy()).toBe('2')
  })

  it('a crash ends the process there, and it is started again over what was stored', async () => {
    env = await createTestEnv({ reconcilers: [copying()] })
    env.faults.once('store.create', { kind: 'crash' }, ([stored]) => JSON.stringify(stored).includes('c-copy'))
    await env.apply(ConfigMap, config())
    await env.settle()
    expect(await copy()).toBe('1')
    expect(env.calls.filter(({ call }) => call === 'store.create').length).toBeGreaterThan(2)
  })

  it('come once, or always until they are taken back, or not at all once they are forgotten', async () => {
    env = await createTestEnv()
    const fault = { kind: 'error', error: new Error('away') } as const
    const back = env.faults.always('store.create', fault)
    for (let i = 0; i < 3; i++) await expect(env.apply(ConfigMap, config())).rejects.toThrow('away')
    back()
    await env.apply(ConfigMap, config())
    env.faults.once('store.get', fault)
    env.faults.clear()
    expect(await env.get(ConfigMap, 'c')).toBeDefined()
  })
})

describe('what cannot be is refused', () => {
  it.each([
    ['stor.create', 'stor.create is no call: the ports are store, index, relayed, turned, introduced, feed, queue:'],
    ['queue:copies.send', /^queue:copies.send is no call: the ports are .*, queue:copy, /],
    ['store.creat', 'store.creat is no call that can fail: see env.calls for those of store'],
    ['queue:copy.receive', 'queue:copy.receive is no call that can fail'],
    ['store', 'store is no call'],
  ])('a fault of %s, which would never come', async (call, why) => {
    env = await createTestEnv({ reconcilers: [copying()] })
    expect(() => env.faults.once(call, { kind: 'lost' })).toThrow(why)
    expect(() => env.faults.always(call, { kind: 'lost' })).toThrow(why)
  })

  it.each([
    [{ tickMs: 0 }, 'tickMs is 0; give 1 or more'],
    [{ tickMs: NaN }, 'tickMs is NaN'],
    [{ startMs: NaN }, 'startMs is NaN; give milliseconds'],
    [{ startMs: -1 }, 'startMs is -1'],
  ])('a time in which nothing moves: %j', async (options, why) => {
    env = await createTestEnv()
    await expect(createTestEnv(options)).rejects.toThrow(why)
  })

  it('timers of a test, for which everything would wait', async () => {
    env = await createTestEnv()
    vi.useFakeTimers()
    try {
      await expect(createTestEnv()).rejects.toThrow('needs the real timers: leave useFakeTimers out')
      await expect(env.advance('1m')).rejects.toThrow('needs the real timers')
    } finally {
      vi.useRealTimers()
    }
    await env.advance('1m')
  })

  it('a crash from which no start leads back, and one of what is closed', async () => {
    env = await createTestEnv()
    const away = { kind: 'error', error: new OperatingError('UNAVAILABLE', 'away') } as const
    env.faults.always('store.get', away)
    await expect(env.crash()).rejects.toThrow('the process does not start again, though it was tried 100 times: away')
    await expect(env.get(ConfigMap, 'c')).rejects.toThrow('the process has crashed')
    await expect(env.crash([copying(), copying()])).rejects.toThrow('both for ConfigMap')
    env.faults.clear()
    await env.crash([copying()])
    await env.apply(ConfigMap, config())
    await env.settle()
    expect(await copy()).toBe('1')
    await env.close()
    await expect(env.crash()).rejects.toThrow('the environment is closed')
  })
})

describe('time', () => {
  it('passes only when it is let, and things due happen at their own time', async () => {
    env = await createTestEnv({ reconcilers: [copying(250)], startMs: Date.parse('2027-03-01T00:00:00Z') })
    await env.apply(ConfigMap, config())
    await env.settle()
    expect(new Date(env.nowMs()).toISOString()).toBe('2027-03-01T00:00:00.000Z')
    expect(await copy()).toBeUndefined()
    await env.advance('1h')
    const [made] = env.calls.filter(
      ({ call, args }) => call === 'store.create' && JSON.stringify(args).includes('c-copy'),
    )
    expect(new Date(made?.atMs ?? 0).toISOString()).toBe('2027-03-01T00:00:00.250Z')
  })

  it('`eventually` lets as much of it pass as is needed, and throws the last failure when that is too much', async () => {
    env = await createTestEnv({ reconcilers: [copying(90_000)] })
    await env.apply(ConfigMap, config())
    const fromMs = env.nowMs()
    await expect(env.eventually(async () => expect(await copy()).toBe('1'), '1m')).rejects.toThrow('to be')
    await env.close()
    env = await createTestEnv({ reconcilers: [copying(50_000)] })
    await env.apply(ConfigMap, config())
    await env.eventually(async () => expect(await copy()).toBe('1'))
    expect(env.nowMs() - fromMs).toBe(50_000)
  })

  it('of a day takes no more than a moment, runs that sleep included', async () => {
    env = await createTestEnv({ tickMs: 60_000, reconcilers: [copying(20_000)] })
    await env.apply(ConfigMap, config())
    const startMs = performance.now()
    await env.advance('24h')
    expect(performance.now() - startMs).toBeLessThan(underLoad(5_000))
    expect(await copy()).toBe('1')
  })
})

describe('what is sent and given', () => {
  it('is JSON, as of any client: anything else is refused with its path', async () => {
    env = await createTestEnv()
    const odd = { metadata: { name: 'c' }, data: { at: new Date(0) as unknown as string } }
    await expect(env.apply(ConfigMap, odd)).rejects.toThrow('ConfigMap c cannot be sent: data.at is of class Date')
    await env.apply(ConfigMap, config())
    const patched = env.patch(ConfigMap, 'c', { data: { size: NaN } })
    await expect(patched).rejects.toThrow('the patch of ConfigMap c cannot be sent: data.size is NaN')
    await env.patch(ConfigMap, 'c', { data: { value: undefined, more: '2' } })
    expect(await env.get(ConfigMap, 'c')).toMatchObject({ data: { value: '1', more: '2' } })
  })

  it.each<[JsonObject, string]>([
    [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: {} }, 'a ConfigMap is applied by its metadata.name, which is'],
    [{ kind: 'ConfigMap' }, 'a manifest has apiVersion and kind, which are undefined and ConfigMap'],
  ])('names its kind and itself: %j does not', async (manifest, why) => {
    env = await createTestEnv()
    await expect(env.applyManifest(manifest)).rejects.toThrow(why)
  })

  it('is its own: a test may change both, and changes nothing that is stored', async () => {
    env = await createTestEnv()
    const sent = config()
    const answers = [await env.apply(ConfigMap, sent), await env.get(ConfigMap, 'c'), ...(await env.list(ConfigMap))]
    answers.push(await env.patch(ConfigMap, 'c', { metadata: { labels: { a: 'b' } } }))
    sent.data.value = 'changed'
    for (const answer of answers) Object.assign(answer?.data ?? {}, { value: 'changed' })
    expect(await env.get(ConfigMap, 'c')).toMatchObject({ data: { value: '1' } })
  })

  it('is in the default namespace if that of its place is undefined', async () => {
    env = await createTestEnv({ reconcilers: [] })
    const at = { name: 'c', namespace: undefined } as never
    await env.apply(ConfigMap, config())
    await env.patch(ConfigMap, at, { data: { value: '2' } })
    expect(await env.get(ConfigMap, at)).toMatchObject({ metadata: { namespace: 'default' }, data: { value: '2' } })
    expect(await env.explain(ConfigMap, at)).toContain('default/c')
    await env.delete(ConfigMap, at)
    expect(await env.get(ConfigMap, 'c')).toBeUndefined()
  })

  it('is a page with its query, and whole however long', async () => {
    env = await createTestEnv()
    await env.apply(ConfigMap, config())
    await env.apply(ConfigMap, { metadata: { name: 'long' }, data: { value: 'x'.repeat(300_000) } })
    const namesOf = (page: string): readonly string[] =>
      (JSON.parse(page) as { readonly items: readonly ApiObject[] }).items.map(({ metadata }) => metadata.name)
    expect(namesOf(await env.page('/api/v1/configmaps?limit=1'))).toEqual(['c'])
    for (let i = 0; i < 8; i++)
      await env.apply(ConfigMap, { metadata: { name: `long${i}` }, data: { value: 'x'.repeat(300_000) } })
    expect(namesOf(await env.page('/api/v1/configmaps'))).toHaveLength(10)
  })
})

it('is the same every time: one seed, one course of events', async () => {
  const course = async (seed: number): Promise<string> => {
    env = await createTestEnv({ seed, reconcilers: [copying(10)] })
    env.faults.once('queue:copy.settle', { kind: 'crash' })
    await env.apply(ConfigMap, config())
    await env.advance('10m')
    const text = JSON.stringify(env.calls)
    await env.close()
    return text
  }
  const first = await course(7)
  expect(await course(7)).toBe(first)
  expect(await course(8)).not.toBe(first)
  env = await createTestEnv()
})

it('tells why a kind is not there whose definition was refused', async () => {
  const made = defineKind({ group: 'unit.test', version: 'v1', kind: 'Page', spec: z.object({}) })
  const text = JSON.stringify(made.definition).replace('".metadata.creationTimestamp"', '"metadata.creationTimestamp"')
  const Page: typeof made = { ...made, definition: JSON.parse(text) as NonNullable<typeof made.definition> }
  await using one = await createTestEnv({ reconcilers: [defineReconciler(Page, { reconcile: async () => done() })] })
  const applied = one.apply(Page, { metadata: { name: 'a' }, spec: {} })
  await expect(applied).rejects.toThrow(/^no kind Page in group unit.test: its definition was refused: .*jsonPath/)
})

describe('reconcilers of one name are refused, since each would drop the keys of the other', () => {
  const kindOf = (group: string) => defineKind({ group, version: 'v1', kind: 'Page', spec: z.object({}) })
  const one = kindOf('one.test')
  const reconcile = async () => done()

  it.each<[string, readonly Controller[], string]>([
    [
      'of two kinds that are called alike',
      [defineReconciler(one, { reconcile }), defineReconciler(kindOf('two.test'), { reconcile })],
      'the reconcilers of Page.one.test and Page.two.test are all called page: give each a name of its own',
    ],
    [
      'as the engine itself has one',
      [defineReconciler(one, { name: 'event-expiry', reconcile })],
      'the reconciler of Page.one.test is called event-expiry, as a loop of the control plane itself is: give',
    ],
  ])('%s', async (_what, reconcilers, why) => {
    env = await createTestEnv()
    await expect(createTestEnv({ reconcilers })).rejects.toThrow(why)
  })
})
