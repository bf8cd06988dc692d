import { afterEach, expect, it } from 'vitest'
import { pause } from '../support/lambda-driver.ts'
import { headings, launch, newShipLog, shipReconciler, steer } from './fleet.ts'
import { startServices, startWholePath, type WholePath } from './whole-path.ts'

/** What changes cost in requests to AWS, counted as they leave the functions; receiving and deleting is the mapping's. */
let plane: WholePath
afterEach(() => plane[Symbol.asyncDispose]())

async function arrive(name: string, heading: number): Promise<void> {
  await expect.poll(async () => (await headings(plane))[name], { timeout: 10_000 }).toBe(heading)
}

/** By the engine's functions, once the environments are warm, and by the API for the write alone. */
async function requestsOf(work: () => Promise<void>): Promise<Readonly<Record<string, number>>> {
  plane.requests.clear()
  await work()
  const ofApi = [...plane.requests].filter(([text]) => text.startsWith('api '))
  await pause(400)
  const ofOthers = [...plane.requests].filter(([text]) => !text.startsWith('api '))
  return Object.fromEntries([...ofApi, ...ofOthers])
}

it('a change that converges in one run: one write, one send, one read, one write', async () => {
  const log = newShipLog()
  plane = await startWholePath({ controllers: [shipReconciler(log)], queue: { concurrency: 1 } })
  await launch(plane, 'w', { heading: 1 })
  await arrive('w', 1)
  const requests = await requestsOf(() => steer(plane, 'w', 2))
  await arrive('w', 2)
  expect(requests).toEqual({
    'api GetItem': 1,
    'api UpdateItem': 1,
    'relay SendMessageBatch': 1,
    'reconcile GetItem': 1,
    'reconcile UpdateItem': 1,
  })
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

it('a short wait: besides, one call to hold the message', async () => {
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
