import type { LoopDelivery } from '../../adapters/aws/sqs/sqs-message.ts'
import type { Logger } from '../../ports/logger.ts'
import type { AwsQueues } from './queues.ts'
import { handleIn } from './spread-queue.ts'

/** A message that is to be run; or one that is done with here, or that stays in its queue. */
export type Taken = LoopDelivery | 'drop' | 'keep'

export type TakeArrival = (message: LoopDelivery, arn: string) => Promise<Taken>

/** Where a controller has several queues: what becomes of a message that came out of one of them. */
export function createArrivals({
  queueOf,
  receiveFrom,
  logger,
}: Pick<AwsQueues, 'queueOf' | 'receiveFrom'> & { readonly logger: Logger }): TakeArrival {
  return async (message, arn) => {
    const { loop: name, delivery } = message
    try {
      const { arrival, queue } = await receiveFrom({ name }, arn, delivery.wakeUp.key)
      if (queue === 0 && arrival.kind === 'run') return message
      const own = { ...delivery, handle: handleIn(queue, delivery.handle) }
      if (arrival.kind === 'run') return { ...message, delivery: own }
      if (arrival.kind === 'forward') {
        await queueOf({ name }).send([delivery.wakeUp])
        return 'drop'
      }
      await queueOf({ name }).hold([own], arrival.ms)
    } catch (error) {
      // It comes again after its visibility timeout.
      logger.warn('message left in its queue, because it is not known which queue it belongs into', {
        error: String(error),
      })
    }
    return 'keep'
  }
}
