import { beforeEach, describe, expect, it } from 'vitest'
import { OperatingError } from '../../../../shared/model/errors.ts'
import type { WakeUp } from '../../../../shared/ports/work-queue.ts'
import { createArrivals } from '../../../../shared/runtime/aws/arrivals.ts'
import { lambdaBoundary } from '../../../../shared/runtime/aws/boundary.ts'
import { openAwsQueues, type AwsQueues } from '../../../../shared/runtime/aws/queues.ts'
import { bufferOf, testCredentials, type Transport } from '../../../../shared/testing-aws/dynalite.ts'
import { createVirtualClock, type VirtualClock } from '../../../support/virtual-clock.ts'
import { expectCode } from '../../../support/expect-code.ts'

/** Whose wake-ups go into the queue of the system. */
const controllers = [
  { name: 'shelf', concurrency: 3, timeoutMs: 60_000 },
  { name: 'lamp', concurrency: 4, timeoutMs: 60_000 },
]

/** Nothing is noted of queues. */
const noCheckpoint = () => ({ load: async () => '{}', save: async () => {} })

let asked: string[]
beforeEach(() => void (asked = []))

/** Says how long each queue is, and notes which was asked for. */
const sqs: Transport = {
  handle: async ({ body }) => {
    const { QueueUrl = '' } = JSON.parse(bufferOf(body).toString()) as { readonly QueueUrl?: string }
    asked.push(QueueUrl.split('/').at(-1) ?? '')
    const answer = JSON.stringify({
      Attributes: { ApproximateNumberOfMessages: '7' },
    })
    return {
      response: {
        statusCode: 200,
        headers: { 'content-type': 'application/x-amz-json-1.0' },
        body: Buffer.from(answer),
      },
    }
  },
}

function open(...names: readonly string[]): AwsQueues {
  const urls = names.map((name) => [name, `https://sqs.us-east-1.amazonaws.com/1/${name}.fifo`])
  const environment = { SETPOINT_QUEUES: JSON.stringify(Object.fromEntries(urls)) }
  const client = { region: 'us-east-1', credentials: testCredentials, requestHandler: sqs as never }
  return openAwsQueues({ ...lambdaBoundary, environment, sqs: client }, controllers, noCheckpoint)
}

const engines = ['namespace-lifecycle', 'garbage-collector', 'event-expiry', 'shelf-fan-out', 'lamp-fan-out']

it.each([{ name: 'shelf', queue: 'shelf.fifo' }, ...engines.map((name) => ({ name, queue: 'system.fifo' }))])(
  '$name has $queue',
  async ({ name, queue }) => {
    const { queueOf, depthOf } = open('shelf', 'system')
    expect(await depthOf({ name })).toBe(7)
    expect(asked).toEqual([queue])
    expect(queueOf({ name })).toBe(queueOf({ name }))
  },
)

it('a controller that the variables do not name yet is to wait for its queue, and takes none in its place', async () => {
  const { queueOf, depthOf } = open('shelf', 'system')
  expect(() => queueOf({ name: 'lamp' })).toThrow('SETPOINT_QUEUES has no queue for lamp yet')
  await expectCode(depthOf({ name: 'lamp' }), 'UNAVAILABLE')
  expect(asked).toEqual([])
})

it('where there is one queue only, it is that of controllers, too', async () => {
  await open('system').depthOf({ name: 'lamp' })
  expect(asked).toEqual(['system.fifo'])
})

it('how long a queue is, is asked once for all loops that want to know it at a time', async () => {
  const { depthOf } = open('shelf', 'system')
  const both = [...engines, 'shelf']
  expect(await Promise.all(both.map((name) => depthOf({ name })))).toEqual(both.map(() => 7))
  expect(asked.toSorted()).toEqual(['shelf.fifo', 'system.fifo'])
  await depthOf({ name: 'shelf' })
  expect(asked).toHaveLength(3)
})

it.each([
  { name: 'shelf', queue: 'shelf', concurrency: 3 },
  { name: 'lamp', queue: 'system', concurrency: 40 },
  // As an earlier version says it.
  { name: 'lamp', queue: 'system', concurrency: 40, urls: { lamp: '' }, shared: {} },
  { name: 'garbage-collector', queue: 'system', concurrency: 40 },
])('$name runs $concurrency objects of its queue at once: $urls', ({ name, queue, concurrency, ...row }) => {
  const { urls = {}, shared = { SETPOINT_SHARED: 'vase lamp' } } = row
  const all = { shelf: 'https://sqs/1/shelf.fifo', ...urls, system: 'https://sqs/1/system.fifo' }
  const environment = { SETPOINT_QUEUES: JSON.stringify(all), SETPOINT_SHARED_CONCURRENCY: '40', ...shared }
  const { capacityOf } = openAwsQueues({ ...lambdaBoundary, environment }, controllers, noCheckpoint)
  expect(capacityOf({ name })).toEqual({ queue: `https://sqs/1/${queue}.fifo`, concurrency, queues: 1 })
})

it.each(['0', 'ten', '1.5', ''])('a concurrency of "%s" is refused', (text) => {
  const environment = { SETPOINT_QUEUES: '{"system":"https://sqs/1/system.fifo"}', SETPOINT_SHARED_CONCURRENCY: text }
  expect(() => openAwsQueues({ ...lambdaBoundary, environment }, controllers, noCheckpoint)).toThrow(
    'SETPOINT_SHARED_CONCURRENCY',
  )
})

