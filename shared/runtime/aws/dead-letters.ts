import type { SQSBatchResponse, SQSEvent } from 'aws-lambda'
import { deliveryOf, MalformedMessage, type ReceivedMessage } from '../../adapters/aws/sqs/sqs-message.ts'
import { createDeadLetters, type DeadLetters } from '../../engine/loops/dead-letter.ts'
import type { Logger } from '../../ports/logger.ts'
import { openEngineServices, type FunctionOptions } from './open.ts'
import { lazy } from '../../model/lazy.ts'

/** The function behind the dead-letter queues. */
export function createDeadLetter(options: FunctionOptions): (event: SQSEvent) => Promise<SQSBatchResponse> {
  const open = lazy(() => createDeadLetters(openEngineServices(options)))
  const takeIn = createDeadLetterBatch(open, options.seeing.logger)
  return async ({ Records }) => ({
    batchItemFailures: (await takeIn(Records)).map((itemIdentifier) => ({ itemIdentifier })),
  })
}

/**
 * Takes in a batch. Messages that cannot be taken in, because the store or a queue is away, are to come again: their
 * ids.
 */
export type DeadLetterBatch = (records: readonly DeadRecord[]) => Promise<readonly string[]>

interface DeadRecord extends ReceivedMessage {
  readonly messageId: string
}

export function createDeadLetterBatch(open: () => DeadLetters, logger: Logger): DeadLetterBatch {
  return async (records) => (await Promise.all(records.map(one))).flat()

  async function one(record: DeadRecord): Promise<readonly string[]> {
    try {
      const { loop, delivery } = deliveryOf(record)
      logger.error('wake-up received as a dead letter', {
        loop,
        name: delivery.wakeUp.key.name,
        reason: delivery.wakeUp.reason,
      })
      await open()({ loop, wakeUp: delivery.wakeUp })
      return []
    } catch (error) {
      logger.error('dead letter not processed', { error: String(error) })
      return error instanceof MalformedMessage ? [] : [record.messageId]
    }
  }
}
