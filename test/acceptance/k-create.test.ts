import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { OperatingError, Secret } from '../../shared/index.ts'
import {
  conditionIn,
  KonnectControlPlane,
  KonnectRoute,
  KonnectService,
  seen,
  startKonnectEnv,
  type KonnectEnv,
} from '../reconcilers/konnect/konnect-env.ts'
import { problem } from '../reconcilers/konnect/konnect-state.ts'

/** Creation, by the flow chart of the Konnect document. */

let world: KonnectEnv
beforeEach(async () => {
  world = await startKonnectEnv()
})
afterEach(() => world[Symbol.asyncDispose]())

const programmed = (name = 'orders') => conditionIn(world.env, KonnectService, [name, 'Programmed'])
const refValid = () => conditionIn(world.env, KonnectService, ['orders', 'ControlPlaneRefValid'])
const service = () => seen(world.env, KonnectService, 'orders')
const serverError = { status: 500, body: { message: 'the database is on fire' } }

describe('creation', () => {
  it('K1 an object without references to entities: one create, at once', async () => {
    await world.applyControlPlane()
    expect(world.newCalls()).toEqual(['POST control-planes'])
    expect(world.env.nowMs()).toBe(world.callsOf('POST control-planes')[0]?.atMs)
  })

  it('K2 all references valid: create', async () => {
    await world.applyControlPlane()
    await world.applyService()
    const { env, konnect } = world
    const controlPlaneRef = { name: 'main' }
    await env.apply(KonnectRoute, {
      metadata: { name: 'orders' },
      spec: { controlPlaneRef, serviceRef: { name: 'orders' }, paths: ['/orders'] },
    })
    await env.settle()
    expect(world.newCalls()).toEqual(['POST control-planes', 'POST services', 'POST routes'])
    const [route] = konnect.state.all('routes')
    expect(route).toMatchObject({ name: 'orders', service: { id: (await service()).status?.id } })
    for (const type of ['ControlPlaneRefValid', 'ServiceRefValid', 'Programmed', 'Ready'])
      expect(await conditionIn(env, KonnectRoute, ['orders', type])).toMatchObject({ status: 'True' })
  })

  it('K3 a reference that is missing, not ready or being deleted: no create, a condition names it, and it starts again', async () => {
    const { env, konnect } = world
    await world.applyService()
    expect(await refValid()).toMatchObject({
      status: 'False',
      reason: 'NotFound',
      message: 'KonnectControlPlane main does not exist',
    })
    expect(await conditionIn(env, KonnectService, ['orders', 'Ready'])).toMatchObject({
      status: 'False',
      message: expect.stringContaining('KonnectControlPlane main'),
    })

    const answer = problem(500, 'Internal')
    konnect.fault({ call: 'POST control-planes', times: Infinity, answer })
    await world.applyControlPlane()
    expect(await refValid()).toMatchObject({ status: 'False', reason: 'NotReady' })

    expect(await programmed()).toMatchObject({ status: 'False', reason: 'NotReady' })

    await env.patch(KonnectControlPlane, 'main', { metadata: { finalizers: ['test.example/held'] } })
    await env.delete(KonnectControlPlane, 'main')
    await env.settle()
    expect(await refValid()).toMatchObject({ status: 'False', reason: 'BeingDeleted' })

    const before = await world.runs('konnectservice')
    await env.advance('61s')
    expect(await world.runs('konnectservice')).toBeGreaterThan(before)
    expect(world.callsOf('POST services')).toEqual([])
  })

  it('K4 the reference becomes valid: create within seconds, though nobody touched the object', async () => {
    await world.applyService()
    await world.env.advance('20s')
    await world.applyControlPlane()
    const [created] = world.callsOf('POST services')
    expect(created?.atMs).toBe(world.env.nowMs())
    expect(await refValid()).toMatchObject({ status: 'True' })
  })

  it('K5 create succeeds: id, organization, server and true conditions with observedGeneration; the next run is at +P', async () => {
    await world.applyControlPlane()
    await world.applyService()
    const { env, konnect } = world
    for (const kind of [KonnectControlPlane, KonnectService] as const) {
      const name = kind === KonnectControlPlane ? 'main' : 'orders'
      const { status } = await seen(env, kind as typeof KonnectService, name)
      expect(status).toMatchObject({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        organizationID: konnect.organizationID,
        serverURL: konnect.url,
        observedGeneration: 1,
        reconcile: {
          waiting: 'Resync',
          nextRunAt: new Date(env.nowMs() + 60_000).toISOString(),
          lastSyncTime: new Date(env.nowMs()).toISOString(),
        },
      })
      const conditions = status?.conditions ?? []
      expect(conditions.map(({ type }) => type)).toEqual(expect.arrayContaining(['Programmed', 'Ready']))
      expect(conditions.map(({ status: is, observedGeneration }) => [is, observedGeneration])).toEqual(
        conditions.map(() => ['True', 1]),
      )
    }
  })

  it("K6 create fails: a failure condition with the vendor's message, no id, tried again; success clears it", async () => {
    await world.applyControlPlane()
    world.konnect.fault({ call: 'POST services', times: 2, answer: serverError })
    await world.applyService()
    expect(await programmed()).toMatchObject({
      status: 'False',
      reason: 'CreateFailed',
      message: '500 the database is on fire',
    })
    expect(await conditionIn(world.env, KonnectService, ['orders', 'Ready'])).toMatchObject({ reason: 'CreateFailed' })
    expect((await service()).status).not.toHaveProperty('id')
    await world.env.advance('30s')
    expect(await programmed()).toMatchObject({ status: 'True', message: '' })
    expect((await service()).status).toMatchObject({ id: expect.any(String) })
    expect(world.konnect.state.all('services')).toHaveLength(1)
  })

  it('K7 there is an id already, after a redelivery or a redeploy: no create, and it waits for P', async () => {
    await world.applyControlPlane()
    await world.applyService()
    world.newCalls()
    await world.env.crash()
    await world.env.settle()
    expect(world.newCalls()).toEqual([])
    const before = await world.runs('konnectservice')
    await world.env.patch(KonnectService, 'orders', { metadata: { annotations: { 'setpoint.dev/resync': '1m' } } })
    await world.env.settle()
    expect(await world.runs('konnectservice')).toBeGreaterThan(before)
    expect(world.newCalls()).toEqual([])
    expect((await service()).status).toMatchObject({ reconcile: { waiting: 'Resync' } })
  })

  it('K8 P is over and nobody has edited anything: update', async () => {
    await world.applyControlPlane()
    await world.applyService()
    await world.env.advance('59s')
    expect(world.callsOf('PUT services/{id}')).toEqual([])
    await world.env.advance('1s')
    expect(world.callsOf('PUT services/{id}')).toHaveLength(1)
  })
})

