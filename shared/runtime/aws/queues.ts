import { createSqsClient, queueDepth } from '../../adapters/aws/sqs/sqs-depth.ts'
import { createSqsWorkQueue } from '../../adapters/aws/sqs/sqs-work-queue.ts'
import { findQueue, receiveArrival, type Arrival } from '../../engine/wake/queue-plan.ts'
import { OperatingError } from '../../model/errors.ts'
import type { ObjectKey } from '../../model/object-key.ts'
import type { Checkpoint } from '../../ports/checkpoint.ts'
import type { WorkQueue } from '../../ports/work-queue.ts'
import type { AwsBoundary } from './boundary.ts'
import { queuesUsedOf, queueUrlsOf, sharedConcurrencyOf } from './environment.ts'
import { createQueuePlans } from './queue-plans.ts'
import { spreadQueue } from './spread-queue.ts'

/** The queues of the control loops. */
export interface AwsQueues {
  readonly queueOf: (loop: Named) => WorkQueue
  /** About how many messages wait in a loop's queue, of all loops that share it. */
  readonly depthOf: (loop: Named) => Promise<number>
  readonly capacityOf: (loop: Named) => QueueCapacity
  /** What becomes of the messages of a loop that came out of the queue of this ARN. */
  readonly receiveFrom: (loop: Named, arn: string) => Received
  /** For the tick: has the queues used that there are now. Nothing is asked for where all share one. */
  readonly advanceQueues: () => Promise<void>
}

interface Named {
  readonly name: string
}

export interface Received {
  /** Which of the queues of their loop they came out of. */
  readonly queue: number
  /** Rejects where the plan of the queues cannot be read. */
  readonly findArrival: (key: ObjectKey) => Promise<Arrival>
}

/** Which queue a loop's wake-ups are in, and how many of its messages are run at once. */
export interface QueueCapacity {
  readonly queue: string
  readonly concurrency: number
  /** Over so many queues its objects are spread. Default 1. */
  readonly queues?: number
}

/** The last part of its URL. */
export function queueNameOf({ queue }: Pick<QueueCapacity, 'queue'>): string {
  return nameIn(queue, '/')
}

interface QueuedController extends Named {
  readonly concurrency: number
  readonly timeoutMs: number
}

/** What the function of a controller may take beyond a run: as infra has it. */
const overheadMs = 15_000

/** Over the queues of SQS. */
export function openAwsQueues(
  { environment, sqs, clock, random }: Pick<AwsBoundary, 'environment' | 'sqs' | 'clock' | 'random'>,
  controllers: readonly QueuedController[],
  checkpoint: (name: string) => Checkpoint,
): AwsQueues {
  const client = createSqsClient(sqs)
  return createAwsQueues({
    environment,
    clock,
    controllers,
    checkpoint,
    open: (queueUrl, loop) => createSqsWorkQueue({ client, queueUrl, loop, clock, random }),
    askDepth: (url) => queueDepth(client, url),
  })
}

export interface AwsQueuesOptions extends Pick<AwsBoundary, 'environment' | 'clock'> {
  readonly controllers: readonly QueuedController[]
  readonly checkpoint: (name: string) => Checkpoint
  /** The queue of this URL, as the wake-ups of one loop see it. */
  readonly open: (url: string, loop: string) => WorkQueue
  /** About how many messages wait in it. */
  readonly askDepth: (url: string) => Promise<number>
}

/**
 * Loops without a queue of their own share that of the `system`, whose function runs the engine's. So a user's
 * controller shares it only where all do. Throws UNAVAILABLE for one that has none yet: while it is being deployed, the
 * variables may come after the code, and in the queue of the system its wake-ups would be dead letters in the end.
 */