it('a controller that has a queue of its own now takes what is left in the one that it shared before', async () => {
  const { queueOf, receiveFrom } = open('shelf', 'system')
  const take = createArrivals({ queueOf, receiveFrom, logger: silent })
  const key = { group: 'example.com', kind: 'Shelf', namespace: 'default', name: 's' }
  const wakeUp = { key, origin: 'change', lane: 'urgent', reason: 'changed', dedupId: 'd' } as const
  const arrive = async (queue: string, loop = 'shelf'): Promise<string> => {
    const taken = await take({ loop, delivery: { wakeUp, handle: 'h', receiveCount: 1 } }, `arn:aws:sqs:r:1:${queue}`)
    return typeof taken === 'object' ? 'run' : taken
  }
  // Its code is in the function of the system, too. Its rights and variables are no more.
  expect(await arrive('system.fifo')).toBe('drop')
  expect(asked).toEqual(['shelf.fifo'])
  expect([await arrive('shelf.fifo'), await arrive('system.fifo', 'event-expiry')]).toEqual(['run', 'run'])
  expect(asked).toEqual(['shelf.fifo'])
})

describe('a controller with several queues', () => {
  const urls = { shelf: [0, 1, 2, 3].map((i) => `https://sqs/1/shelf${i}.fifo`), system: 'https://sqs/1/system.fifo' }
  const key = (i: number) => ({ group: 'example.com', kind: 'Shelf', namespace: 'default', name: `s${i}` })
  const wakeUps = Array.from({ length: 40 }, (_, i) => {
    const ofChange = { origin: 'change', lane: 'urgent', reason: 'changed' } as const
    return { ...ofChange, key: key(i), dedupId: `d${i}` }
  })
  let noted: string | undefined
  let clock: VirtualClock

  beforeEach(() => {
    noted = undefined
    clock = createVirtualClock()
  })

  function openFour(used = 4): AwsQueues {
    const environment = { SETPOINT_QUEUES: JSON.stringify(urls), SETPOINT_QUEUES_USED: JSON.stringify({ shelf: used }) }
    const client = { region: 'us-east-1', credentials: testCredentials, requestHandler: sqs as never }
    const checkpoint = () => ({ load: async () => noted, save: async (text: string) => void (noted = text) })
    return openAwsQueues({ ...lambdaBoundary, environment, clock, sqs: client }, controllers, checkpoint)
  }
  const queuesOf = async (): Promise<readonly string[]> => {
    asked = []
    await openFour().queueOf({ name: 'shelf' }).send(wakeUps)
    return [...new Set(asked)].sort()
  }

  it('uses the first one until the others are noted, and all of them a quarter of an hour after', async () => {
    expect(await queuesOf()).toEqual(['shelf0.fifo'])
    await openFour().advanceQueues()
    await clock.advance(14 * 60_000)
    expect(await queuesOf()).toEqual(['shelf0.fifo'])
    await clock.advance(60_000)
    expect(await queuesOf()).toEqual([0, 1, 2, 3].map((i) => `shelf${i}.fifo`))
    await clock.advance(16 * 60_000)
    await openFour(1).advanceQueues()
    await clock.advance(15 * 60_000)
    expect(await queuesOf()).toEqual(['shelf0.fifo'])
  })

  it('is as long as all of them are together', async () => {
    expect(await openFour().depthOf({ name: 'shelf' })).toBe(28)
  })

  it('takes a message by the queue that it came out of, ends its hold there, and sends on what is elsewhere', async () => {
    await openFour().advanceQueues()
    await clock.advance(60 * 60_000)
    const queues = openFour()
    const take = createArrivals({ ...queues, logger: silent })
    const taken = await Promise.all(
      wakeUps.map((wakeUp) =>
        take({ loop: 'shelf', delivery: { wakeUp, handle: 'handle', receiveCount: 1 } }, 'arn:aws:sqs:r:1:shelf2.fifo'),
      ),
    )
    const own = taken.filter((one) => typeof one === 'object')
    expect(own.length).toBeGreaterThan(0)
    expect(taken.filter((one) => one === 'drop').length).toBe(wakeUps.length - own.length)
    expect(new Set(asked)).toEqual(new Set([0, 1, 3].map((i) => `shelf${i}.fifo`)))
    asked = []
    await queues.queueOf({ name: 'shelf' }).hold(
      own.map(({ delivery }) => delivery),
      1_000,
    )
    await queues.queueOf({ name: 'shelf' }).wake(own[0]?.delivery.handle ?? '')
    expect(new Set(asked)).toEqual(new Set(['shelf2.fifo']))
  })

  it('holds a message for a moment whose queue cannot be known for now, where there is one in the list, too', async () => {
    const checkpoint = () => ({
      load: () => Promise.reject(new OperatingError('UNAVAILABLE', 'away')),
      save: async () => {},
    })
    const client = { region: 'us-east-1', credentials: testCredentials, requestHandler: sqs as never }
    const [wakeUp] = wakeUps
    for (const shelf of [urls.shelf, urls.shelf.slice(2, 3)]) {
      asked = []
      const environment = { SETPOINT_QUEUES: JSON.stringify({ ...urls, shelf }) }
      const queues = openAwsQueues({ ...lambdaBoundary, environment, sqs: client }, controllers, checkpoint)
      const delivery = { wakeUp: wakeUp as WakeUp, handle: 'handle', receiveCount: 1 }
      const take = createArrivals({ ...queues, logger: silent })
      expect(await take({ loop: 'shelf', delivery }, 'arn:aws:sqs:r:1:shelf2.fifo')).toBe('keep')
      expect(asked).toEqual(['shelf2.fifo'])
    }
  })
})

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, with: () => silent }