describe('a create whose outcome is not known', () => {
  it.each([
    { kind: KonnectControlPlane, collection: 'control-planes', because: 'POST, found by the label with its uid' },
    { kind: KonnectService, collection: 'services', because: 'an id of our choice, found by it' },
  ] as const)(
    'K9 killed after $collection was accepted, before the id was stored: no second one ($because)',
    async ({ kind, collection }) => {
      const { env, konnect } = world
      if (collection === 'services') await world.applyControlPlane()
      // The control plane's create is its second request: it asks for the organization first.
      world.crashAt(collection === 'services' ? 1 : 2, 'after')
      await (collection === 'services' ? world.applyService() : world.applyControlPlane())
      // On AWS what the process had in hand comes again after its visibility timeout.
      await env.advance('10m')
      expect(world.crashes()).toBe(1)
      expect(konnect.state.all(collection)).toHaveLength(1)
      const [entity] = konnect.state.all(collection)
      const { status } = await seen(env, kind as typeof KonnectService, collection === 'services' ? 'orders' : 'main')
      expect(status).toMatchObject({ id: entity?.id })
      expect(await conditionIn(env, kind, [collection === 'services' ? 'orders' : 'main', 'Ready'])).toMatchObject({
        status: 'True',
      })
    },
  )

  it('K9 the answer of a create is lost, and lists show it late: it waits, visibly, and makes no second one', async () => {
    const { env, konnect } = world
    konnect.state.options.lagMs = 20_000
    konnect.fault({ call: 'POST control-planes', lost: true })
    await world.applyControlPlane()
    await env.advance('5s')
    expect(await conditionIn(env, KonnectControlPlane, ['main', 'Programmed'])).toMatchObject({
      status: 'False',
      reason: 'CreateUnknown',
    })
    await env.advance('1m')
    expect(konnect.state.all('control-planes')).toHaveLength(1)
    expect(world.callsOf('POST control-planes')).toHaveLength(1)
    expect(await conditionIn(env, KonnectControlPlane, ['main', 'Ready'])).toMatchObject({ status: 'True' })
  })

  it('K10 the finalizer cannot be stored: no create, since the finalizer comes first', async () => {
    const { env } = world
    const holdsFinalizer = ([stored]: readonly unknown[]): boolean =>
      JSON.stringify(stored).includes('"finalizers":["konnect.setpoint.dev/konnectcontrolplane"]')
    const lift = env.faults.always(
      'store.replace',
      { kind: 'error', error: new OperatingError('UNAVAILABLE', 'the store is away') },
      holdsFinalizer,
    )
    await world.applyControlPlane()
    await env.advance('10s')
    expect(world.requests()).toBe(0)
    lift()
    await env.advance('1m')
    expect(world.callsOf('POST control-planes')).toHaveLength(1)
    expect((await seen(env, KonnectControlPlane, 'main')).metadata.finalizers).toEqual([
      'konnect.setpoint.dev/konnectcontrolplane',
    ])
  })
})

it('a Secret without a token stops it, and the token being there starts it again', async () => {
  const { env, konnect } = world
  await env.apply(Secret, { metadata: { name: 'konnect' }, stringData: { other: 'x' } })
  const spec = { authRef: { name: 'konnect' }, serverURL: konnect.url }
  await env.apply(KonnectControlPlane, { metadata: { name: 'main' }, spec })
  await env.settle()
  for (const type of ['Stalled', 'Programmed'])
    expect(await conditionIn(env, KonnectControlPlane, ['main', type])).toMatchObject({ reason: 'AuthRefInvalid' })
  await world.applyControlPlane()
  expect(await conditionIn(env, KonnectControlPlane, ['main', 'Ready'])).toMatchObject({ status: 'True' })
})
