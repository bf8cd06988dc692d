import { afterEach, describe, expect, it } from 'vitest'
import { createSeededRandom } from '../../shared/testing/seeded-random.ts'
import { pause } from '../support/lambda-driver.ts'
import { calm, currentLife, stormy, type Call, type Fault } from '../support/lambda-life.ts'
import { again, defineReconciler } from '../../shared/index.ts'
import { headings, launch, newShipLog, Ship, shipReconciler, ships, steer } from './fleet.ts'
import { startServices, startWholePath, type WholePath, type WholePathOptions } from './whole-path.ts'
import { underLoad, visibilityUnderLoad } from '../support/under-load.ts'

/**
 * API, table, stream, relay, queue, reconcile, status: the real functions over the wire protocols of DynamoDB and SQS,
 * with a driver in Lambda's place. Whatever happens on the way, every ship is on its last heading in the end, and no
 * ship was steered twice at once.
 */
const planes: WholePath[] = []
afterEach(async () => {
  await Promise.all(planes.splice(0).map((plane) => plane[Symbol.asyncDispose]()))
})

async function start(options: Partial<WholePathOptions> = {}, log = newShipLog()): Promise<WholePath> {
  const plane = await startWholePath({ controllers: [shipReconciler(log)], ...options })
  planes.push(plane)
  return plane
}

async function arrives(plane: WholePath, name: string, heading: number, timeout = 60_000): Promise<void> {
  await expect.poll(async () => (await headings(plane))[name], { timeout, interval: 25 }).toBe(heading)
}

/** The n-th request of a function meets a fault, once. */
function at(
  name: string,
  n: number,
  fault: Fault,
): { readonly weather: (call: Call) => Fault | undefined; readonly met: () => boolean } {
  let seen = 0
  return {
    weather: (call) => (call.name === name && ++seen === n ? fault : undefined),
    met: () => seen >= n,
  }
}

