import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  conditionIn,
  KonnectControlPlane,
  KonnectService,
  seen,
  startKonnectEnv,
  type KonnectEnv,
} from '../reconcilers/konnect/konnect-env.ts'

/** Updates, by the flow chart of the Konnect document: at once for what was declared anew, else once in each period. */

let world: KonnectEnv
beforeEach(async () => {
  world = await startKonnectEnv()
  await world.applyControlPlane()
  await world.applyService()
  world.newCalls()
})
afterEach(() => world[Symbol.asyncDispose]())

const service = () => seen(world.env, KonnectService, 'orders')
const programmed = () => conditionIn(world.env, KonnectService, ['orders', 'Programmed'])
const updates = () => world.callsOf('PUT services/{id}')
const patch = (body: object) => world.env.patch(KonnectService, 'orders', body as never)
const nextRunAt = async (): Promise<number> => {
  const { status } = (await service()) as { readonly status?: { readonly reconcile?: { readonly nextRunAt?: string } } }
  return Date.parse(String(status?.reconcile?.nextRunAt))
}
const at = (seconds: number): number => Date.parse('2026-01-01T00:00:00Z') + seconds * 1_000

describe('a change of what is declared', () => {
  it('K11 of the spec: update at once, not after P', async () => {
    await world.env.advance('10s')
    await patch({ spec: { host: 'new.example' } })
    await world.env.settle()
    expect(updates().map(({ atMs, body }) => [atMs, (body as { host: string }).host])).toEqual([
      [at(10), 'new.example'],
    ])
  })

  it('K12 of a label only: the same', async () => {
    await patch({ metadata: { labels: { team: 'orders' } } })
    await world.env.settle()
    expect(updates()).toHaveLength(1)
  })

  it('K13 of an annotation only: the same', async () => {
    await patch({ metadata: { annotations: { 'example.com/owner': 'orders' } } })
    await world.env.settle()
    expect(updates()).toHaveLength(1)
  })

  it('K18 only the status was written: that is no change', async () => {
    const { id } = (await service()).status ?? {}
    expect(id).toEqual(expect.any(String))
    const before = await world.runs('konnectservice')
    const status = { serverURL: 'https://somebody.wrote/this' }
    await world.env.patch(KonnectService, 'orders', { status }, { subresource: 'status' })
    await world.env.settle()
    expect((await service()).status).toMatchObject(status)
    expect(await world.runs('konnectservice')).toBe(before)
    // Nor does the next run take it for one: it puts the status back, and calls nobody.
    await patch({ metadata: { annotations: { 'setpoint.dev/resync': '1m' } } })
    await world.env.settle()
    expect(await world.runs('konnectservice')).toBeGreaterThan(before)
    expect((await service()).status).toMatchObject({ id, serverURL: world.konnect.url })
    expect(world.newCalls()).toEqual([])
  })

  it('K18 a status that was wiped is there again after the next run, from memory, without a call', async () => {
    const { status } = await service()
    const wiped = { id: null, organizationID: null, serverURL: null, controlPlaneID: null, conditions: null }
    await world.env.patch(KonnectService, 'orders', { status: wiped }, { subresource: 'status' })
    await patch({ metadata: { annotations: { 'setpoint.dev/resync': '1m' } } })
    await world.env.settle()
    expect(world.newCalls()).toEqual([])
    expect((await service()).status).toMatchObject({ ...status, conditions: expect.any(Array) })
    expect(await programmed()).toMatchObject({ status: 'True' })
  })

  it('K20 edited while a run is in flight: the run ends, one more applies the new spec, and the last one wins', async () => {
    const { env, konnect } = world
    const lift = env.faults.always('store.get', { kind: 'delay', ms: 500 }, ([key]) =>
      JSON.stringify(key).includes('KonnectControlPlane'),
    )
    await patch({ spec: { host: 'first.example' } })
    await env.settle()
    expect(updates()).toEqual([])
    await patch({ spec: { host: 'second.example' } })
    await patch({ spec: { host: 'third.example' } })
    await env.advance('5s')
    lift()
    expect(updates().map(({ body }) => (body as { host: string }).host)).toEqual(['first.example', 'third.example'])
    expect(konnect.state.all('services')).toMatchObject([{ host: 'third.example' }])
  })
})

