import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import {
  conditionOf,
  defineExternal,
  defineKind,
  externalStatus,
  HttpError,
  Secret,
  type Condition,
  type Controller,
  type ExternalApi,
  type ExternalOptions,
  type JsonObject,
  type ObjectOf,
} from '../../../../shared/index.ts'
import { createTestEnv, type TestEnv } from '../../../../shared/testing/test-env.ts'

/** Entities that somebody made by hand, and what becomes of them with the objects that name them. */

const Box = defineKind({
  group: 'test.setpoint.dev',
  version: 'v1',
  kind: 'Box',
  spec: z.object({ address: z.string().default('a'), size: z.int().default(1) }),
  status: externalStatus,
})
type Box = ObjectOf<typeof Box>

function createFarSide() {
  const entities = new Map<string, JsonObject>()
  const keep = (entity: JsonObject & { readonly id: string }): JsonObject => {
    entities.set(entity.id, entity)
    return entity
  }
  const api: ExternalApi<null> = {
    get: async (_, id) => entities.get(id),
    find: async (_, { uid }) => [...entities.values()].find(({ owner }) => owner === uid),
    create: async (_, declared) => keep({ ...declared, id: `b${entities.size}` }),
    update: async (_, id, declared) => keep({ ...entities.get(id), ...declared, id }),
    delete: async (_, id) => void entities.delete(id),
    idOf: ({ id }) => String(id),
    ownerOf: ({ owner }) => (owner === undefined ? undefined : String(owner)),
    markedIn: ['owner'],
    immutable: ['address'],
  }
  return { entities, api }
}

type FarSide = ReturnType<typeof createFarSide>

function start(api: ExternalApi<null>, options: Partial<ExternalOptions<Box, {}, null>> = {}): Promise<TestEnv> {
  return createTestEnv({ reconcilers: [boxes(api, options)] })
}

function boxes(api: ExternalApi<null>, options: Partial<ExternalOptions<Box, {}, null>> = {}): Controller {
  return defineExternal(Box, {
    connect: async () => null,
    declared: ({ spec: { address, size } }: Box, { owner: { uid } }) => ({ address, size, owner: uid }),
    api,
    ...options,
  })
}

async function conditionIn(env: TestEnv, name: string, type = 'Ready'): Promise<Condition | undefined> {
  const box = await env.get(Box, name)
  return box && conditionOf(box, type)
}

const made = { id: 'x', address: 'a', size: 3 }
const mirror = { 'setpoint.dev/external-id': 'x', 'setpoint.dev/manage': 'observe' }

describe('an entity that was only observed', () => {
  const observed = async ({ entities, api }: FarSide): Promise<TestEnv> => {
    entities.set('x', made)
    const env = await start(api)
    await env.apply(Box, { metadata: { name: 'a', annotations: mirror }, spec: { size: 9 } })
    await env.settle()
    return env
  }

  it('is adopted by the rules once the object manages it', async () => {
    const far = createFarSide()
    await using env = await observed(far)
    await env.patch(Box, 'a', { metadata: { annotations: { 'setpoint.dev/manage': null } } })
    await env.settle()
    expect(far.entities.get('x')).toEqual(made)
    expect(await conditionIn(env, 'a')).toMatchObject({ reason: 'AdoptionDiffers' })
    await env.patch(Box, 'a', { spec: { size: 3 } })
    await env.advance('1m')
    expect(await conditionIn(env, 'a')).toMatchObject({ status: 'True' })
    expect(await conditionIn(env, 'a', 'Adopted')).toMatchObject({ status: 'True', reason: 'Matched' })
  })

  it('is not deleted with the object, though nothing says any more that it was observed', async () => {
    const far = createFarSide()
    await using env = await observed(far)
    const annotations = { 'setpoint.dev/manage': null, 'setpoint.dev/external-id': null }
    await env.patch(Box, 'a', { metadata: { annotations } })
    await env.delete(Box, 'a')
    await env.advance('1m')
    expect([await env.get(Box, 'a'), far.entities.get('x')]).toEqual([undefined, made])
  })

  it('is not deleted with the object, though an earlier version noted that it was adopted', async () => {
    const { entities, api } = createFarSide()
    entities.set('x', made)
    const controller = boxes(api)
    let isEarlier = true
    const reconcile: Controller['reconcile'] = async (box, ctx) => {
      const outcome = await controller.reconcile(box, ctx)
      const { mirrored, ...others } = (ctx.notes.get('external') ?? {}) as JsonObject
      if (isEarlier && mirrored === true) ctx.notes.set('external', { ...others, adopted: 'match' })
      return outcome
    }
    await using env = await createTestEnv({ reconcilers: [{ ...controller, reconcile }] })
    await env.apply(Box, { metadata: { name: 'a', annotations: mirror }, spec: { size: 9 } })
    await env.settle()
    isEarlier = false
    await env.advance('5m')
    await env.patch(Box, 'a', { metadata: { annotations: { 'setpoint.dev/manage': null } } })
    await env.settle()
    await env.delete(Box, 'a')
    await env.advance('1m')
    expect(entities.get('x')).toEqual(made)
  })

  it('is not told to be adopted', async () => {
    await using env = await observed(createFarSide())
    expect(await conditionIn(env, 'a')).toMatchObject({ status: 'True' })
    expect(await conditionIn(env, 'a', 'Adopted')).toBeUndefined()
  })
})

