import * as z from 'zod'
import { afterEach, describe, expect, it } from 'vitest'
import {
  conditionOf,
  createRateBudget,
  defineExternal,
  defineKind,
  externalStatus,
  HttpError,
  Secret,
  type Controller,
  type ExternalApi,
  type ExternalOptions,
  type JsonObject,
  type ObjectOf,
} from '../../shared/index.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'

/** What the helper does beyond list K, for a far side in memory that cannot be asked for what it has. */

const Bucket = defineKind({
  group: 'test.setpoint.dev',
  version: 'v1',
  kind: 'Bucket',
  spec: z.object({ region: z.string().optional(), size: z.number().int().default(1), tier: z.string().optional() }),
  status: externalStatus.extend({ url: z.string().optional() }),
})
type Bucket = ObjectOf<typeof Bucket>

let env: TestEnv
let controller: Controller
let entities: Map<string, JsonObject>
let calls: string[]
let lose: string[]
afterEach(() => env.close())

/** Throws away the answers of the calls named in `lose`, after the work. */
async function called<Answer>(call: string, work: () => Answer): Promise<Answer> {
  calls.push(call)
  const answer = work()
  if (!lose.includes(call)) return answer
  lose.splice(lose.indexOf(call), 1)
  throw new TypeError('fetch failed')
}

function put(id: string, fields: JsonObject): JsonObject {
  // As on the wire, where there is no undefined.
  const given = JSON.parse(JSON.stringify(fields)) as JsonObject
  const entity = { region: 'eu', ...entities.get(id), ...given, id }
  entities.set(id, entity)
  return entity
}

const api: ExternalApi<null> = {
  get: (_, id) => called('get', () => entities.get(id)),
  create: (_, declared) => called('create', () => put(`b${calls.length}`, declared)),
  update: (_, id, declared) =>
    called('update', () => {
      if (!entities.has(id)) throw new HttpError(404, 'no bucket')
      return put(id, declared)
    }),
  delete: (_, id) => called('delete', () => void entities.delete(id)),
  idOf: ({ id }) => String(id),
  immutable: ['tier'],
}

async function start(options: Partial<ExternalOptions<Bucket, {}, null>> = {}): Promise<void> {
  entities = new Map()
  calls = []
  lose = []
  controller = defineExternal(Bucket, {
    connect: async () => null,
    declared: ({ spec }: Bucket) => ({ size: spec.size, region: spec.region, tier: spec.tier }),
    api,
    shown: ({ id }) => ({ url: `https://far.example/${String(id)}` }),
    ...options,
  })
  env = await createTestEnv({ reconcilers: [controller] })
}

async function apply(spec: JsonObject = {}, annotations: Readonly<Record<string, string>> = {}): Promise<void> {
  await env.apply(Bucket, { metadata: { name: 'b', annotations }, spec })
  await env.settle()
}

async function bucket(): Promise<Bucket> {
  const found = await env.get(Bucket, 'b')
  if (found === undefined) throw new Error('no bucket b')
  return found
}

const condition = async (type: string) => conditionOf(await bucket(), type)

