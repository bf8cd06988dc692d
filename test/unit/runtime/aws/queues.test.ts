import { beforeEach, expect, it } from 'vitest'
import { lambdaBoundary } from '../../../../shared/runtime/aws/boundary.ts'
import { openAwsQueues, type AwsQueues } from '../../../../shared/runtime/aws/queues.ts'
import { bytesOf, testCredentials, type Transport } from '../../../support/dynalite.ts'
import { expectCode } from '../../../support/expect-code.ts'

/** Whose wake-ups go into the queue of the system. */
const controllers = [
  { name: 'shelf', concurrency: 3 },
  { name: 'lamp', concurrency: 4 },
]

let asked: string[]
beforeEach(() => void (asked = []))

/** Says how long each queue is, and notes which was asked for. */
const sqs: Transport = {
  handle: async ({ body }) => {
    const { QueueUrl = '' } = JSON.parse(bytesOf(body).toString()) as { readonly QueueUrl?: string }
    asked.push(QueueUrl.split('/').at(-1) ?? '')
    const answer = JSON.stringify({ Attributes: { ApproximateNumberOfMessages: '7' } })
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
  return openAwsQueues({ ...lambdaBoundary, environment, sqs: client }, controllers)
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
  { name: 'garbage-collector', queue: 'system', concurrency: 40 },
])('$name runs $concurrency objects of its queue at once', ({ name, queue, concurrency }) => {
  const urls = { shelf: 'https://sqs/1/shelf.fifo', lamp: '', system: 'https://sqs/1/system.fifo' }
  const environment = { SETPOINT_QUEUES: JSON.stringify(urls), SETPOINT_SHARED_CONCURRENCY: '40' }
  const { capacityOf } = openAwsQueues({ ...lambdaBoundary, environment }, controllers)
  expect(capacityOf({ name })).toEqual({ queue: `https://sqs/1/${queue}.fifo`, concurrency })
})

it.each(['0', 'ten', '1.5', ''])('a concurrency of "%s" is refused', (text) => {
  const environment = { SETPOINT_QUEUES: '{"system":"https://sqs/1/system.fifo"}', SETPOINT_SHARED_CONCURRENCY: text }
  expect(() => openAwsQueues({ ...lambdaBoundary, environment }, controllers)).toThrow('SETPOINT_SHARED_CONCURRENCY')
})
