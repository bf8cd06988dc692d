import { CreateQueueCommand, DeleteQueueCommand, SQSClient } from '@aws-sdk/client-sqs'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSqsWorkQueue } from '../../shared/adapters/aws/sqs/sqs-work-queue.ts'
import { systemClock } from '../../shared/adapters/node/system-clock.ts'
import type { WorkQueue } from '../../shared/ports/work-queue.ts'
import { createSeededRandom } from '../../shared/testing/seeded-random.ts'

/** A queue of ours on an emulator, made as infra makes them: FIFO, high throughput, ids remembered per group. */
export interface TestQueue {
  readonly queue: WorkQueue
  /** Waits until each receiver there is has been told twice what there is for it: however slow the machine is. */
  answered(): Promise<void>
  close(): Promise<void>
}

/** The client is closed with the queue. */
export async function openTestQueue(client: SQSClient, visibilityMs: number): Promise<TestQueue> {
  const Attributes = {
    FifoQueue: 'true',
    DeduplicationScope: 'messageGroup',
    FifoThroughputLimit: 'perMessageGroupId',
    VisibilityTimeout: String(visibilityMs / 1_000),
  }
  const { QueueUrl = '' } = await client.send(new CreateQueueCommand({ QueueName: `${randomUUID()}.fifo`, Attributes }))
  const random = createSeededRandom(1)
  const options = { client, queueUrl: QueueUrl, loop: 'widgets', clock: systemClock, random, waitSeconds: 0 }
  return {
    ...watched(createSqsWorkQueue(options), client),
    close: async () => {
      await client.send(new DeleteQueueCommand({ QueueUrl }))
      client.destroy()
    },
  }
}

function watched(queue: WorkQueue, client: SQSClient): Omit<TestQueue, 'close'> {
  let receivers = 0
  let answers = 0
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const answer = await next(args)
        if (commandName === 'ReceiveMessageCommand') answers++
        return answer
      },
    { step: 'initialize' },
  )
  const receive: WorkQueue['receive'] = async (max, signal) => {
    receivers++
    try {
      return await queue.receive(max, signal)
    } finally {
      receivers--
    }
  }
  const answered = async (): Promise<void> => {
    for (const before = answers; answers < before + 2 * receivers;) await sleep(10)
  }
  return { queue: { ...queue, receive }, answered }
}

/** Emulators take any credentials. */
export function sqsClient(endpoint: string): SQSClient {
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' }
  return new SQSClient({ endpoint, region: 'us-east-1', credentials })
}