describe('a change goes from the API to its status', () => {
  it('by one run, and changes that come together need no more', async () => {
    const log = newShipLog()
    const plane = await start({}, log)
    await launch(plane, 'w', { heading: 1 })
    await arrives(plane, 'w', 1)
    expect(log.runs).toBe(1)
  })

  it('and the API lists queues, timers and budgets, and says where the log level is', async () => {
    const plane = await start()
    await launch(plane, 'w', { heading: 1 })
    await arrives(plane, 'w', 1)
    const page = async (name: string) => (await plane.request(`GET /${name}`)).body as string
    const list = async (plural: string) => (await plane.request(`GET /apis/setpoint.dev/v1/${plural}`)).body
    await expect
      .poll(() => list('queues'), { timeout: 60_000 })
      .toMatchObject({
        kind: 'QueueList',
        items: [
          {
            metadata: { name: expect.stringMatching(/\.fifo$/) },
            status: { controllers: expect.arrayContaining(['ship', 'garbage-collector']), waiting: expect.any(Number) },
          },
        ],
      })
    await expect.poll(() => list('timers'), { timeout: 60_000 }).toMatchObject({ kind: 'TimerList' })
    expect((await list('budgets')).items).toMatchObject([
      { metadata: { name: 'retries' }, status: { perSecond: 10, burst: 100, message: 'counted in the table' } },
      { metadata: { name: 'ship.concurrency' }, status: { max: 10 } },
    ])
    // SQS does not name what is in its queues.
    const { resources } = await plane.request('GET /apis/setpoint.dev/v1').then(({ body }) => body)
    expect(resources.map(({ name }: { name: string }) => name)).toEqual(['queues', 'timers', 'budgets'])
    expect(await plane.request('GET /apis/setpoint.dev/v1/queuedkeys')).toMatchObject({ status: 404 })
    expect(await page('doctor')).toContain('least privilege')
    expect(await page('log-level')).toBe('info\n')
    expect(await plane.request('POST /log-level', 'debug')).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('logLevel') },
    })
  })

  it('and the API tells of the run', async () => {
    const plane = await start({ keepsAllRuns: true })
    await launch(plane, 'w', { heading: 1 })
    await arrives(plane, 'w', 1)
    const told = async () => (await plane.request(`GET ${ships}/w/runs`)).body
    await expect.poll(told).toMatchObject({
      kind: 'ObjectRunList',
      items: [{ outcome: 'done', generation: 1, causes: [expect.stringContaining('created')] }],
    })
  })

  it('although records of the stream come late and twice, and messages again', async () => {
    const { next } = createSeededRandom(1)
    const log = newShipLog()
    const plane = await start(
      {
        stream: { repeats: () => next() < 0.5, lateMs: () => next() * 200, batchSize: 3 },
        queue: { redelivers: () => next() < 0.3 },
        visibilitySeconds: visibilityUnderLoad(),
      },
      log,
    )
    await Promise.all(['a', 'b', 'c', 'd'].map((name) => launch(plane, name, { heading: 0 })))
    for (let heading = 1; heading <= 5; heading++)
      for (const name of ['a', 'b', 'c', 'd']) await steer(plane, name, heading)
    for (const name of ['a', 'b', 'c', 'd']) await arrives(plane, name, 5)
    expect(log.overlaps).toBe(0)
  })

  it('although a record of the stream is damaged, which is passed over, and not set aside', async () => {
    const aside: string[] = []
    const plane = await start({
      stream: {
        retriesMax: 3,
        onFailure: (records) => aside.push(...records.map(({ dynamodb }) => dynamodb?.NewImage?.['sk']?.S ?? '')),
      },
    })
    const Keys = { pk: { S: 'test.setpoint.dev/Ship#0' }, sk: { S: 'default#wreck' } }
    const NewImage = { ...Keys, touched: { S: 'spec' }, doc: { S: '{' } }
    for (let i = 0; i < 2; i++) plane.log.push({ eventName: 'INSERT', dynamodb: { Keys, NewImage } })
    await Promise.all(['a', 'b', 'c', 'd'].map((name) => launch(plane, name, { heading: 7 })))
    for (const name of ['a', 'b', 'c', 'd']) await arrives(plane, name, 7)
    await steer(plane, 'a', 8)
    await arrives(plane, 'a', 8)
    expect(aside).toEqual([])
  })

  it('although every request is throttled the first time', async () => {
    const seen = new Set<string>()
    const log = newShipLog()
    const plane = await start({}, log)
    plane.weather = ({ name, operation }) => {
      const isFirst = !seen.has(`${name} ${operation}`)
      seen.add(`${name} ${operation}`)
      return isFirst ? 'throttle' : undefined
    }
    await launch(plane, 'w', { heading: 1 })
    await arrives(plane, 'w', 1)
    await steer(plane, 'w', 2)
    await arrives(plane, 'w', 2)
    expect([...seen]).toEqual(
      expect.arrayContaining(['api DynamoDB_20120810.PutItem', 'relay AmazonSQS.SendMessageBatch']),
    )
    expect(log.overlaps).toBe(0)
  })

  it('although the clocks of functions are five seconds off, this way and that', async () => {
    const log = newShipLog()
    const plane = await start({ skewMs: (environment) => ((environment % 3) - 1) * 5_000 }, log)
    await Promise.all(['a', 'b', 'c'].map((name) => launch(plane, name, { heading: 0 })))
    for (let heading = 1; heading <= 5; heading++) for (const name of ['a', 'b', 'c']) await steer(plane, name, heading)
    for (const name of ['a', 'b', 'c']) await arrives(plane, name, 5)
    expect(log.overlaps).toBe(0)
  })

  it('at once, while the object waits for a minute', async () => {
    const log = newShipLog()
    const plane = await start({ visibilitySeconds: 60 }, log)
    await launch(plane, 'w', { heading: 1, anchored: true })
    await arrives(plane, 'w', 1)
    await pause(500)
    expect(log.runs).toBe(1)
    const changedMs = Date.now()
    await steer(plane, 'w', 2)
    await arrives(plane, 'w', 2)
    expect((log.atMs[1] ?? Infinity) - changedMs).toBeLessThan(underLoad(2_000))
    expect(log.runs).toBe(2)
  })
})

