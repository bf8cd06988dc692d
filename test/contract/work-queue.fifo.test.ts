import {
  ChangeMessageVisibilityCommand,
  DeleteMessageBatchCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  type Message,
  type SQSClient,
} from '@aws-sdk/client-sqs'
import { beforeEach, describe, expect, it } from 'vitest'
import { queueDepth } from '../../shared/adapters/aws/sqs/sqs-depth.ts'
import { createSqsWorkQueue } from '../../shared/adapters/aws/sqs/sqs-work-queue.ts'
import { createFifoQueue } from '../../shared/testing-aws/fifo-queue.ts'
import { createTestSqs, testSqsClient, type TestQueue, type TestSqs } from '../../shared/testing-aws/test-sqs.ts'
import { createSeededRandom } from '../../shared/testing/seeded-random.ts'
import { createVirtualClock, type VirtualClock } from '../../shared/testing/virtual-clock.ts'
import { workQueueContract } from './work-queue.contract.ts'

/** What `awsEngine` runs on: the adapter of SQS over the rules of FIFO queues, on a virtual clock. */

const visibilityMs = 30_000

interface OpenedSqs {
  readonly clock: VirtualClock
  readonly sqs: TestSqs
  readonly client: SQSClient
  /** Lets time pass, and what it sets off happen. */
  pass(ms: number): Promise<void>
}

function openSqs(): OpenedSqs {
  const clock = createVirtualClock()
  const sqs = createTestSqs(clock)
  const settle = async (): Promise<void> => {
    for (let quiet = 0; quiet < 5; quiet = sqs.isQuiet() ? quiet + 1 : 0) await new Promise(setImmediate)
  }
  const pass = async (ms: number): Promise<void> => {
    const untilMs = clock.nowMs() + ms
    await settle()
    for (let dueMs = clock.nextDueMs(); dueMs !== undefined && dueMs <= untilMs; dueMs = clock.nextDueMs()) {
      clock.moveTo(dueMs)
      await settle()
    }
    clock.moveTo(untilMs)
    await settle()
  }
  return { clock, sqs, client: testSqsClient(sqs), pass }
}

workQueueContract('SQS FIFO (in this process, on a virtual clock)', () => {
  const { clock, sqs, client, pass } = openSqs()
  const { url: queueUrl } = sqs.openQueue({ name: 'work.fifo', visibilityMs })
  const random = createSeededRandom(1)
  const queue = createSqsWorkQueue({ client, queueUrl, loop: 'widgets', clock, random, waitSeconds: 0 })
  return { queue, visibilityMs, latencyMs: 100, pass, close: () => client.destroy() }
})

