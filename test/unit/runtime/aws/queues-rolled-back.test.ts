import { beforeEach, expect, it } from 'vitest'
import { deliveryOf } from '../../../../shared/adapters/aws/sqs/sqs-message.ts'
import { findQueue, type QueuePlan } from '../../../../shared/engine/wake/queue-plan.ts'
import { createArrivals } from '../../../../shared/runtime/aws/arrivals.ts'
import { lambdaBoundary } from '../../../../shared/runtime/aws/boundary.ts'
import { openAwsQueues, type AwsQueues } from '../../../../shared/runtime/aws/queues.ts'
import { createTestSqs, systemAttributesOf, type TestQueue } from '../../../../shared/testing-aws/test-sqs.ts'
import { createVirtualClock, type VirtualClock } from '../../../support/virtual-clock.ts'

/** Deployments with more or fewer queues for the same controller, one after the other, over queues of SQS. */
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, with: () => silent }
const shelf = { name: 'shelf', concurrency: 16, timeoutMs: 60_000 }
const keys = Array.from({ length: 40 }, (_, i) => ({
  group: 'example.com',
  kind: 'Shelf',
  namespace: 'default',
  name: `s${i}`,
}))

let clock: VirtualClock
let queues: readonly TestQueue[]
let deployed: (count: number) => AwsQueues
let noted: string | undefined

beforeEach(() => {
  clock = createVirtualClock()
  noted = undefined
  const sqs = createTestSqs(clock)
  const open = (name: string): TestQueue => sqs.openQueue({ name: `${name}.fifo`, visibilityMs: 6 * 75_000 })
  queues = [0, 1, 2, 3].map((i) => open(`shelf${i}`))
  const system = open('system').url
  const checkpoint = () => ({ load: async () => noted, save: async (text: string) => void (noted = text) })
  deployed = (count) => {
    const urls = queues.slice(0, count).map(({ url }) => url)
    const environment = {
      SETPOINT_QUEUES: JSON.stringify({ shelf: count === 1 ? urls[0] : urls, system }),
      SETPOINT_QUEUES_USED: JSON.stringify(count === 1 ? {} : { shelf: count }),
    }
    return openAwsQueues({ ...lambdaBoundary, environment, clock, sqs: sqs.settings }, [shelf], checkpoint)
  }
})

async function wakeAll(live: AwsQueues, dedupId: string, some = keys): Promise<void> {
  const ofChange = { origin: 'change', lane: 'urgent', reason: 'changed', dedupId } as const
  await live.queueOf(shelf).send(some.map((key) => ({ ...ofChange, key })))
}

/** Takes all that these queues hand out now: the keys that are to run, which are settled. */
async function takeAll(live: AwsQueues, from: readonly TestQueue[]): Promise<readonly string[]> {
  const taken: (readonly string[])[] = []
  for (const queue of from)
    for (let some = queue.messages.receive(10); some.length > 0; some = queue.messages.receive(10))
      for (const one of some) taken.push(await takeOne(live, queue, one))
  return taken.flat()
}

async function takeOne(live: AwsQueues, { arn, messages }: TestQueue, one: Handed): Promise<readonly string[]> {
  const take = createArrivals({ ...live, logger: silent })
  const said = { body: one.body.text, receiptHandle: one.handle, attributes: systemAttributesOf(one) }
  const taken = await take(deliveryOf(said), arn)
  if (taken === 'drop') messages.delete(one.handle)
  if (typeof taken === 'string') return []
  await live.queueOf(shelf).settle([taken.delivery])
  return [taken.delivery.wakeUp.key.name]
}

type Handed = ReturnType<TestQueue['messages']['receive']>[number]

/** Time passes, with a tick in each minute. */
async function runFor(minutes: number, live: AwsQueues, from: readonly TestQueue[] = []): Promise<ReadonlySet<string>> {
  const ran = new Set<string>()
  for (let second = 0; second < minutes * 60; second += 5) {
    if (second % 60 === 0) await live.advanceQueues()
    for (const name of await takeAll(live, from)) ran.add(name)
    await clock.advance(5_000)
  }
  return ran
}

const waiting = (): readonly number[] => queues.map(({ messages }) => messages.depth())