it('a wait that follows on a wait goes on for ever, though a queue gives up what comes back too often', async () => {
  const atMs: number[] = []
  const polling = defineReconciler(Ship, {
    reconcile: async () => {
      atMs.push(Date.now())
      return again('200ms')
    },
  })
  const plane = await start({ controllers: [polling], maxReceiveCount: 10 })
  await launch(plane, 'w', { heading: 1 })
  await expect.poll(() => atMs.length).toBeGreaterThan(9)
  const gaps = atMs.slice(1).map((ms, i) => ms - (atMs[i] ?? 0))
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(190)
  expect(Math.max(...gaps)).toBeLessThan(underLoad(2_000))
  expect(await plane.deadLetters()).toBe(0)
})

describe('a function that dies', () => {
  const faults = ['crashBefore', 'crashAfter', 'lost'] as const

  it.each([
    { name: 'reconcile', anchored: true },
    { name: 'reconcile', anchored: false },
    { name: 'relay', anchored: true },
    { name: 'api', anchored: false },
  ] as const)(
    'between any two requests of $name loses nothing (objects that wait: $anchored)',
    async ({ name, anchored }) => {
      const log = newShipLog()
      const plane = await start({ visibilitySeconds: visibilityUnderLoad() }, log)
      let places = 0
      for (const fault of faults) {
        for (let n = 1; n <= 12; n++) {
          const ship = `${fault.toLowerCase()}-${n}`
          await launch(plane, ship, { heading: 0, anchored })
          await arrives(plane, ship, 0)
          const { weather, met } = at(name, n, fault)
          plane.weather = weather
          await steer(plane, ship, n)
          await arrives(plane, ship, n)
          plane.weather = calm
          if (!met()) break
          places++
        }
      }
      expect(places).toBeGreaterThanOrEqual(faults.length + 1)
      expect(log.overlaps).toBe(0)
    },
  )

  it('because it was out of time loses nothing, wherever it stood', async () => {
    const late = async (n: number): Promise<void> => {
      const log = newShipLog()
      // Of the function's time five seconds are kept back; what is left is enough for a run that does not hang.
      const seconds = visibilityUnderLoad()
      const plane = await start({ timeoutMs: 5_000 + 500 * seconds, visibilitySeconds: 5 + seconds }, log)
      plane.weather = at('reconcile', n + 1, 'hang').weather
      await launch(plane, 'w', { heading: n })
      await arrives(plane, 'w', n)
      expect(log.overlaps).toBe(0)
    }
    await Promise.all([1, 2, 3].map(late))
  })

  it('with a reconcile that ignores its end: the run comes again when the process is over, and not before', async () => {
    const log = newShipLog()
    const seconds = visibilityUnderLoad()
    const runMs = (): number => (log.runs === 1 ? 4_000 * seconds : 0)
    const controllers = [shipReconciler(log, { runMs })]
    const plane = await start({ controllers, timeoutMs: 5_000 + 2_000 * seconds, visibilitySeconds: 6 + 2 * seconds })
    await launch(plane, 'w', { heading: 1 })
    await arrives(plane, 'w', 1)
    expect(log.overlaps).toBe(0)
    expect(log.runs).toBe(2)
  })

  it('with every run of an object ends in the dead-letter queue: the object says so, and others go on', async () => {
    const log = newShipLog()
    const first = (name: string): void => (name === 'wreck' ? currentLife()?.kill() : undefined)
    const plane = await start({
      controllers: [shipReconciler(log, { first })],
      visibilitySeconds: visibilityUnderLoad(),
      maxReceiveCount: 3,
      queue: { batchSize: 1 },
    })
    await launch(plane, 'wreck', { heading: 1 })
    await launch(plane, 'w', { heading: 1 })
    await arrives(plane, 'w', 1)
    const wreck = async (): Promise<unknown> => (await plane.request(`GET ${ships}/wreck`)).body.status
    await expect.poll(wreck, { interval: 100 }).toMatchObject({
      conditions: [
        { type: 'Ready', status: 'False', reason: 'RunNotEnded' },
        { type: 'Stalled', status: 'True', reason: 'RunNotEnded' },
      ],
      reconcile: { waiting: 'Backoff', attempt: 1 },
    })
    // The message goes after the write that it leads to.
    await expect.poll(plane.deadLetters, { interval: 100 }).toBe(0)
    const events = await plane.request('GET /api/v1/namespaces/default/events')
    expect(events.body.items).toMatchObject([{ reason: 'RunNotEnded', involvedObject: { name: 'wreck' } }])
  })
})

