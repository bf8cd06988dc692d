import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseSyncPeriods } from '../../functions/reconcilers/konnect/sync-periods.ts'
import { Secret } from '../../shared/index.ts'
import {
  conditionIn,
  KonnectControlPlane,
  KonnectRoute,
  KonnectService,
  seen,
  startKonnectEnv,
  type KonnectEnv,
} from '../reconcilers/konnect/konnect-env.ts'

/** What others do in Konnect, what Konnect itself says, and how that is configured. */

let world: KonnectEnv
beforeEach(async () => {
  world = await startKonnectEnv()
  await world.applyControlPlane()
})
afterEach(() => world[Symbol.asyncDispose]())

const service = (name = 'orders') => seen(world.env, KonnectService, name)
const condition = (type: string, name = 'orders') => conditionIn(world.env, KonnectService, [name, type])
const entities = () => world.konnect.state.all('services')
const writes = () => world.newCalls().filter((call) => /^(POST|PUT|PATCH|DELETE) services/.test(call))
const annotate = async (annotations: Readonly<Record<string, string | null>>, name = 'orders'): Promise<void> => {
  await world.env.patch(KonnectService, name, { metadata: { annotations } })
  await world.env.settle()
}
const secondsAfterStart = (): number => (world.env.nowMs() - Date.parse('2026-01-01T00:00:00Z')) / 1_000

describe('changes outside', () => {
  beforeEach(() => world.applyService({ port: 8_080 }))

  it('K26 an entity edited in the UI is put back within P, counted as drift, and an event names the fields', async () => {
    const { env, konnect } = world
    await env.advance('10s')
    konnect.state.edit(entities()[0]?.id ?? '', { host: 'edited.example', port: 1, retries: 3 })
    await env.advance('60s')
    // What nobody declared is not ours to put back; a PUT replaces it all the same, as Konnect's own operator's does.
    expect(entities()).toMatchObject([{ host: 'orders.example', port: 8_080 }])
    expect(await env.explain(KonnectService, 'orders')).toContain('host, port changed outside; put back')
    expect(await env.page('/metrics')).toContain('setpoint_drift_found_total{controller="konnectservice"} 1')
  })

  it('K27 an entity deleted in the UI is made again within P, with a new id in the status', async () => {
    const { env, konnect } = world
    const before = (await service()).status?.id
    await env.advance('40s')
    konnect.state.remove(before ?? '')
    await env.advance('60s')
    const after = (await service()).status?.id
    expect(entities().map(({ id }) => id)).toEqual([after])
    expect(after).not.toBe(before)
    expect(await env.explain(KonnectService, 'orders')).toContain('was deleted outside; another one is made')
  })

  it('K27 a control plane deleted in the UI is made again, and then what was in it', async () => {
    const { env, konnect } = world
    await env.advance('40s')
    konnect.state.remove(konnect.state.all('control-planes')[0]?.id ?? '')
    await env.advance('3m')
    const [controlPlane] = konnect.state.all('control-planes')
    expect(entities()).toHaveLength(1)
    expect((await service()).status).toMatchObject({ controlPlaneID: controlPlane?.id })
  })
})

describe('a reference to an entity that is another one now', () => {
  it('K27 K30 is refused by Konnect for as long as it is wrong, and follows when it is right', async () => {
    await world.applyService()
    const { env, konnect } = world
    const spec = { controlPlaneRef: { name: 'main' }, serviceRef: { name: 'orders' }, paths: ['/'] }
    await env.apply(KonnectRoute, { metadata: { name: 'orders' }, spec })
    await env.advance('40s')
    konnect.state.remove(entities()[0]?.id ?? '')
    // The route is changed before the service's period is over: Konnect knows no service of that id.
    await env.patch(KonnectRoute, 'orders', { spec: { paths: ['/orders'] } })
    await env.settle()
    expect(await conditionIn(env, KonnectRoute, ['orders', 'Programmed'])).toMatchObject({
      reason: 'UpdateFailed',
      message: expect.stringContaining('service.id (type: foreign) constraint failed'),
    })
    expect(await conditionIn(env, KonnectRoute, ['orders', 'Stalled'])).toBeUndefined()
    await env.advance('60s')
    expect(konnect.state.all('routes')).toMatchObject([{ paths: ['/orders'], service: { id: entities()[0]?.id } }])
    expect(await conditionIn(env, KonnectRoute, ['orders', 'Ready'])).toMatchObject({ status: 'True' })
  })
})

