import { afterEach, describe, expect, it } from 'vitest'
import { pause } from '../support/lambda-driver.ts'
import { again, defineReconciler, done, type Outcome } from '../../shared/index.ts'
import { requestsOfChange } from '../cost/latency.ts'
import { headings, launch, newShipLog, Ship, shipReconciler, ships, steer } from './fleet.ts'
import { startServices, startWholePath, type WholePath } from './whole-path.ts'

/**
 * What changes cost in requests to AWS, counted as they leave the functions; receiving and deleting is the mapping's.
 */
let plane: WholePath
afterEach(() => plane[Symbol.asyncDispose]())

async function arrive(name: string, heading: number): Promise<void> {
  await expect.poll(async () => (await headings(plane))[name]).toBe(heading)
}

/** By the engine's functions, once the environments are warm, and by the API for the write alone. */
async function requestsOf(work: () => Promise<void>): Promise<Readonly<Record<string, number>>> {
  plane.requests.clear()
  await work()
  const ofApi = [...plane.requests].filter(([text]) => text.startsWith('api '))
  await untilQuiet()
  const ofOthers = [...plane.requests].filter(([text]) => !text.startsWith('api '))
  return Object.fromEntries([...ofApi, ...ofOthers])
}

/** Two looks in a row find nothing new: the functions have done what there was to do. */
async function untilQuiet(): Promise<void> {
  let looks = 0
  for (let seen = ''; looks < 2;) {
    await pause(400)
    const now = JSON.stringify([...plane.requests])
    looks = now === seen ? looks + 1 : 0
    seen = now
  }
}

it('a change that converges in one run: one write, two sends of one message, one read, one write', async () => {
  const log = newShipLog()
  plane = await startWholePath({ controllers: [shipReconciler(log)], queue: { concurrency: 1 } })
  await launch(plane, 'w', { heading: 1 })
  await arrive('w', 1)
  const requests = await requestsOf(() => steer(plane, 'w', 2))
  await arrive('w', 2)
  expect(requests).toEqual(requestsOfChange)
  expect(log.runs).toBe(2)
})

it('ten objects that change together share what can be shared', async () => {
  const log = newShipLog()
  const names = Array.from({ length: 10 }, (_, i) => `ship-${i}`)
  plane = await startWholePath({
    controllers: [shipReconciler(log)],
    queue: { concurrency: 1 },
    stream: { lateMs: () => 100 },
    services: await startServices(undefined, 1),
  })
  for (const name of names) await launch(plane, name, { heading: 1 })
  for (const name of names) await arrive(name, 1)
  const requests = await requestsOf(async () => {
    await Promise.all(names.map((name) => steer(plane, name, 2)))
  })
  for (const name of names) await arrive(name, 2)
  expect(requests['relay SendMessageBatch']).toBeLessThanOrEqual(2)
  expect(requests).toMatchObject({ 'reconcile GetItem': 10, 'reconcile UpdateItem': 10, 'api UpdateItem': 10 })
})

it('a short wait: besides, one call to hold the message, and nobody wakes it ahead of the relay, which ends the hold', async () => {
  const log = newShipLog()
  plane = await startWholePath({ controllers: [shipReconciler(log)], queue: { concurrency: 1 }, visibilitySeconds: 30 })
  await launch(plane, 'w', { heading: 1, anchored: true })
  await arrive('w', 1)
  await pause(200)
  const requests = await requestsOf(() => steer(plane, 'w', 2))
  await arrive('w', 2)
  expect(requests).toEqual({
    'api GetItem': 1,
    'api UpdateItem': 1,
    'relay SendMessageBatch': 1,
    'relay ChangeMessageVisibility': 1,
    'reconcile GetItem': 1,
    'reconcile UpdateItem': 1,
    'reconcile ChangeMessageVisibilityBatch': 1,
  })
})

it('the rate limit of a controller: besides, one write for each batch', async () => {
  const log = newShipLog()
  const rateLimit = { controller: { perSecond: 1_000, burst: 100 } }
  const names = Array.from({ length: 10 }, (_, i) => `ship-${i}`)
  let batches = 0
  plane = await startWholePath({
    controllers: [shipReconciler(log, { rateLimit })],
    queue: { concurrency: 1, onInvocation: () => void batches++ },
    stream: { lateMs: () => 100 },
    services: await startServices(undefined, 1),
  })
  for (const name of names) await launch(plane, name, { heading: 1 })
  for (const name of names) await arrive(name, 1)
  await pause(200)
  batches = 0
  const requests = await requestsOf(async () => {
    await Promise.all(names.map((name) => steer(plane, name, 2)))
  })
  for (const name of names) await arrive(name, 2)
  expect(requests).toMatchObject({ 'reconcile GetItem': 10, 'reconcile UpdateItem': 10 + batches })
  expect(batches).toBeLessThan(5)
})