describe('the tick', () => {
  it('finds a change that the stream lost, and counts it as a repair', async () => {
    let offsetMs = 0
    let isLost = false
    const log = newShipLog()
    const services = await startServices(() => isLost)
    const plane = await start({ services, skewMs: () => offsetMs }, log)
    isLost = true
    // Nor does the queue take what the API sends itself.
    plane.weather = ({ name, operation }) => (name === 'api' && operation.includes('Send') ? 'throttle' : undefined)
    await launch(plane, 'w', { heading: 1 })
    await expect.poll(() => plane.lines.some((line) => line.includes('not woken ahead of the relay'))).toBe(true)
    isLost = false
    plane.weather = calm
    offsetMs = 4 * 60_000
    await plane.tick()
    await pause(300)
    expect(log.runs).toBe(0)
    offsetMs = 11 * 60_000
    await plane.tick()
    await arrives(plane, 'w', 1)
    await expect.poll(() => plane.lines.some((line) => /"setpoint_repairs_total":1/.test(line))).toBe(true)
  })

  // On a loaded machine a message may come back before its run has ended.
  it(
    'has each object run once in its period, late ticks and double ones included; where turns are quick, such a run costs one read and no write',
    { retry: 2 },
    async () => {
      let offsetMs = 0
      const log = newShipLog()
      const controllers = [shipReconciler(log, { resync: '10m' })]
      const plane = await start({ controllers, skewMs: () => offsetMs, visibilitySeconds: visibilityUnderLoad() }, log)
      const names = Array.from({ length: 12 }, (_, i) => `ship-${i}`)
      for (const name of names) await launch(plane, name, { heading: 1 })
      for (const name of names) await arrives(plane, name, 1)
      plane.requests.clear()
      log.runs = 0
      for (const minutes of [1, 2, 2, 3, 6, 7, 8, 9, 10]) {
        offsetMs = minutes * 60_000
        await plane.knowQuick('ship')
        await plane.tick()
      }
      await expect.poll(() => log.runs).toBe(names.length)
      await pause(300)
      expect(log.runs).toBe(names.length)
      const { requests } = plane
      expect(requests.get('reconcile GetItem')).toBe(names.length)
      expect(
        [...requests.keys()].filter((text) => /^reconcile .*(PutItem|UpdateItem|DeleteItem|Send)/.test(text)),
      ).toEqual([])
    },
  )
})

it('a fleet under change, with five faults in a hundred requests, is on its last headings in the end', async () => {
  const { next } = createSeededRandom(7)
  const log = newShipLog()
  const controllers = [shipReconciler(log, { runMs: () => next() * 10, fails: () => next() < 0.05 })]
  const plane = await start(
    { controllers, chance: next, visibilitySeconds: visibilityUnderLoad(), maxReceiveCount: 50 },
    log,
  )
  const names = Array.from({ length: 20 }, (_, i) => `ship-${i}`)
  plane.weather = stormy({ throttle: 0.02, lost: 0.02, crashBefore: 0.005, crashAfter: 0.005 }, next)
  await Promise.all(
    names.map(async (name) => {
      await launch(plane, name, { heading: 0 })
      for (let heading = 1; heading <= 10; heading++) await steer(plane, name, heading)
    }),
  )
  plane.weather = calm
  await expect
    .poll(async () => Object.values(await headings(plane)).filter((heading) => heading === 10).length, {
      interval: 100,
    })
    .toBe(names.length)
  expect(log.overlaps).toBe(0)
  expect(log.runs).toBeGreaterThanOrEqual(names.length)
})
