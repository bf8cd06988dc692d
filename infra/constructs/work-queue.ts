import { Duration, RemovalPolicy } from 'aws-cdk-lib'
import * as lambda from 'aws-cdk-lib/aws-lambda'
import * as sqs from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'
import type { ControlFunction } from './control-function.ts'

export interface WorkQueueProps {
  /** How long one invocation of its worker may take. */
  readonly timeout: Duration
  /**
   * Where messages go that were handed out too often.
   * @default - a queue of its own
   */
  readonly deadLetterQueue?: sqs.Queue
}

/**
 * A high-throughput FIFO queue of wake-ups, one message group per object, and the queue of those that were handed out
 * too often. A lost queue loses nothing that the objects do not say, so both go with the stack.
 */
export class WorkQueue extends Construct {
  readonly queue: sqs.Queue
  readonly deadLetterQueue: sqs.Queue

  constructor(scope: Construct, id: string, { timeout, deadLetterQueue }: WorkQueueProps) {
    super(scope, id)
    this.deadLetterQueue =
      deadLetterQueue ??
      new sqs.Queue(this, 'DeadLetters', {
        ...highThroughput,
        retentionPeriod: Duration.days(14),
        visibilityTimeout: deadLetterVisibility,
      })
    this.queue = new sqs.Queue(this, 'Queue', {
      ...highThroughput,
      // A message that comes again meets no worker that is still alive: AWS advises six times, and the engine rests on
      // it.
      visibilityTimeout: Duration.seconds(6 * timeout.toSeconds()),
      deadLetterQueue: { queue: this.deadLetterQueue, maxReceiveCount },
    })
  }

  /** Has the messages handed to a worker, in batches of which parts may fail. */
  feed(worker: ControlFunction, feeding: Feeding): void {
    feed(this, 'Mapping', { worker, queue: this.queue, ...feeding })
    // To hold messages, and to delete those of quick keys before their batch is over.
    worker.allow(['sqs:ChangeMessageVisibility', 'sqs:DeleteMessage'], [this.queue.queueArn])
  }

  /** Has the dead messages handed to a worker. */
  feedDead(worker: ControlFunction): void {
    // Without a greatest concurrency: with one, Lambda asks an idle queue more than twice as often.
    feed(this, 'DeadLetterMapping', { worker, queue: this.deadLetterQueue, batchSize: 10 })
  }
}

export interface Feeding {
  readonly batchSize: number
  /** Invocations at once, from 2. */
  readonly maxConcurrency?: number
}

interface QueueFeeding extends Feeding {
  readonly worker: ControlFunction
  readonly queue: sqs.Queue
}

const highThroughput = {
  fifo: true,
  deduplicationScope: sqs.DeduplicationScope.MESSAGE_GROUP,
  fifoThroughputLimit: sqs.FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
  // Equal bodies within five minutes would be one: a wake-up lost.
  contentBasedDeduplication: false,
  encryption: sqs.QueueEncryption.SQS_MANAGED,
  enforceSSL: true,
  removalPolicy: RemovalPolicy.DESTROY,
} as const satisfies sqs.QueueProps

/**
 * Ten: a held message is received again after each hold, up to seven times (shared/engine/loops/batch-queue.ts); the
 * rest is for crashes.
 */
const maxReceiveCount = 10

export const deadLetterTimeout = Duration.seconds(30)
const deadLetterVisibility = Duration.seconds(6 * deadLetterTimeout.toSeconds())

function feed(scope: Construct, id: string, { worker, queue, batchSize, maxConcurrency }: QueueFeeding): void {
  // What Lambda's pollers do in the function's name.
  worker.allow(['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'], [queue.queueArn])
  new lambda.EventSourceMapping(scope, id, {
    target: worker.live,
    eventSourceArn: queue.queueArn,
    batchSize,
    reportBatchItemFailures: true,
    ...(maxConcurrency !== undefined && { maxConcurrency }),
  })
}

/** Invocations for a queue: Lambda can be held to no less. */
const leastAtOnce = 2

/**
 * As many objects at once as are asked for: invocations times messages in each. A concurrency of 1 means two here.
 * Large batches cost least, so those come first.
 */
export function feedingOf({ concurrency }: { readonly concurrency: number }): Required<Feeding> {
  const batchSize = Math.max(1, Math.min(10, Math.floor(concurrency / 2)))
  return { batchSize, maxConcurrency: Math.min(1_000, Math.max(leastAtOnce, Math.floor(concurrency / batchSize))) }
}

/**
 * How many objects of each of so many queues run at once: of all together no more than the reconciler says. Throws
 * where that leaves too few for a queue.
 */
export function concurrencyOfEach(
  { name, concurrency }: { readonly name: string; readonly concurrency: number },
  queues: number,
): number {
  if (queues === 1) return concurrency
  const least = queues * leastAtOnce
  if (concurrency < least)
    throw new Error(
      `${queues} queues of ${name} run ${least} objects at once at least, and its reconciler lets ${concurrency}: have fewer queues, or raise its concurrency`,
    )
  return Math.floor(concurrency / queues)
}
