import type { LoopDelivery } from '../../adapters/aws/sqs/sqs-message.ts'
import type { Arrival } from '../../engine/wake/queue-plan.ts'
import { backoffMs } from '../../engine/state/backoff.ts'
import { shortWaitMsMax } from '../../engine/state/turn.ts'
import { digest } from '../../model/digest.ts'
import type { Logger } from '../../ports/logger.ts'
import type { WakeUp } from '../../ports/work-queue.ts'
import type { AwsQueues } from './queues.ts'
import { handleIn } from './spread-queue.ts'

/** A message that is to be run; or one that is done with here, or that stays in its queue. */
export type Taken = LoopDelivery | 'drop' | 'keep'

export type TakeArrival = (message: LoopDelivery, arn: string) => Promise<Taken>

/** Where a controller has queues of its own: what becomes of a message that came out of one of them. */
export function createArrivals({
  queueOf,
  receiveFrom,
  logger,
}: Pick<AwsQueues, 'queueOf' | 'receiveFrom'> & { readonly logger: Logger }): TakeArrival {
  return async (message, arn) => {
    const { loop: name, delivery } = message
    try {
      const { queue, findArrival } = receiveFrom({ name }, arn)
      const arrival = await findArrival(delivery.wakeUp.key).catch((error: unknown): Arrival => {
        logger.warn('message held, because it is not known which queue it belongs into', { error: String(error) })
        return { kind: 'hold', ms: Math.min(shortWaitMsMax, backoffMs(delivery.receiveCount, 1)) }
      })
      if (queue === 0 && arrival.kind === 'run') return message
      const own = { ...delivery, handle: handleIn(queue, delivery.handle) }
      if (arrival.kind === 'run') return { ...message, delivery: own }
      if (arrival.kind === 'forward') {
        await queueOf({ name }).send([sentOn(delivery.wakeUp, queue)])
        return 'drop'
      }
      await queueOf({ name }).hold([own], arrival.ms)
    } catch (error) {
      // It comes again after its visibility timeout.
      logger.warn('message left in its queue, neither run nor sent on nor held', { error: String(error) })
    }
    return 'keep'
  }
}

/**
 * With an id of its own: for five minutes a queue ignores ids that it has seen, and this one may have been there before
 * and been sent on by a function of another version, or with another clock.
 */
function sentOn(wakeUp: WakeUp, from: number): WakeUp {
  return { ...wakeUp, dedupId: digest(`${wakeUp.dedupId} out of ${from}`) }
}