describe('an answer that is not as it should be', () => {
  it('a refusal as long as a page stops the object all the same, and says how it begins', async () => {
    const page = `<html>${'no '.repeat(5_000)}</html>`
    const refused = () =>
      called('create', (): never => {
        throw new HttpError(400, page)
      })
    await start({ api: { ...api, create: refused } })
    await apply()
    await env.advance('50s')
    expect(calls).toEqual(['create'])
    const stalled = await condition('Stalled')
    expect(stalled).toMatchObject({ status: 'True', reason: 'CreateRefused' })
    expect(stalled?.message).toContain('<html>no no')
  })

  it('one that was adopted is made again when it is gone, however often', async () => {
    await start()
    entities.set('mine', { id: 'mine', size: 1, region: 'eu' })
    const annotations = { 'setpoint.dev/external-id': 'mine' }
    await env.apply(Bucket, { metadata: { name: 'b', annotations }, spec: {} })
    await env.settle()
    expect((await env.get(Bucket, 'b'))?.status?.id).toBe('mine')
    for (let i = 0; i < 3; i++) {
      entities.clear()
      await env.advance('3m')
      expect(entities.size).toBe(1)
      const made = await env.get(Bucket, 'b')
      expect([made?.status?.id]).toEqual([...entities.keys()])
      expect(conditionOf(made as never, 'Ready')).toMatchObject({ status: 'True' })
    }
  })

  it('what the status shows may be long: it is there from look to look, and back after the next one', async () => {
    const notes = (size: JsonObject[string]): string => `${String(size)} `.repeat(2_000)
    await start({ shown: ({ size }) => ({ url: notes(size) }), assert: 'onDrift' })
    await env.apply(Bucket, { metadata: { name: 'b' }, spec: {} })
    await env.settle()
    const url = async () => (await env.get(Bucket, 'b'))?.status?.url
    expect(await url()).toBe(notes(1))
    expect(conditionOf((await env.get(Bucket, 'b')) as never, 'Ready')).toMatchObject({ status: 'True' })
    await env.patch(Bucket, 'b', { metadata: { annotations: { 'setpoint.dev/reconcile-requested-at': 'now' } } })
    await env.advance('5m')
    expect([await url(), calls]).toEqual([notes(1), ['create', 'get', 'update', 'get', 'get', 'get', 'get', 'get']])
    const before = calls.length
    await env.crash()
    await env.advance('10s')
    expect([await url(), calls.length]).toEqual([notes(1), before])
    await env.patch(Bucket, 'b', { spec: { size: 2 } })
    await env.settle()
    expect(await url()).toBe(notes(2))
    await env.patch(Bucket, 'b', { status: { url: null } }, { subresource: 'status' })
    await env.advance('1m')
    expect(await url()).toBe(notes(2))
  })

  it('an update that tells nothing is not taken for an entity that is gone', async () => {
    const silent = (_: null, id: string, declared: JsonObject) =>
      called('update', () => void put(id, declared)) as unknown as Promise<JsonObject>
    await start({ api: { ...api, update: silent } })
    await apply()
    await env.advance('5m')
    await apply({ size: 2 })
    expect([...entities.values()]).toMatchObject([{ size: 2 }])
    expect(calls.filter((call) => call === 'create')).toHaveLength(1)
    expect(await condition('Ready')).toMatchObject({ status: 'False', message: expect.stringContaining('returns') })
  })

  it.each([undefined, '', 5])('an entity whose id is %j is not made again and again', async (id) => {
    await start({ api: { ...api, idOf: () => id as unknown as string } })
    await apply()
    await env.advance('30m')
    expect(entities.size).toBe(1)
    const message = `idOf of the API of Bucket gives ${JSON.stringify(id)}, and not the id of an entity`
    expect(env.logs.map(({ fields }) => fields['error'])).toContain(message)
    expect(await condition('Ready')).toMatchObject({ status: 'False' })
  })
})

describe('a create whose answer was lost, on a far side that cannot be asked', () => {
  it('K9 is a visible state and no second create, until a person names what is there', async () => {
    await start()
    lose = ['create']
    await apply()
    await env.advance('10m')
    expect(calls).toEqual(['create'])
    expect(await condition('Stalled')).toMatchObject({ status: 'True', reason: 'CreateUnknown' })
    const [id = ''] = entities.keys()
    await apply({}, { 'setpoint.dev/external-id': id, 'setpoint.dev/adopt': 'override' })
    expect((await bucket()).status).toMatchObject({ id, url: `https://far.example/${id}` })
    expect(entities.size).toBe(1)
  })

  it('K9 or says that there is nothing, for this one create', async () => {
    await start()
    lose = ['create', 'create']
    await apply()
    entities.clear()
    await env.advance('2s')
    const [, token = ''] = /create-again=(\S+)/.exec((await condition('Stalled'))?.message ?? '') ?? []
    await apply({}, { 'setpoint.dev/create-again': token })
    await env.advance('5m')
    expect(calls).toEqual(['create', 'create'])
    expect(await condition('Stalled')).toMatchObject({ reason: 'CreateUnknown' })
    expect((await condition('Stalled'))?.message).not.toContain(`create-again=${token} `)
  })

  it('K24 blocks the deletion as visibly, until a person says that nothing is left', async () => {
    await start()
    lose = ['create']
    await apply()
    await env.delete(Bucket, 'b')
    await env.advance('2m')
    const stalled = await condition('Stalled')
    expect(stalled).toMatchObject({ reason: 'CreateUnknown' })
    const [, token = ''] = /create-again=(\S+)/.exec(stalled?.message ?? '') ?? []
    await env.patch(Bucket, 'b', { metadata: { annotations: { 'setpoint.dev/create-again': token } } })
    await env.settle()
    expect(await env.get(Bucket, 'b')).toBeUndefined()
  })
})

