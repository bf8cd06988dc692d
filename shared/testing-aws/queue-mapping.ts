import type { ReceivedMessage } from '../adapters/aws/sqs/sqs-message.ts'
import { systemAttributesOf, type TestQueue } from './test-sqs.ts'

/**
 * An event source mapping of a FIFO queue with partial responses: as many batches at once as it may, each received as
 * soon as there is something to receive. What the function does not report is deleted; what it reports, and all if it
 * fails or dies, stays invisible as long as its visibility timeout says, and comes again.
 */
export interface QueueMapping {
  readonly queue: TestQueue
  readonly batchSize: number
  /** So many at once. */
  readonly invocations: number
  /** The function: the ids of the messages that are not done with. */
  readonly invoke: (records: readonly QueueRecord[]) => Promise<readonly string[]>
  /** Deletes what is done with; what it does not delete comes again. */
  readonly remove: (records: readonly QueueRecord[]) => Promise<void>
}

export interface QueueRecord extends ReceivedMessage {
  readonly messageId: string
}

/** Until the signal aborts: as if all processes that it hands batches to had died then. */
export async function mapQueue(mapping: QueueMapping, signal: AbortSignal): Promise<void> {
  const { queue, batchSize, invocations } = mapping
  let running = 0
  let freed = Promise.withResolvers<void>()

  async function hand(records: readonly QueueRecord[]): Promise<void> {
    running++
    const kept = await mapping.invoke(records).catch(() => records.map(({ messageId }) => messageId))
    if (signal.aborted) return
    const done = records.filter(({ messageId }) => !kept.includes(messageId))
    if (done.length > 0) await mapping.remove(done).catch(() => {})
    queue.stir()
    running--
    freed.resolve()
  }

  while (!signal.aborted) {
    const records = running < invocations ? receive(queue, batchSize) : []
    if (records.length > 0) void hand(records)
    else if (running < invocations) await queue.awaitMessages(signal)
    else {
      freed = Promise.withResolvers()
      await freed.promise
    }
  }
}

function receive({ messages }: TestQueue, max: number): readonly QueueRecord[] {
  return messages.receive(max).map((message) => ({
    messageId: message.body.id,
    receiptHandle: message.handle,
    body: message.body.text,
    attributes: systemAttributesOf(message),
  }))
}
