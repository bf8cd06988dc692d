import {
  ChangeMessageVisibilityBatchCommand,
  ChangeMessageVisibilityCommand,
  DeleteMessageBatchCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  type BatchResultErrorEntry,
  type Message,
  type SQSClient,
} from '@aws-sdk/client-sqs'
import { OperatingError } from '../../../model/errors.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Random } from '../../../ports/random.ts'
import type { Delivery, WorkQueue } from '../../../ports/work-queue.ts'
import { inBatches, type EntryRefusal } from '../client/batches.ts'
import { isThrottle, serviceFailure } from '../client/service-failure.ts'
import { deliveryOf, messageOf, type LoopDelivery } from './sqs-message.ts'

export interface SqsWorkQueueOptions {
  readonly client: SQSClient
  /**
   * A FIFO queue, without content-based deduplication. Its visibility timeout is how long a delivery is its receiver's
   * alone.
   */
  readonly queueUrl: string
  /** The control loop whose wake-ups these are; loops may share the queue. */
  readonly loop: string
  readonly clock: Clock
  readonly random: Random
  /** How long one call of `receive` waits at the far side; 20 at most. Default 20. */
  readonly waitSeconds?: number
}

/**
 * The WorkQueue on SQS FIFO. In Lambda, messages come by the event (`deliveryOf`); `receive` is for who polls a queue
 * that is the loop's alone. What SQS cannot do:
 * - Lanes: a FIFO has one. Sweeps and fan-out are paced instead, so that there is no queue to jump.
 * - A time ahead: the message comes at once and says `notBeforeMs`; whoever receives it holds it for the rest.
 * - `isWanted`: a group cannot be looked into (docs/decisions/0012-sqs-protocol.md).
 * Handles are good until the message is visible again; after that SQS FIFO refuses them, which is what a stale handle
 * is for.
 */
export function createSqsWorkQueue(options: SqsWorkQueueOptions): WorkQueue {
  const { client, queueUrl: QueueUrl, loop, clock, waitSeconds = 20 } = options

  const batches = createBatchCalls(options)

  const hold: WorkQueue['hold'] = (deliveries, ms) => {
    const VisibilityTimeout = Math.min(holdSecondsMax, Math.ceil(ms / 1_000))
    const entries = deliveries.map(({ handle }) => ({ ReceiptHandle: handle, VisibilityTimeout }))
    return batches('hold messages', entries, (Entries) =>
      client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl, Entries: [...Entries] })),
    )
  }

  const poll = async (max: number): Promise<readonly Delivery[]> => {
    const command = new ReceiveMessageCommand({
      QueueUrl,
      MaxNumberOfMessages: Math.min(max, 10),
      WaitTimeSeconds: waitSeconds,
      MessageSystemAttributeNames: ['ApproximateReceiveCount', 'ApproximateFirstReceiveTimestamp'],
    })
    const { Messages = [] } = await client.send(command).catch(throwFailure('receive messages'))
    return Messages.map((message) => own(toDelivery(message), loop))
  }

  return {
    send: (wakeUps) => {
      const entries = wakeUps.map((wakeUp) => messageOf(loop, wakeUp))
      return batches('send wake-ups', entries, (Entries) =>
        client.send(new SendMessageBatchCommand({ QueueUrl, Entries: [...Entries] })),
      )
    },

    // A call that is under way is not broken off: SQS would hand out messages to nobody.
    receive: async (max, signal) => {
      while (!signal.aborted) {
        const deliveries = await poll(max)
        if (signal.aborted) await hold(deliveries, 0)
        else if (deliveries.length > 0) return deliveries
        else if (waitSeconds === 0) await clock.sleep(pollPauseMs, signal)
      }
      return []
    },

    settle: (deliveries) => {
      const entries = deliveries.map(({ handle }) => ({ ReceiptHandle: handle }))
      return batches('delete messages', entries, (Entries) =>
        client.send(new DeleteMessageBatchCommand({ QueueUrl, Entries: [...Entries] })),
      )
    },

    hold,

    wake: async (handle) => {
      const command = new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle: handle, VisibilityTimeout: 0 })
      await client.send(command).catch((error: unknown) => {
        if (!isStale(error as Error)) throw serviceFailure(error, 'end a hold')
      })
    },
  }
}

/** SQS allows twelve hours from the receipt on; a run takes an hour of them at most. */
const holdSecondsMax = 11 * 3_600
/** Between two looks of a receiver that does not wait at the far side. */
const pollPauseMs = 50

/** Calls for ten entries at a time. An entry is known by its place in its call. */
function createBatchCalls({ clock, random }: SqsWorkQueueOptions) {
  return <Entry>(
    attempt: string,
    entries: readonly Entry[],
    call: (batch: readonly (Entry & { readonly Id: string })[]) => Promise<BatchResult>,
  ): Promise<void> =>
    inBatches(entries, {
      attempt,
      sizeMax: 10,
      clock,
      random,
      call: async (batch) => {
        const numbered = batch.map((entry, i) => ({ ...entry, Id: String(i) }))
        return refusals(batch, await call(numbered).catch(throwFailure(attempt)))
      },
    })
}

function throwFailure(attempt: string): (error: unknown) => never {
  return (error) => {
    throw serviceFailure(error, attempt)
  }
}

function toDelivery({ Body = '', ReceiptHandle = '', Attributes }: Message): LoopDelivery {
  return deliveryOf({
    body: Body,
    receiptHandle: ReceiptHandle,
    attributes: { ApproximateReceiveCount: '1', ...Attributes },
  })
}

function own({ loop: theirs, delivery }: LoopDelivery, loop: string): Delivery {
  if (theirs === loop) return delivery
  throw new OperatingError('INTERNAL', `${loop} polls a queue that it shares with ${theirs}`)
}

interface BatchResult {
  readonly Failed?: readonly BatchResultErrorEntry[] | undefined
}

/**
 * A handle that is stale is no refusal: who is late has lost the turn already, and the message is another's or deleted.
 * AWS calls it the sender's fault, too, that a request is throttled.
 */
function refusals<Entry>(batch: readonly Entry[], { Failed = [] }: BatchResult): readonly EntryRefusal<Entry>[] {
  return Failed.map(({ Id, Code: code = '', Message: message = '', SenderFault = false }) => ({
    entry: batch[Number(Id)] as Entry,
    code,
    message,
    isFinal: SenderFault && !isThrottle(code),
  })).filter(({ code, message }) => !isStale({ name: code, message }))
}

/** The names SQS has for a handle that is not, or not any more, that of a message in flight. */
function isStale({ name, message }: Pick<Error, 'name' | 'message'>): boolean {
  if (/ReceiptHandleIsInvalid|MessageNotInflight/.test(name)) return true
  return /InvalidParameterValue/.test(name) && /receipt ?handle|not available for visibility/i.test(message)
}