describe('an entity that is to be adopted', () => {
  const annotations = { 'setpoint.dev/external-id': 'x' }

  it('is refused where it differs in what nobody can change, and stays when the object goes', async () => {
    const { entities, api } = createFarSide()
    entities.set('x', { ...made, address: 'bob' })
    await using env = await start(api)
    await env.apply(Box, { metadata: { name: 'a', annotations }, spec: { address: 'alice', size: 3 } })
    await env.settle()
    const { reason, message = '' } = (await conditionIn(env, 'a')) ?? {}
    expect([reason, message]).toEqual(['AdoptionDiffers', expect.stringContaining('declared: address;')])
    await env.delete(Box, 'a')
    await env.advance('1m')
    expect(entities.has('x')).toBe(true)
  })

  it.each(['0', '1m'])('is marked within seconds, so that no second object takes it, at resync %s', async (resync) => {
    const { entities, api } = createFarSide()
    entities.set('x', made)
    await using env = await start(api)
    const metadata = { annotations: { ...annotations, 'setpoint.dev/resync': resync } }
    await env.apply(Box, { metadata: { ...metadata, name: 'a' }, spec: { size: 3 } })
    await env.settle()
    expect(entities.get('x')).toEqual(made)
    await env.advance('10s')
    expect(entities.get('x')?.['owner']).toBe((await env.get(Box, 'a'))?.metadata.uid)
    await env.apply(Box, { metadata: { ...metadata, name: 'b' }, spec: { size: 3 } })
    await env.advance('10s')
    expect(await conditionIn(env, 'b')).toMatchObject({ reason: 'OwnedByAnother' })
    await env.delete(Box, 'b')
    await env.advance('20s')
    expect(entities.has('x')).toBe(true)
    // Nobody has changed anything: the mark is no drift.
    expect(await env.page('/api/v1/namespaces/default/events')).not.toContain('changed outside')
  })

  it('is asked for where the object may not create one', async () => {
    const { find: _, ...api } = createFarSide().api
    await using env = await start(api)
    await env.apply(Box, { metadata: { name: 'a', annotations: { 'setpoint.dev/manage': 'update,delete' } }, spec: {} })
    await env.settle()
    expect((await conditionIn(env, 'a'))?.message).toMatch(/^the object may not create its entity: annotate/)
  })
})

describe('an entity that was adopted, and is only observed for a while', () => {
  it.each(['match', 'override'])(
    'is the own one of its object after that, though it has no mark (%s)',
    async (adopt) => {
      const { entities, api } = createFarSide()
      const { find: _, ownerOf: __, markedIn: ___, ...unmarked } = api
      entities.set('x', { id: 'x', address: 'a', size: 1 })
      const declared: ExternalOptions<Box, {}, null>['declared'] = ({ spec: { address, size } }) => ({ address, size })
      await using env = await start(unmarked, { declared })
      const annotations = { 'setpoint.dev/external-id': 'x', 'setpoint.dev/adopt': adopt }
      await env.apply(Box, { metadata: { name: 'a', annotations }, spec: {} })
      await env.settle()
      const annotate = (given: JsonObject) => env.patch(Box, 'a', { metadata: { annotations: given } })
      await annotate({ 'setpoint.dev/manage': 'observe' })
      await env.advance('2m')
      await annotate({ 'setpoint.dev/manage': null, 'setpoint.dev/external-id': null, 'setpoint.dev/adopt': null })
      await env.advance('2m')
      expect([...entities.keys()]).toEqual(['x'])
      expect(await env.get(Box, 'a')).toMatchObject({ status: { id: 'x' } })
      await env.delete(Box, 'a')
      await env.advance('1m')
      expect([...entities.keys()]).toEqual([])
    },
  )
})

describe('what an API throws', () => {
  const failing = async (create: () => Promise<JsonObject>, options: Parameters<typeof start>[1] = {}) => {
    const env = await start({ ...createFarSide().api, create }, options)
    await env.apply(Secret, { metadata: { name: 's' }, stringData: { phrase: 'correct horse battery staple' } })
    await env.apply(Box, { metadata: { name: 'a' }, spec: {} })
    await env.settle()
    return env
  }

  it('is told by its message, though it is no Error', async () => {
    const thrown = { code: 'QUOTA', message: 'the quota is used up' } as unknown as Error
    await using env = await failing(() => Promise.reject(thrown))
    expect(await conditionIn(env, 'a')).toMatchObject({ message: 'the quota is used up' })
  })

  it('is asked again after a second at the soonest, though the far side says at once', async () => {
    let calls = 0
    const update = async () => {
      calls++
      throw new HttpError(429, 'slow down', { retryAfterMs: 0 })
    }
    await using env = await start({ ...createFarSide().api, update })
    await env.apply(Box, { metadata: { name: 'a' }, spec: {} })
    await env.settle()
    await env.patch(Box, 'a', { spec: { size: 2 } })
    await env.advance('10s')
    expect(calls).toBeGreaterThan(5)
    expect(calls).toBeLessThan(13)
    expect(await conditionIn(env, 'a', 'HotLoop')).toBeUndefined()
  })

  it('has its stack in the log if it is a slip of the author', async () => {
    await using env = await failing(async () => (undefined as unknown as { readonly made: JsonObject }).made)
    expect(JSON.stringify(env.logs)).toContain('adoption.test.ts')
  })

  it('tells no part of a Secret, however long it is', async () => {
    const refuse = async () => {
      throw new HttpError(400, `${'text '.repeat(196)}with correct horse battery staple it is refused`)
    }
    const options: Parameters<typeof start>[1] = {
      grants: [{ kind: Secret, access: 'read' }],
      connect: async (_, { ctx }) => {
        await ctx.get(Secret, 's')
        return null
      },
    }
    await using env = await failing(refuse, options)
    const { message = '' } = (await conditionIn(env, 'a')) ?? {}
    expect(message).toMatch(/text with \*\*\*/)
    expect(JSON.stringify([await env.get(Box, 'a'), env.logs])).not.toContain('correct')
  })
})