describe('the rules of FIFO queues', () => {
  let clock: VirtualClock
  let client: SQSClient
  let work: TestQueue
  let dead: TestQueue

  beforeEach(() => {
    const opened = openSqs()
    ;({ clock, client } = opened)
    dead = opened.sqs.openQueue({ name: 'dead.fifo', visibilityMs })
    work = opened.sqs.openQueue({ name: 'work.fifo', visibilityMs, redrive: { maxReceiveCount: 3, to: dead } })
  })

  const pass = (ms: number): void => clock.moveTo(clock.nowMs() + ms)

  const send = async (...messages: readonly (readonly [group: string, text: string])[]): Promise<void> => {
    const Entries = messages.map(([group, text], i) => ({
      Id: String(i),
      MessageBody: text,
      MessageGroupId: group,
      MessageDeduplicationId: text,
    }))
    const { Failed = [] } = await client.send(new SendMessageBatchCommand({ QueueUrl: work.url, Entries }))
    expect(Failed).toEqual([])
  }
  const receive = async (max = 10, { url: QueueUrl } = work): Promise<readonly Message[]> => {
    const MessageSystemAttributeNames = ['All' as const]
    const command = new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: max, MessageSystemAttributeNames })
    return (await client.send(command)).Messages ?? []
  }
  const texts = (messages: readonly Message[]): readonly string[] => messages.map(({ Body = '' }) => Body)
  const receiveTexts = async (max?: number): Promise<readonly string[]> => texts(await receive(max))
  const hide = (message: Message | undefined, seconds: number): Promise<unknown> =>
    client.send(
      new ChangeMessageVisibilityCommand({
        QueueUrl: work.url,
        ReceiptHandle: message?.ReceiptHandle,
        VisibilityTimeout: seconds,
      }),
    )
  const remove = async (...messages: readonly (Message | undefined)[]): Promise<readonly string[]> => {
    const Entries = messages.map((message, i) => ({ Id: String(i), ReceiptHandle: message?.ReceiptHandle }))
    const { Failed = [] } = await client.send(new DeleteMessageBatchCommand({ QueueUrl: work.url, Entries }))
    return Failed.map(({ Code = '' }) => Code)
  }

  it('hand out each message by itself, in the order of its group', async () => {
    await send(['a', 'a1'], ['b', 'b1'], ['a', 'a2'], ['a', 'a3'])
    expect(await receiveTexts(2)).toEqual(['a1', 'a2'])
    expect(await receiveTexts()).toEqual(['b1'])
    expect(await receiveTexts()).toEqual([])
  })

  it('give what comes later no way ahead: there is one lane', async () => {
    const keys = Array.from({ length: 30 }, (_, i) => ['k' + i, `sweep ${i}`] as const)
    for (let i = 0; i < 30; i += 10) await send(...keys.slice(i, i + 10))
    await send(['user', 'a change'])
    const received: string[] = []
    for (let i = 0; i < 4; i++) received.push(...(await receiveTexts()))
    expect(received.indexOf('a change')).toBe(30)
  })

  it('hand out of a group what stands before the first message in flight, and nothing behind it', async () => {
    await send(['a', 'a1'], ['a', 'a2'], ['a', 'a3'])
    const [first, second] = await receive(2)
    await hide(first, 0)
    // Order, not exclusion: the second one is in flight still.
    const again = await receive()
    expect(texts(again)).toEqual(['a1'])
    await remove(again[0])
    expect(await receiveTexts()).toEqual([])
    await remove(second)
    expect(await receiveTexts()).toEqual(['a3'])
  })

  it('hide a message twelve hours from its receipt at most, in all', async () => {
    await send(['a', 'a1'])
    const [taken] = await receive()
    await hide(taken, 43_200)
    pass(3_600_000)
    await expect(hide(taken, 40_000)).rejects.toThrow('beyond the limit')
    await hide(taken, 39_600)
    pass(39_600_000 - 1)
    expect(await receiveTexts()).toEqual([])
    pass(1)
    expect(await receiveTexts()).toEqual(['a1'])
  })

  it('refuse the handle of a message that is visible again, though nobody has received it since', async () => {
    await send(['a', 'a1'])
    const [taken] = await receive()
    pass(visibilityMs)
    await expect(hide(taken, 10)).rejects.toMatchObject({ name: 'MessageNotInflight' })
    expect(await remove(taken)).toEqual(['InvalidParameterValue'])
    expect(await receiveTexts()).toEqual(['a1'])
  })

  it('give a message up that was received as often as the redrive policy says, and the next of its group comes', async () => {
    await send(['a', 'a1'], ['a', 'a2'])
    for (let i = 0; i < 3; i++) {
      const [taken] = await receive(1)
      expect(taken?.Attributes?.ApproximateReceiveCount).toBe(String(i + 1))
      await hide(taken, 0)
    }
    expect(await receiveTexts()).toEqual(['a2'])
    expect(texts(await receive(10, dead))).toEqual(['a1'])
  })

  it('keep a message for four days', async () => {
    await send(['a', 'a1'], ['b', 'b1'])
    const [taken] = await receive(1)
    expect(taken?.Body).toBe('a1')
    pass(4 * 86_400_000 - 1)
    expect(await receiveTexts()).toEqual(['a1', 'b1'])
    pass(visibilityMs)
    expect(await receiveTexts()).toEqual([])
    expect(work.messages.depth()).toBe(0)
  })

  it('remember an id for five minutes from its sending, in its group', async () => {
    await send(['a', 'same'])
    await remove(...(await receive()))
    pass(299_999)
    await send(['a', 'same'], ['b', 'same'])
    expect(work.messages.depth()).toBe(1)
    pass(1)
    await send(['a', 'same'])
    expect(work.messages.depth()).toBe(2)
  })

  it('take no delay of a message, and no message without a group', async () => {
    const message = { QueueUrl: work.url, MessageBody: 'a', MessageDeduplicationId: 'a' }
    const Entries = [{ ...message, Id: '0', MessageGroupId: 'a', DelaySeconds: 5 }]
    const { Failed = [] } = await client.send(new SendMessageBatchCommand({ QueueUrl: work.url, Entries }))
    expect(Failed[0]).toMatchObject({ Code: 'InvalidParameterValue', SenderFault: true })
    const alone = new SendMessageBatchCommand({ QueueUrl: work.url, Entries: [{ ...message, Id: '0' }] })
    expect((await client.send(alone)).Failed?.[0]).toMatchObject({ Code: 'MissingParameter' })
  })

  it('take whole numbers of seconds and messages, within their limits', async () => {
    await send(['a', 'a1'])
    const [taken] = await receive()
    for (const seconds of [0.5, -1, 43_201]) await expect(hide(taken, seconds)).rejects.toThrow('is invalid')
    for (const count of [0, 11]) await expect(receive(count)).rejects.toThrow('MaxNumberOfMessages is invalid')
  })

  it('look for groups among the first messages only, and have so many in flight', () => {
    const queue = createFifoQueue<string>({
      name: 'small',
      nowMs: () => clock.nowMs(),
      visibilityMs: () => visibilityMs,
      maxReceiveCount: () => 3,
      onDead: () => {},
      scanMax: () => 4,
      inFlightMax: () => 3,
    })
    for (const text of ['a1', 'a2', 'a3', 'a4', 'b1']) queue.send({ group: text.charAt(0), dedupId: text, body: text })
    const [first, ...others] = queue.receive(1)
    expect([first?.body, others]).toEqual(['a1', []])
    // A backlog of one group hides the next group.
    expect(queue.receive(10)).toEqual([])
    queue.delete(first?.handle ?? '')
    expect(queue.receive(10).map(({ body }) => body)).toEqual(['a2', 'a3', 'a4'])
    expect(queue.receive(10)).toEqual([])
    pass(visibilityMs)
    expect(queue.receive(10).map(({ body }) => body)).toEqual(['a2', 'a3', 'a4'])
  })

  it('say how many messages wait', async () => {
    await send(['a', 'a1'], ['a', 'a2'], ['b', 'b1'])
    await receive(1)
    expect(await queueDepth(client, work.url)).toBe(2)
  })

  it('refuse what is not known here, and queues that there are not', async () => {
    const QueueUrl = work.url
    await expect(client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'a' }))).rejects.toMatchObject({
      name: 'UnsupportedOperation',
    })
    await expect(queueDepth(client, `${QueueUrl}x`)).rejects.toThrow('there is no queue')
  })
})