it('what a deployment has noted that is rolled back is taken back: every wake-up has its run', async () => {
  await runFor(60, deployed(2))
  await runFor(5, deployed(4))
  const back = deployed(2)
  await runFor(11, back)
  await wakeAll(back, 'change')
  expect((await runFor(1, back, queues.slice(0, 2))).size).toBe(keys.length)
  expect(waiting()).toEqual([0, 0, 0, 0])
})

it('after a rollback that comes later, keys of the queues that are no more wait for a plan without them', async () => {
  await runFor(60, deployed(2))
  const four = deployed(4)
  await runFor(16, four)
  await wakeAll(four, 'change')
  // Lambda hands the messages of all four to the version of before, until the queues are deleted.
  const back = deployed(2)
  const atOnce = await runFor(5, back, queues)
  expect(atOnce.size).toBeGreaterThan(0)
  expect(atOnce.size).toBeLessThan(keys.length)
  expect(waiting().slice(2)).toEqual([0, 0])
  const then = await runFor(20, back, queues.slice(0, 2))
  expect(new Set([...atOnce, ...then]).size).toBe(keys.length)
  expect(waiting()).toEqual([0, 0, 0, 0])
})

it('what comes out of a queue that is not in the list is sent on, also where one is left', async () => {
  await runFor(60, deployed(4))
  await wakeAll(deployed(4), 'change')
  expect(waiting()[0]).toBeLessThan(keys.length)
  expect(await takeAll(deployed(1), queues.slice(1))).toEqual([])
  expect(waiting()).toEqual([keys.length, 0, 0, 0])
})

it('what is sent on, and back by another version, is not taken for what the queue has seen before', async () => {
  const four = deployed(4)
  await runFor(60, four)
  await wakeAll(four, 'change')
  const before = waiting()
  // Both versions run for some minutes.
  for (let round = 0; round < 3; round++) {
    await takeAll(deployed(1), queues.slice(1))
    expect(await takeAll(four, queues.slice(0, 1))).toHaveLength(round === 0 ? (before[0] ?? 0) : 0)
    expect(waiting()).toEqual([0, ...before.slice(1)])
  }
})

it('a deployment that was rolled back and comes again has its notice again: a key has one holder', async () => {
  await runFor(2, deployed(4))
  const old = deployed(1)
  await runFor(60, old)
  const again = deployed(4)
  await wakeAll(again, 'change')
  // What the old version runs in this moment comes out of the first.
  expect(waiting()).toEqual([keys.length, 0, 0, 0])
  await runFor(16, again)
  await wakeAll(again, 'next change')
  expect(waiting()[0]).toBeLessThan(2 * keys.length)
})

it.each([1, 2])('with %i queues known, keys of others wait where a rollback comes late', async (count) => {
  await runFor(60, deployed(count))
  const four = deployed(4)
  await runFor(16, four)
  const back = deployed(count)
  await wakeAll(back, 'change')
  const [atOnce, sentOn] = [await takeAll(back, queues.slice(0, count)), await takeAll(four, queues.slice(count))]
  expect([atOnce.length > 0, atOnce.length < keys.length, sentOn]).toEqual([true, true, []])
  const then = await runFor(25, back, queues.slice(0, count))
  expect(new Set([...atOnce, ...then]).size).toBe(keys.length)
})

it('the plan of a controller that shares a queue again ends with one', async () => {
  const checkpoint = () => ({ load: async () => noted, save: async (text: string) => void (noted = text) })
  const urls = { lamp: 'https://sqs/1/lamp.fifo', system: 'https://sqs/1/system.fifo' }
  const environment = { SETPOINT_QUEUES: JSON.stringify(urls), SETPOINT_SHARED: 'shelf' }
  const sharing = openAwsQueues({ ...lambdaBoundary, environment, clock }, [shelf], checkpoint)
  await runFor(1, sharing)
  expect(noted).toBeUndefined()
  await runFor(60, deployed(4))
  await runFor(3, sharing)
  const plans = JSON.parse(noted ?? '{}') as Readonly<Record<string, QueuePlan>>
  expect(new Set(keys.map((key) => findQueue(plans['shelf'] ?? [], key, clock.nowMs())))).toEqual(new Set([0]))
})

it('the end of a hold in a queue that is no more is nothing to anybody', async () => {
  await expect(deployed(2).queueOf(shelf).wake('3!handle')).resolves.toBeUndefined()
})