describe('the sync period', () => {
  it('K28 is a minute, or as the annotation says; a new one counts from the next scheduling; it is visible', async () => {
    await world.applyService()
    expect((await service()).status).toMatchObject({ syncPeriod: '60s' })
    await world.env.advance('30s')
    await annotate({ 'setpoint.dev/resync': '5m' })
    expect((await service()).status).toMatchObject({
      syncPeriod: '5m',
      reconcile: { nextRunAt: '2026-01-01T00:05:00.000Z', lastSyncTime: '2026-01-01T00:00:00.000Z' },
    })
    await world.env.advance('30m')
    expect(world.callsOf('PUT services/{id}')).toHaveLength(6)
  })

  it('K28 is as its controller has it, where the object says nothing', async () => {
    await world[Symbol.asyncDispose]()
    world = await startKonnectEnv({ syncPeriod: { KonnectService: '10m', default: '3m' } })
    await world.applyControlPlane()
    await world.applyService()
    expect((await service()).status).toMatchObject({ syncPeriod: '10m' })
    expect((await world.env.get(KonnectControlPlane, 'main'))?.status).toMatchObject({ syncPeriod: '3m' })
    await world.env.advance('31m')
    expect(world.callsOf('PUT services/{id}')).toHaveLength(3)
    await annotate({ 'setpoint.dev/resync': '1m' })
    expect((await service()).status).toMatchObject({ syncPeriod: '60s' })
  })

  it('K28 is told by the environment', () => {
    expect(parseSyncPeriods('')).toBeUndefined()
    expect(parseSyncPeriods('5m')).toEqual({ default: '5m' })
    expect(parseSyncPeriods('5m, KonnectRoute=30s')).toEqual({ default: '5m', KonnectRoute: '30s' })
    expect(() => parseSyncPeriods('Route=30s')).toThrow('KONNECT_SYNC_PERIOD: Route is no kind; give one of Konnect')
  })

  it('K28 may be never', async () => {
    await world.applyService({}, { annotations: { 'setpoint.dev/resync': '0' } })
    await world.env.advance('1h')
    expect(world.callsOf('PUT services/{id}')).toEqual([])
    expect((await service()).status).toMatchObject({ id: expect.any(String) })
    expect((await service()).status).not.toHaveProperty('syncPeriod')
    // An edit is seen to all the same.
    await world.env.patch(KonnectService, 'orders', { spec: { host: 'new.example' } })
    await world.env.settle()
    expect(world.callsOf('PUT services/{id}')).toHaveLength(1)
  })
})