describe('an entity that is not to be seen yet', () => {
  it('is waited for, for the grace of its creation, and not made again', async () => {
    let visibleMs = 0
    await start({
      api: { ...api, get: (_, id) => called('get', () => (env.nowMs() < visibleMs ? undefined : entities.get(id))) },
    })
    visibleMs = env.nowMs() + 20_000
    await apply()
    await apply({ size: 2 })
    expect(await condition('Ready')).toMatchObject({ status: 'False', reason: 'NotVisibleYet' })
    await apply({ size: 2 }, { 'setpoint.dev/resync': '50s' })
    expect(calls).toEqual(['create', 'get'])
    await env.advance('31s')
    expect([...entities.values()]).toMatchObject([{ size: 2 }])
    expect(calls).toEqual(['create', 'get', 'get', 'update'])
  })
})

describe('a paused object', () => {
  it('calls nobody, neither in its periods nor to be deleted, until it goes on', async () => {
    await start()
    await apply()
    await apply({ size: 2 }, { 'setpoint.dev/paused': 'true' })
    await env.advance('10m')
    await env.delete(Bucket, 'b')
    await env.advance('1m')
    expect(calls).toEqual(['create'])
    await env.patch(Bucket, 'b', { metadata: { annotations: { 'setpoint.dev/paused': null } } })
    await env.settle()
    expect([await env.get(Bucket, 'b'), entities.size]).toEqual([undefined, 0])
  })
})

describe('fields', () => {
  it('that the far side chose are written into an empty spec, once, and cost no update', async () => {
    await start({ lateInitialized: ({ region }) => ({ region }) })
    await apply()
    expect((await bucket()).spec).toMatchObject({ region: 'eu' })
    await env.advance('10s')
    expect(calls).toEqual(['create'])
    expect((await bucket()).status).toMatchObject({ observedGeneration: 2 })
  })

  it('written late do not hide an edit that somebody made meanwhile', async () => {
    const { create } = api
    let isEdited = false
    const edits: ExternalApi<null>['create'] = async (...given) => {
      if (!isEdited) await env.patch(Bucket, 'b', { spec: { size: 2 } })
      isEdited = true
      return create(...given)
    }
    await start({ lateInitialized: ({ region }) => ({ region }), api: { ...api, create: edits } })
    await apply()
    expect((await bucket()).spec).toMatchObject({ region: 'eu', size: 2 })
    expect([...entities.values()]).toMatchObject([{ size: 2 }])
  })

  it('that cannot be changed are told and left, and the others are changed', async () => {
    await start()
    await apply({ tier: 'cold' })
    await apply({ tier: 'hot', size: 2 })
    await env.advance('61s')
    expect([...entities.values()]).toMatchObject([{ tier: 'cold', size: 2 }])
    expect(await condition('ImmutableFields')).toMatchObject({
      status: 'False',
      message: expect.stringMatching(/: tier$/),
    })
    expect(await condition('Ready')).toMatchObject({ status: 'True' })
    await apply({ tier: 'cold', size: 2 })
    await env.advance('61s')
    expect(await condition('ImmutableFields')).toBeUndefined()
  })
})

describe('outputs', () => {
  const outputs = {
    name: ({ metadata }: Bucket) => `${metadata.name}-access`,
    data: ({ id }: JsonObject) => ({ url: `https://far.example/${String(id)}` }),
  }
  const secretText = async (): Promise<string> =>
    Buffer.from((await env.get(Secret, 'b-access'))?.data?.['url'] ?? '', 'base64').toString()

  it('are in a Secret that is put back when somebody edits or deletes it, and goes with the object', async () => {
    await start({ outputs })
    await apply()
    const { id } = (await bucket()).status ?? {}
    expect(await secretText()).toBe(`https://far.example/${id}`)
    await env.delete(Secret, 'b-access')
    await env.settle()
    expect(await secretText()).toBe(`https://far.example/${id}`)
    await env.patch(Secret, 'b-access', { data: { url: 'eA==' } })
    await env.settle()
    expect(await secretText()).toBe(`https://far.example/${id}`)
    await env.delete(Bucket, 'b')
    await env.settle()
    expect(await env.get(Secret, 'b-access')).toBeUndefined()
  })
})

