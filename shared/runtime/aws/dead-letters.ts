import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda'
import { deliveryOf, MalformedMessage } from '../../adapters/aws/sqs/sqs-message.ts'
import { createDeadLetters } from '../../engine/loops/dead-letter.ts'
import { openEngineServices, type FunctionOptions } from './open.ts'
import { lazy } from '../../model/lazy.ts'

/**
 * The function behind the dead-letter queues. Messages that cannot be taken in, because the store or a queue is away,
 * come again.
 */
export function createDeadLetter(options: FunctionOptions): (event: SQSEvent) => Promise<SQSBatchResponse> {
  const { logger } = options.seeing
  const open = lazy(() => createDeadLetters(openEngineServices(options)))

  async function one(record: SQSRecord): Promise<readonly string[]> {
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

  return async ({ Records }) => {
    const left = (await Promise.all(Records.map(one))).flat()
    return { batchItemFailures: left.map((itemIdentifier) => ({ itemIdentifier })) }
  }
}