describe('what Konnect refuses', () => {
  it.each([
    { header: { 'retry-after': '30' }, waitS: 30 },
    { header: { 'retry-after': 'Thu, 01 Jan 2026 00:00:40 GMT' }, waitS: 40 },
    { header: {}, waitS: 15 },
  ])(
    'K29 429 with $header: no call of the account for $waitS s, by any object, and nothing is broken',
    async ({ header, waitS }) => {
      const { env, konnect } = world
      await world.applyService()
      konnect.fault({ call: 'PUT services', answer: { status: 429, body: { message: 'slow down' }, headers: header } })
      await env.patch(KonnectService, 'orders', { spec: { host: 'new.example' } })
      await env.settle()
      expect(await condition('Ready')).toMatchObject({ status: 'False', reason: 'RateLimited' })
      expect(await condition('Stalled')).toBeUndefined()
      expect((await service()).status).not.toHaveProperty('reconcile.attempt')
      world.requests()
      await world.applyService({}, { name: 'another' })
      await env.advance(`${waitS - 1 - secondsAfterStart()}s`)
      expect(world.requests()).toBe(0)
      await env.advance('5s')
      expect(entities()).toMatchObject([{ host: 'new.example' }, { name: 'another' }])
      expect(await condition('Ready')).toMatchObject({ status: 'True' })
    },
  )

  it('K29 429 for a resync: the object stays Ready', async () => {
    await world.applyService()
    world.konnect.fault({ call: 'GET services', answer: { status: 429, body: {}, headers: { 'retry-after': '20' } } })
    await world.env.advance('65s')
    expect(await condition('Ready')).toMatchObject({ status: 'True' })
    await world.env.advance('30s')
    expect(world.callsOf('PUT services/{id}')).toHaveLength(1)
  })

  it('K30 a 400: a condition, and no retry until the spec changes', async () => {
    await world.applyService()
    const refusal = { status: 400, body: { code: 3, message: 'validation error', details: [] } }
    world.konnect.fault({ call: 'PUT services', answer: refusal })
    await world.env.patch(KonnectService, 'orders', { spec: { path: 'no-slash' } })
    await world.env.settle()
    expect(await condition('Stalled')).toMatchObject({
      status: 'True',
      reason: 'UpdateRefused',
      message: '400 validation error',
    })
    expect(await condition('Programmed')).toMatchObject({ status: 'False', reason: 'UpdateRefused' })
    world.newCalls()
    for (const value of ['59s', '1m']) await annotate({ 'setpoint.dev/resync': value })
    await world.env.advance('30s')
    expect(writes()).toEqual([])
    await world.env.patch(KonnectService, 'orders', { spec: { path: '/slash' } })
    await world.env.settle()
    expect(entities()).toMatchObject([{ path: '/slash' }])
    expect(await condition('Stalled')).toBeUndefined()
  })

  it('K30 nor until a label or a reference changes, or P is over', async () => {
    const refusal = { status: 400, body: { code: 3, message: 'validation error', details: [] } }
    world.konnect.fault({ call: 'POST services', times: 4, answer: refusal })
    await world.applyService()
    expect(writes()).toEqual(['POST services'])
    await annotate({ 'setpoint.dev/resync': '10m' })
    expect(writes()).toEqual([])
    await world.env.patch(KonnectService, 'orders', { metadata: { labels: { a: 'b' } } })
    await world.env.settle()
    expect(writes()).toEqual(['POST services'])
    await world.env.advance('5m')
    expect(writes()).toEqual([])
    await world.env.advance('5m')
    expect(writes()).toEqual(['POST services'])
    await world.env.delete(KonnectControlPlane, 'main')
    await world.env.settle()
    await world.applyControlPlane()
    expect(writes()).toEqual(['POST services'])
    await world.env.advance('11m')
    expect(entities()).toHaveLength(1)
  })

  it('a token that is not accepted any more stops all, and a new one in the Secret starts them', async () => {
    await world.applyService()
    const { env } = world
    await env.apply(Secret, { metadata: { name: 'konnect' }, stringData: { token: 'bad' } })
    await env.settle()
    expect(await conditionIn(env, KonnectControlPlane, ['main', 'Stalled'])).toMatchObject({ reason: 'ObserveRefused' })
    expect(await condition('ControlPlaneRefValid')).toMatchObject({ reason: 'NotReady' })
    await env.apply(Secret, { metadata: { name: 'konnect' }, stringData: { token: 'kpat_new' } })
    await env.settle()
    expect(await condition('Ready')).toMatchObject({ status: 'True' })
  })
})