describe('when it calls', () => {
  it('with assert onDrift it only looks while nothing differs', async () => {
    await start({ assert: 'onDrift' })
    await apply()
    await env.advance('2m')
    expect(calls).toEqual(['create', 'get', 'get'])
    put([...entities.keys()][0] ?? '', { size: 9 })
    await env.advance('1m')
    expect(calls.slice(3)).toEqual(['get', 'update'])
    expect([...entities.values()]).toMatchObject([{ size: 1 }])
  })

  it('a request to reconcile now asserts at once, and is answered', async () => {
    await start()
    await apply()
    await apply({}, { 'setpoint.dev/reconcile-requested-at': 'now' })
    expect(calls).toEqual(['create', 'get', 'update'])
    await apply({}, { 'setpoint.dev/reconcile-requested-at': 'now' })
    expect(calls).toHaveLength(3)
    expect(await bucket()).toMatchObject({ status: { lastHandledReconcileAt: 'now' } })
  })

  it('objects of one account share its budget, and an edit goes before the resyncs', async () => {
    const budget = createRateBudget({ perSecond: 1, burst: 5, userShare: 0.4 })
    await start({ budget: () => budget })
    expect(controller.callBudgets?.()).toEqual([])
    for (let i = 0; i < 20; i++) await env.apply(Bucket, { metadata: { name: `b${i}` }, spec: {} })
    await env.settle()
    expect(calls).toHaveLength(5)
    expect(controller.callBudgets?.()).toEqual([{ order: 1, budget }])
    await env.advance('30s')
    expect(entities.size).toBe(20)
    // Forty calls a minute are wanted for the resyncs of twenty objects, and then somebody edits one.
    await env.advance('3m')
    calls = []
    await env.patch(Bucket, 'b7', { spec: { size: 7 } })
    await env.advance('3s')
    expect([...entities.values()].filter(({ size }) => size === 7)).toHaveLength(1)
    await env.advance('10m')
    const conditions = (await env.list(Bucket)).map((one) => conditionOf(one, 'Ready')?.status)
    expect(new Set(conditions)).toEqual(new Set(['True']))
  })

  it('a definition that would do no good is refused', () => {
    expect(() => createRateBudget({ perSecond: 0, burst: 1 })).toThrow(TypeError)
  })
})

describe('a budget with room for one call only', () => {
  const budget = () => createRateBudget({ perSecond: 0.2, burst: 1 })

  it('does not go into looks alone: what one look has found is put right by the next call', async () => {
    const shared = budget()
    await start({ budget: () => shared, assert: 'onDrift' })
    await apply({ size: 1, tier: 'gold' })
    const [id = ''] = entities.keys()
    put(id, { size: 7 })
    await env.advance('5m')
    expect(entities.get(id)).toMatchObject({ size: 1, tier: 'gold' })
  })

  it('is enough for what several objects declare', async () => {
    const shared = budget()
    await start({ budget: () => shared })
    const names = ['a', 'b', 'c', 'd']
    for (const name of names) await env.apply(Bucket, { metadata: { name }, spec: { size: 1 } })
    await env.advance('5m')
    for (const name of names) await env.apply(Bucket, { metadata: { name }, spec: { size: 2 } })
    await env.advance('10m')
    expect([...entities.values()].map(({ size }) => size)).toEqual([2, 2, 2, 2])
    for (const name of names) await env.delete(Bucket, name)
    await env.advance('10m')
    expect([...entities.keys()]).toEqual([])
  })
})

describe('the place of an entity', () => {
  it('is where it is looked for: where it never was, it is not gone', async () => {
    let place = 'eu'
    await start({ place: async () => place })
    await apply()
    const made = [...entities.keys()]
    place = 'us'
    entities.clear()
    await env.advance('2m')
    expect(calls.filter((call) => call === 'create')).toHaveLength(1)
    expect(await condition('Stalled')).toMatchObject({ message: `${made[0]} is at eu, and not at us` })
  })
})