export function createAwsQueues({
  environment,
  clock,
  controllers,
  checkpoint,
  open: openQueue,
  askDepth: askDepthOf,
}: AwsQueuesOptions): AwsQueues {
  const users = new Map(controllers.map((controller) => [controller.name, controller]))
  const { isShared, urlsOf, hasOwn } = createAddresses(queueUrlsOf(environment), users)
  const shared = sharedConcurrencyOf(environment)
  const plans = createQueuePlans(checkpoint('queues'), clock)
  const queues = new Map<string, WorkQueue>()
  const askDepth = oncePerUrl(askDepthOf)

  function open(name: string): WorkQueue {
    const all = urlsOf(name).map((url) => openQueue(url, name))
    const [first] = all
    const queue = all.length > 1 || first === undefined ? spreadQueue(all, (keys) => findQueues(name, keys)) : first
    queues.set(name, queue)
    return queue
  }

  async function findQueues(name: string, keys: readonly ObjectKey[]): Promise<readonly number[]> {
    const plan = await plans.findPlan(name)
    const { length: known } = urlsOf(name)
    return keys.map((key) => findQueue(plan, key, clock.nowMs(), known))
  }

  return {
    queueOf: ({ name }) => queues.get(name) ?? open(name),

    depthOf: async ({ name }) => {
      const depths = await Promise.all(urlsOf(name).map(askDepth))
      return depths.reduce((sum, waiting) => sum + waiting, 0)
    },

    capacityOf: ({ name }) => {
      const all = urlsOf(name)
      const [queue = ''] = all
      const concurrency = hasOwn(name) ? users.get(name)?.concurrency : undefined
      return { queue, queues: all.length, concurrency: concurrency ?? shared }
    },

    receiveFrom: ({ name }, arn) => {
      const all = urlsOf(name)
      const queue = all.findIndex((url) => nameIn(url, '/') === nameIn(arn, ':'))
      // It shared the queue of the system before, where its code has neither its rights nor its variables any more; or
      // it had more queues. There it is another version's to hold and to settle.
      if (queue === -1) return { queue, findArrival: async () => ({ kind: 'forward' }) }
      if (!hasOwn(name)) return { queue, findArrival: async () => ({ kind: 'run' }) }
      const longestRunMs = (users.get(name)?.timeoutMs ?? 0) + overheadMs
      const findArrival = async (key: ObjectKey): Promise<Arrival> => {
        const plan = await plans.findPlan(name)
        return receiveArrival(key, { plan, queue, known: all.length, longestRunMs, nowMs: clock.nowMs() })
      }
      return { queue, findArrival }
    },

    advanceQueues: async () => {
      if (!isShared) await plans.advance(queuesUsedOf(environment))
    },
  }
}

/** Where the queues of each loop are. */
function createAddresses(urls: ReadonlyMap<string, readonly string[]>, users: ReadonlyMap<string, unknown>) {
  const system = urls.get('system')
  const isShared = [...urls.keys()].every((name) => name === 'system')

  function urlsOf(name: string): readonly string[] {
    const own = urls.get(name)
    if (own === undefined && !isShared && users.has(name))
      throw new OperatingError('UNAVAILABLE', `SETPOINT_QUEUES has no queue for ${name} yet`)
    const all = own ?? system
    if (all === undefined) throw new TypeError(`SETPOINT_QUEUES has neither ${name} nor system`)
    return all
  }

  return { isShared, urlsOf, hasOwn: (name: string): boolean => urlsOf(name)[0] !== system?.[0] }
}

/** The name of a queue is the last part of its URL and of its ARN. */
function nameIn(text: string, separator: string): string {
  return text.slice(text.lastIndexOf(separator) + 1)
}

/**
 * One answer for all who ask at the same time: a tick asks for each kind that is swept, and most of those share a
 * queue.
 */
function oncePerUrl(ask: (url: string) => Promise<number>): (url: string) => Promise<number> {
  const asking = new Map<string, Promise<number>>()
  return (url) => {
    const asked = asking.get(url) ?? ask(url).finally(() => asking.delete(url))
    asking.set(url, asked)
    return asked
  }
}