describe('in what a run ends', () => {
  const changed = {
    'api GetItem': 1,
    'api UpdateItem': 1,
    'api SendMessageBatch': 1,
    'relay SendMessageBatch': 1,
    'reconcile GetItem': 1,
  }
  const failing = (): Outcome<never> => {
    throw new Error('the wind is against us')
  }
  let ends: () => Outcome<{ heading?: number }>
  let runs: number
  let tickAheadMs: number

  /** Ships that have arrived, with a finalizer. */
  async function sail(...names: readonly string[]): Promise<void> {
    ends = () => done()
    runs = 0
    // Two minutes of ticks end a minute ahead of the others' clocks: a resync of a time to come would be held.
    tickAheadMs = -60_000
    const controller = defineReconciler(Ship, {
      resync: '1m',
      reconcile: async () => {
        runs++
        return ends()
      },
      cleanup: async () => done(),
    })
    plane = await startWholePath({
      controllers: [controller],
      queue: { concurrency: 1 },
      visibilitySeconds: 30,
      skewMs: (_, name) => (name === 'resync' ? tickAheadMs : 0),
    })
    for (const name of names) await launch(plane, name, { heading: 1 })
    await expect.poll(() => runs).toBe(names.length)
    await pause(500)
  }

  /** All of them, and no more; but for looks for new kinds and quotas, and those of a tick. */
  async function expectRequests(
    work: () => Promise<unknown>,
    expected: Readonly<Record<string, number>>,
  ): Promise<void> {
    const asked = (): unknown =>
      Object.fromEntries([...plane.requests].filter(([text]) => !/(api|resync|reconcile) Query/.test(text)))
    plane.requests.clear()
    await work()
    await expect.poll(asked).toEqual(expected)
    await pause(200)
    expect(asked()).toEqual(expected)
  }

  it('a resync that finds nothing: a share of a send, one read, where turns are quick', async () => {
    await sail('v', 'w')
    const tickedMs = Date.now()
    await plane.tick()
    await untilQuiet()
    await plane.knowQuick('ship')
    // A whole period, and no more: of the objects behind it there would be two resyncs.
    tickAheadMs += 60_000 - (Date.now() - tickedMs)
    await expectRequests(() => plane.tick(), {
      'resync GetItem': 1,
      'resync GetQueueAttributes': 1,
      'resync PutItem': 1,
      'resync SendMessageBatch': 1,
      'reconcile GetItem': 2,
    })
  })

  it('besides, three writes and some looks, where that is not known', async () => {
    await sail('v')
    const tickedMs = Date.now()
    await plane.tick()
    await untilQuiet()
    tickAheadMs += 60_000 - (Date.now() - tickedMs)
    await expectRequests(() => plane.tick(), {
      'resync GetItem': 1 + 1,
      'resync UpdateItem': 1,
      'resync GetQueueAttributes': 1,
      'resync PutItem': 1,
      'resync SendMessageBatch': 1,
      'reconcile GetItem': 1,
      'reconcile UpdateItem': 2,
    })
  })

  it('a failure: one write, one hold, one reservation of its retry, one row of its history; and to tell of it, two reads and a write of its event', async () => {
    await sail('w')
    ends = failing
    // Behind the third there is the most time to count in.
    const three = async (): Promise<void> => {
      await steer(plane, 'w', 2)
      await expect.poll(() => runs).toBe(1 + 3)
    }
    await expectRequests(three, {
      ...changed,
      'reconcile GetItem': 3 * (1 + 2),
      'reconcile UpdateItem': 3 + 3 + 2,
      'reconcile PutItem': 1 + 3,
      'reconcile ChangeMessageVisibilityBatch': 3,
    })
  })

  it('a long wait: nothing besides its write', async () => {
    await sail('w')
    ends = () => again('10m')
    await expectRequests(() => steer(plane, 'w', 2), { ...changed, 'reconcile UpdateItem': 1 })
  })

  it('a clean-up: one write, a look at what the object referred to, one for its children, and one at its namespace', async () => {
    await sail('w')
    await expectRequests(() => plane.request(`DELETE ${ships}/w`), {
      ...changed,
      'reconcile GetItem': 2,
      'reconcile UpdateItem': 1,
      'relay Query': 1,
      'relay GetItem': 1,
    })
  })
})
