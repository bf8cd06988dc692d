import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Kind } from '../../shared/index.ts'
import {
  conditionIn,
  KonnectConsumer,
  KonnectControlPlane,
  KonnectRoute,
  KonnectService,
  startKonnectEnv,
  type KonnectEnv,
} from '../reconcilers/konnect/konnect-env.ts'

/** Deletion, by the flow chart of the Konnect document, and of what never quite was. */

let world: KonnectEnv
beforeEach(async () => {
  world = await startKonnectEnv()
  await world.applyControlPlane()
})
afterEach(() => world[Symbol.asyncDispose]())

const get = () => world.env.get(KonnectService, 'orders')
const entities = () => world.konnect.state.all('services')
const deletes = () => world.callsOf('DELETE services/{id}')
const serverError = { status: 500, body: { message: 'the database is on fire' } }

async function remove(): Promise<void> {
  await world.env.delete(KonnectService, 'orders')
  await world.env.settle()
}

describe('a deletion', () => {
  beforeEach(() => world.applyService())

  it('K21 deletes the entity, and then the object goes', async () => {
    await remove()
    expect(deletes()).toHaveLength(1)
    expect(entities()).toEqual([])
    expect(await get()).toBeUndefined()
  })

  it('K21 keeps the object until the entity is seen to be gone, and is sent again if that takes long', async () => {
    world.konnect.fault({ call: 'DELETE services', times: 2, answer: { status: 204 } })
    await remove()
    expect([deletes().length, entities().length]).toEqual([1, 1])
    expect(await conditionIn(world.env, KonnectService, ['orders', 'Ready'])).toMatchObject({
      status: 'False',
      reason: 'StillThere',
    })
    await world.env.advance('20s')
    expect([deletes().length, entities().length]).toEqual([1, 1])
    await world.env.advance('2m')
    expect([deletes().length, entities().length]).toEqual([3, 0])
    expect(await get()).toBeUndefined()
  })

  it('K21 that takes its time is waited for, over a restart', async () => {
    world.konnect.fault({ call: 'DELETE services', times: Infinity, answer: { status: 204 } })
    await remove()
    await world.env.crash()
    await world.env.advance('10s')
    expect(await get()).toBeDefined()
    world.konnect.state.remove(entities()[0]?.id ?? '')
    await world.env.advance('15s')
    expect(await get()).toBeUndefined()
    expect(deletes()).toHaveLength(1)
  })

  it('K22 that fails: a failure condition, the object stays, and it is tried again', async () => {
    world.konnect.fault({ call: 'DELETE services', times: 2, answer: serverError })
    await remove()
    expect(await conditionIn(world.env, KonnectService, ['orders', 'Programmed'])).toMatchObject({
      status: 'False',
      reason: 'DeleteFailed',
      message: '500 the database is on fire',
    })
    expect(entities()).toHaveLength(1)
    await world.env.advance('10s')
    expect(await get()).toBeUndefined()
    expect(entities()).toEqual([])
  })

  it('K22 a look that fails never counts as gone', async () => {
    world.konnect.fault({ call: 'GET services', times: 3, answer: serverError })
    await remove()
    await world.env.advance('2s')
    expect(await get()).toBeDefined()
    await world.env.advance('30s')
    expect([await get(), entities()]).toEqual([undefined, []])
  })

  it('K23 of an entity that is gone already is a success', async () => {
    await world.env.advance('40s')
    world.konnect.state.remove(entities()[0]?.id ?? '')
    await remove()
    expect(await get()).toBeUndefined()
    expect(deletes()).toEqual([])
  })

  it('K25 during the backoff of a failure runs at once', async () => {
    world.konnect.fault({ call: 'PUT services', times: Infinity, answer: serverError })
    await world.env.patch(KonnectService, 'orders', { spec: { host: 'new.example' } })
    await world.env.advance('50s')
    expect(await get()).toMatchObject({ status: { reconcile: { waiting: 'Backoff' } } })
    const beforeMs = world.env.nowMs()
    await remove()
    expect(await get()).toBeUndefined()
    expect(world.env.nowMs()).toBe(beforeMs)
  })
})

describe('an object that is deleted before its create has succeeded', () => {
  it('K24 has no entity: nothing is deleted, and it goes', async () => {
    world.konnect.fault({ call: 'POST services', times: Infinity, answer: { status: 403, body: { message: 'no' } } })
    await world.applyService()
    expect(world.callsOf('POST services').length).toBeGreaterThan(0)
    expect(await get()).toMatchObject({ metadata: { finalizers: [expect.any(String)] } })
    world.newCalls()
    await remove()
    expect(await get()).toBeUndefined()
    expect(world.newCalls()).toEqual([])
  })

  it('K24 has one after all, since the answer was lost: it is found and deleted', async () => {
    world.konnect.fault({ call: 'POST services', lost: true })
    world.konnect.fault({ call: 'POST services', times: Infinity, answer: serverError })
    await world.applyService()
    expect(entities()).toHaveLength(1)
    await remove()
    await world.env.advance('1m')
    expect([await get(), entities()]).toEqual([undefined, []])
  })

  it('K24 has one that is not to be seen yet: it waits until it could be', async () => {
    world.konnect.state.options.lagMs = 20_000
    world.konnect.fault({ call: 'POST services', lost: true })
    await world.applyService()
    await remove()
    await world.env.advance('5s')
    expect(await get()).toBeDefined()
    await world.env.advance('1m')
    expect([await get(), entities()]).toEqual([undefined, []])
  })
})

describe('a whole tree', () => {
  it('goes in any order, and nothing of it stays', async () => {
    await world.applyService()
    const { env, konnect } = world
    const controlPlaneRef = { name: 'main' }
    const metadata = { name: 'orders' }
    await env.apply(KonnectRoute, { metadata, spec: { controlPlaneRef, serviceRef: { name: 'orders' }, paths: ['/'] } })
    await env.apply(KonnectConsumer, { metadata, spec: { controlPlaneRef } })
    await env.settle()
    expect(konnect.state.all('consumers')).toMatchObject([{ username: 'orders' }])
    // The service is referred to by the route, so that Konnect refuses its deletion at first.
    await remove()
    await env.delete(KonnectControlPlane, 'main')
    await env.delete(KonnectConsumer, 'orders')
    await env.delete(KonnectRoute, 'orders')
    await env.advance('1m')
    for (const collection of ['control-planes', 'services', 'routes', 'consumers'] as const)
      expect(konnect.state.all(collection)).toEqual([])
    expect(await env.get(KonnectControlPlane, 'main')).toBeUndefined()
    for (const kind of [KonnectService, KonnectRoute, KonnectConsumer] as readonly Kind<unknown, unknown>[])
      expect(await env.get(kind, 'orders')).toBeUndefined()
  })

  it('an entity goes with its control plane, whose object went first', async () => {
    await world.applyService()
    expect(entities()).toHaveLength(1)
    await world.env.delete(KonnectControlPlane, 'main')
    await world.env.settle()
    expect(await world.env.get(KonnectControlPlane, 'main')).toBeUndefined()
    world.newCalls()
    await remove()
    expect(await get()).toBeUndefined()
    expect(world.newCalls()).toEqual([])
  })

  it('with deletion policy Retain the entity stays', async () => {
    await world.applyService({}, { annotations: { 'setpoint.dev/deletion-policy': 'Retain' } })
    await remove()
    expect(await get()).toBeUndefined()
    expect(entities()).toHaveLength(1)
  })
})