describe('what cannot be moved', () => {
  const other = { metadata: { name: 'other' } }

  it('a service is not in two control planes, nor left behind in one, when it is to be in another', async () => {
    const { env, konnect } = world
    await world.applyService()
    const spec = { authRef: { name: 'konnect' }, serverURL: konnect.url }
    await env.apply(KonnectControlPlane, { ...other, spec })
    await env.settle()
    await env.patch(KonnectService, 'orders', { spec: { controlPlaneRef: { name: 'other' } } })
    await env.settle()
    expect(await condition('Stalled')).toMatchObject({
      reason: 'CannotMove',
      message: expect.stringContaining('default/main'),
    })
    expect(entities()).toHaveLength(1)
    await env.delete(KonnectService, 'orders')
    await env.settle()
    expect(entities()).toEqual([])
  })

  it('but it is made in another once the first is gone', async () => {
    const { env, konnect } = world
    await world.applyService()
    await env.apply(KonnectControlPlane, { ...other, spec: { authRef: { name: 'konnect' }, serverURL: konnect.url } })
    await env.delete(KonnectControlPlane, 'main')
    await env.settle()
    await env.patch(KonnectService, 'orders', { spec: { controlPlaneRef: { name: 'other' } } })
    await env.settle()
    expect(entities()).toHaveLength(1)
    expect(await condition('Ready')).toMatchObject({ status: 'True' })
  })

  it('a token of another organization makes nothing there, and nothing counts as gone', async () => {
    const { env, konnect } = world
    const before = konnect.state.all('control-planes')
    await env.apply(Secret, { metadata: { name: 'konnect' }, stringData: { token: 'other' } })
    await env.advance('2m')
    expect(await conditionIn(env, KonnectControlPlane, ['main', 'Stalled'])).toMatchObject({
      reason: 'ObserveRefused',
      message: expect.stringContaining('organization'),
    })
    await env.delete(KonnectControlPlane, 'main')
    await env.advance('2m')
    expect(await env.get(KonnectControlPlane, 'main')).toBeDefined()
    await env.apply(Secret, { metadata: { name: 'konnect' }, stringData: { token: 'kpat_new' } })
    await env.advance('2m')
    expect([before.length, konnect.state.all('control-planes')]).toEqual([1, []])
    expect(await env.get(KonnectControlPlane, 'main')).toBeUndefined()
  })
})

describe('adoption', () => {
  const adopt = async (fields: object, annotations: Readonly<Record<string, string>>): Promise<string> => {
    const { id } = (await seen(world.env, KonnectControlPlane, 'main')).status ?? {}
    const entity = world.konnect.state.add('services', { name: 'orders', host: 'orders.example', ...fields }, id)
    world.newCalls()
    await world.applyService({}, { annotations: { 'setpoint.dev/external-id': entity.id, ...annotations } })
    return entity.id
  }

  it('K31 match, and it is as declared: its id is stored, and nothing is written', async () => {
    const id = await adopt({}, {})
    expect(writes()).toEqual([])
    expect((await service()).status).toMatchObject({ id })
    expect(await condition('Adopted')).toMatchObject({ status: 'True', reason: 'Matched' })
    expect(await condition('Ready')).toMatchObject({ status: 'True' })
  })

  it('K31 match, and it differs from what is declared: refused, with the difference', async () => {
    await adopt({ host: 'other.example' }, { 'setpoint.dev/adopt': 'match' })
    expect(await condition('Stalled')).toMatchObject({
      reason: 'AdoptionDiffers',
      message: expect.stringContaining('host'),
    })
    expect(writes()).toEqual([])
    expect((await service()).status).not.toHaveProperty('id')
  })

  it('K31 override: one update', async () => {
    const id = await adopt({ host: 'other.example' }, { 'setpoint.dev/adopt': 'override' })
    expect(writes()).toEqual(['PUT services/{id}'])
    expect(entities()).toMatchObject([{ id, host: 'orders.example' }])
    expect(await condition('Adopted')).toMatchObject({ status: 'True', reason: 'Overridden' })
  })

  it('K31 an entity that is tagged for another owner: refused', async () => {
    await adopt({ tags: ['k8s-uid:somebody-else'] }, { 'setpoint.dev/adopt': 'override' })
    expect(await condition('Stalled')).toMatchObject({ reason: 'OwnedByAnother' })
    expect(writes()).toEqual([])
  })

  it('K31 takeover: the entity of another owner, if that is what is asked for', async () => {
    const fields = { host: 'other.example', tags: ['k8s-uid:somebody-else'] }
    const id = await adopt(fields, { 'setpoint.dev/adopt': 'takeover' })
    expect(writes()).toEqual(['PUT services/{id}'])
    const { uid } = (await service()).metadata
    expect(entities()).toMatchObject([{ id, host: 'orders.example', tags: expect.arrayContaining([`k8s-uid:${uid}`]) }])
    expect(JSON.stringify(entities())).not.toContain('somebody-else')
    expect(await condition('Adopted')).toMatchObject({ status: 'True', reason: 'TakenOver' })
  })

  it('K31 an entity that is not there: refused, and none is made', async () => {
    await world.applyService({}, { annotations: { 'setpoint.dev/external-id': 'nothing' } })
    expect(await condition('Stalled')).toMatchObject({ reason: 'NothingToAdopt' })
    expect(entities()).toEqual([])
  })

  it('K31 a name that somebody else has in Konnect: refused, and it says so', async () => {
    const { id } = (await seen(world.env, KonnectControlPlane, 'main')).status ?? {}
    world.konnect.state.add('services', { name: 'orders', host: 'other.example' }, id)
    await world.applyService()
    expect(await condition('Stalled')).toMatchObject({
      reason: 'NameTaken',
      message: '400 data constraint error: name (type: unique) constraint failed',
    })
    expect(entities()).toHaveLength(1)
  })
})

