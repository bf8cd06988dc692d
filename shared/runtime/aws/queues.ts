import { createSqsClient, queueDepth } from '../../adapters/aws/sqs/sqs-depth.ts'
import { createSqsWorkQueue } from '../../adapters/aws/sqs/sqs-work-queue.ts'
import { OperatingError } from '../../model/errors.ts'
import type { WorkQueue } from '../../ports/work-queue.ts'
import type { AwsBoundary } from './boundary.ts'
import { queueUrlsOf, sharedConcurrencyOf } from './environment.ts'

/** The queues of the control loops. */
export interface AwsQueues {
  readonly queueOf: (loop: { readonly name: string }) => WorkQueue
  /** About how many messages wait in a loop's queue, by all loops that share it. */
  readonly depthOf: (loop: { readonly name: string }) => Promise<number>
  readonly capacityOf: (loop: { readonly name: string }) => QueueCapacity
}

/** Which queue a loop's wake-ups are in, and how many of its messages are run at once. */
export interface QueueCapacity {
  readonly queue: string
  readonly concurrency: number
}

/**
 * Loops without a queue of their own share that of the `system`, whose function runs the engine's. So a user's
 * controller shares it only where all do. Throws UNAVAILABLE for one that has none yet: while it is being deployed, the
 * variables may come after the code, and in the queue of the system its wake-ups would be dead letters in the end.
 */
export function openAwsQueues(
  { environment, sqs, clock, random }: AwsBoundary,
  controllers: readonly { readonly name: string; readonly concurrency: number }[],
): AwsQueues {
  const client = createSqsClient(sqs)
  const urls = queueUrlsOf(environment)
  const isShared = [...urls.keys()].every((name) => name === 'system')
  const users = new Set(isShared ? [] : controllers.map(({ name }) => name))
  const atOnce = new Map(controllers.map(({ name, concurrency }) => [name, concurrency]))
  const shared = sharedConcurrencyOf(environment)
  const queues = new Map<string, WorkQueue>()
  const asking = new Map<string, Promise<number>>()

  function urlOf(name: string): string {
    const own = urls.get(name)
    if (own === undefined && users.has(name))
      throw new OperatingError('UNAVAILABLE', `SETPOINT_QUEUES has no queue for ${name} yet`)
    const url = own ?? urls.get('system')
    if (url === undefined) throw new TypeError(`SETPOINT_QUEUES has neither ${name} nor system`)
    return url
  }

  function open(name: string): WorkQueue {
    const queue = createSqsWorkQueue({ client, queueUrl: urlOf(name), loop: name, clock, random })
    queues.set(name, queue)
    return queue
  }

  /**
   * One answer for all who ask at the same time: a tick asks for each kind that is swept, and most of those share a
   * queue.
   */
  function depthAt(url: string): Promise<number> {
    const asked = asking.get(url) ?? queueDepth(client, url).finally(() => asking.delete(url))
    asking.set(url, asked)
    return asked
  }

  return {
    queueOf: ({ name }) => queues.get(name) ?? open(name),
    depthOf: async ({ name }) => depthAt(urlOf(name)),
    capacityOf: ({ name }) => {
      const queue = urlOf(name)
      const isOwn = queue !== urls.get('system')
      return { queue, concurrency: (isOwn ? atOnce.get(name) : undefined) ?? shared }
    },
  }
}