describe('nothing was changed', () => {
  it('K14 and P is not over: no call whatever the trigger, and due when P is over, not a P later', async () => {
    await world.env.advance('25s')
    const before = await world.runs('konnectservice')
    for (const value of ['59s', '1m']) {
      await patch({ metadata: { annotations: { 'setpoint.dev/resync': value } } })
      await world.env.settle()
    }
    expect(await world.runs('konnectservice')).toBeGreaterThanOrEqual(before + 2)
    await world.env.crash()
    await world.env.settle()
    expect(world.newCalls()).toEqual([])
    expect(await nextRunAt()).toBe(at(60))
  })

  it('K15 and P is over: update, though the spec is as it was applied last', async () => {
    await world.env.advance('60s')
    expect(world.newCalls().filter((call) => call.includes('services'))).toEqual([
      'GET services/{id}',
      'PUT services/{id}',
    ])
    const [update] = updates()
    expect(update?.body).toMatchObject({ host: 'orders.example' })
  })

  it('K16 an update that went well: due again in P from then', async () => {
    await world.env.advance('20s')
    await patch({ spec: { host: 'new.example' } })
    await world.env.settle()
    expect(await nextRunAt()).toBe(at(80))
    await world.env.advance('59s')
    expect(updates()).toHaveLength(1)
    await world.env.advance('1s')
    expect(updates()).toHaveLength(2)
  })

  it('K19 a hundred triggers within one P: one update at most, and so in every later P', async () => {
    for (let period = 0; period < 3; period++) {
      for (let i = 0; i < 100; i++) {
        await patch({ metadata: { annotations: { 'setpoint.dev/resync': i % 2 === 0 ? '60s' : '1m' } } })
        if (i % 10 === 0) await world.env.settle()
      }
      expect(await world.runs('konnectservice')).toBeGreaterThanOrEqual(10 * (period + 1))
      await world.env.advance('60s')
    }
    expect(updates().map(({ atMs }) => atMs)).toEqual([at(60), at(120), at(180)])
  })

  it('costs no write of the status, and wakes nobody who refers to it', async () => {
    const before = await service()
    const runs = await world.runs('konnectservice')
    await world.env.advance('5m')
    const after = await service()
    expect(await world.runs('konnectservice')).toBe(runs + 5)
    const writes = world.env.calls.filter(
      ({ call, args }) => call === 'store.replace' && (args[1] as readonly string[]).includes('status'),
    )
    expect(writes.filter(({ atMs }) => atMs > at(0))).toEqual([])
    expect(after.status?.conditions).toEqual(before.status?.conditions)
  })
})

it('an edit of what it refers to, and of no concern to it, neither unsettles it nor is sent for it', async () => {
  const before = (await service()).status
  await world.env.patch(KonnectControlPlane, 'main', { spec: { description: 'another one' } })
  await world.env.settle()
  expect(world.newCalls()).toEqual(['GET control-planes/{id}', 'PATCH control-planes/{id}'])
  const writes = world.env.calls.filter(
    ({ call, args }) => call === 'store.replace' && JSON.stringify(args).includes('"kind":"KonnectService"'),
  )
  const edited = writes.filter(({ args }) => (args[1] as readonly string[]).includes('status')).length
  expect((await service()).status).toEqual(before)
  // Its own creation was the last time that its status was written.
  expect(edited).toBe(1)
})

describe('an update that fails', () => {
  it('K17 says so in a condition, is tried again, and the id is kept', async () => {
    const { id } = (await service()).status ?? {}
    world.konnect.fault({
      call: 'PUT services',
      times: 2,
      answer: { status: 503, body: { message: 'come back later' } },
    })
    await patch({ spec: { host: 'new.example' } })
    await world.env.settle()
    expect(await programmed()).toMatchObject({
      status: 'False',
      reason: 'UpdateFailed',
      message: '503 come back later',
    })
    expect((await service()).status).toMatchObject({ id, reconcile: { waiting: 'Backoff', attempt: 1 } })
    await world.env.advance('10s')
    expect(updates().map(({ status }) => status)).toEqual([503, 503, 200])
    expect(await programmed()).toMatchObject({ status: 'True' })
    expect((await service()).status).toMatchObject({ id })
  })
})