describe('observe only', () => {
  it('K32 nothing is ever created, updated or deleted, and an entity that is not there is a condition', async () => {
    const { env, konnect } = world
    const { id } = (await seen(env, KonnectControlPlane, 'main')).status ?? {}
    const entity = konnect.state.add('services', { name: 'orders', host: 'other.example' }, id)
    world.newCalls()
    const annotations = { 'setpoint.dev/manage': 'observe', 'setpoint.dev/external-id': entity.id }
    await world.applyService({}, { annotations })
    expect((await service()).status).toMatchObject({ id: entity.id })
    expect(await condition('Programmed')).toMatchObject({
      status: 'False',
      reason: 'Differs',
      message: expect.stringContaining('host'),
    })
    expect(await condition('Ready')).toMatchObject({ status: 'True' })
    await env.advance('2m')
    konnect.state.remove(entity.id)
    await env.advance('2m')
    expect(await condition('Ready')).toMatchObject({ status: 'False', reason: 'Absent' })
    const again = konnect.state.add('services', { name: 'orders', host: 'orders.example', id: entity.id }, id)
    await env.advance('2m')
    expect(await condition('Programmed')).toMatchObject({ status: 'True', reason: 'Observed' })
    await env.delete(KonnectService, 'orders')
    await env.settle()
    expect(await env.get(KonnectService, 'orders')).toBeUndefined()
    expect(writes()).toEqual([])
    expect(entities()).toMatchObject([{ id: again.id, host: 'orders.example' }])
  })

  it('K32 without a delete among what is managed, the entity stays when the object goes', async () => {
    await world.applyService({}, { annotations: { 'setpoint.dev/manage': 'create,update' } })
    await world.env.delete(KonnectService, 'orders')
    await world.env.settle()
    expect(await world.env.get(KonnectService, 'orders')).toBeUndefined()
    expect(entities()).toHaveLength(1)
  })

  it('K32 a word that means nothing stops it: a slip of the pen deletes nothing', async () => {
    await world.applyService({}, { annotations: { 'setpoint.dev/manage': 'observ' } })
    expect(await condition('Stalled')).toMatchObject({ reason: 'PolicyInvalid' })
  })
})
