import { CreateQueueCommand, DeleteQueueCommand, SQSClient } from '@aws-sdk/client-sqs'
import { randomUUID } from 'node:crypto'

/** A queue of ours on an emulator, made as infra makes them: FIFO, high throughput, ids remembered per group. */
export interface TestQueue extends AsyncDisposable {
  readonly client: SQSClient
  readonly queueUrl: string
}

export async function openTestQueue(endpoint: string, visibilityMs: number): Promise<TestQueue> {
  const client = sqsClient(endpoint)
  const Attributes = {
    FifoQueue: 'true',
    DeduplicationScope: 'messageGroup',
    FifoThroughputLimit: 'perMessageGroupId',
    VisibilityTimeout: String(visibilityMs / 1_000),
  }
  const { QueueUrl = '' } = await client.send(new CreateQueueCommand({ QueueName: `${randomUUID()}.fifo`, Attributes }))
  return {
    client,
    queueUrl: QueueUrl,
    [Symbol.asyncDispose]: async () => {
      await client.send(new DeleteQueueCommand({ QueueUrl }))
      client.destroy()
    },
  }
}

/** Emulators take any credentials. */
export function sqsClient(endpoint: string): SQSClient {
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' }
  return new SQSClient({ endpoint, region: 'us-east-1', credentials })
}
