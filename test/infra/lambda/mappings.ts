import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  MessageNotInflight,
  ReceiveMessageCommand,
  type Message,
  type SQSClient,
} from '@aws-sdk/client-sqs'
import { setTimeout } from 'node:timers/promises'
import type { TestStreamRecord } from '../../../shared/testing-aws/dynalite.ts'
import { isUnanswered } from './environments.ts'
import type { FunctionProcess } from './function-process.ts'
import { matches, type WiredMapping } from './wiring.ts'

/** What stands between the table, the queues and the functions. */
export interface Mappings {
  readonly wired: readonly WiredMapping[]
  /** What the stream has and nobody has seen. */
  readonly records: TestStreamRecord[]
  /** By logical id. */
  readonly functionOf: (id: string) => FunctionProcess
  readonly sqs: SQSClient
  /** By logical id. */
  readonly queueUrl: (id: string) => string
  /**
   * What functions reported as not done, or had no room for, or gave no answer to, by the URL of its queue: SQS hides
   * it for as long as the template says.
   */
  readonly kept: Map<string, string[]>
}

/** Hands on what waits, round after round, until a round finds nothing. */
export async function settle(mappings: Mappings): Promise<void> {
  let handed: number
  do {
    // A record comes a few milliseconds after its write.
    await setTimeout(30)
    const streams = mappings.wired.filter(({ isStream }) => isStream)
    const relayed = await Promise.all(streams.map((one) => relayRecords(mappings, one)))
    const queues = mappings.wired.filter(({ isStream }) => !isStream)
    const pollers = queues.flatMap((one) => Array.from({ length: one.concurrency ?? pollersAtFirst }, () => one))
    const delivered = await Promise.all(pollers.map((one) => deliver(mappings, one)))
    handed = [...relayed, ...delivered].reduce((sum, count) => sum + count, 0)
  } while (handed > 0)
}

/** Where a mapping has no limit Lambda begins with so many, and has more when they are not enough. */
const pollersAtFirst = 2

/** As if the time were over for which SQS hides what was reported. */
export async function endHiding({ kept, sqs }: Mappings): Promise<void> {
  for (const [QueueUrl, handles] of kept)
    for (const ReceiptHandle of handles.splice(0))
      await sqs
        .send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 0 }))
        // Somebody ended it before.
        .catch((error: unknown) => {
          if (!(error instanceof MessageNotInflight)) throw error
        })
}

async function relayRecords({ records, functionOf }: Mappings, mapping: WiredMapping): Promise<number> {
  const { batchSize, filters } = mapping
  const taken = records.splice(0, batchSize)
  const batch = taken.filter((record) => filters.some((filter) => matches(filter, record)))
  if (batch.length === 0) return taken.length
  const Records = batch.map(({ eventName, dynamodb }, i) => ({
    eventID: String(i),
    eventName,
    eventSource: 'aws:dynamodb',
    dynamodb: { ...dynamodb, SequenceNumber: String(i), StreamViewType: 'NEW_AND_OLD_IMAGES' },
  }))
  const answer = await functionOf(mapping.function).invoke({ Records })
  if (isUnanswered(answer)) {
    // Lambda keeps asking, and later records wait.
    records.unshift(...taken)
    return 0
  }
  expectNone(answer)
  return batch.length
}

async function deliver({ functionOf, sqs, queueUrl, kept }: Mappings, mapping: WiredMapping): Promise<number> {
  const QueueUrl = queueUrl(mapping.source)
  const MaxNumberOfMessages = Math.min(10, mapping.batchSize)
  const receive = { QueueUrl, MaxNumberOfMessages, MessageSystemAttributeNames: ['All' as const] }
  const { Messages = [] } = await sqs.send(new ReceiveMessageCommand(receive))
  if (Messages.length === 0) return 0
  const arn = `arn:aws:sqs:us-east-1:123456789012:${QueueUrl.slice(QueueUrl.lastIndexOf('/') + 1)}`
  const records = Messages.map((message) => recordOf(message, arn))
  const answer = await functionOf(mapping.function).invoke({ Records: records })
  const keep = (...handles: readonly string[]): void =>
    void kept.set(QueueUrl, [...(kept.get(QueueUrl) ?? []), ...handles])
  if (isUnanswered(answer)) {
    keep(...Messages.map(({ ReceiptHandle = '' }) => ReceiptHandle))
    return 0
  }
  const { body, error } = answer
  if (error !== undefined) throw new Error(`${mapping.function}: ${error.errorMessage}`)
  const { batchItemFailures } = JSON.parse(body.toString()) as Report
  // Without parts a function says by an error that a batch is not done.
  const failed = mapping.reportsParts
    ? new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier))
    : new Set()
  for (const { MessageId = '', ReceiptHandle = '' } of Messages)
    if (failed.has(MessageId)) keep(ReceiptHandle)
    else await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }))
  return Messages.length
}

interface Report {
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[]
}

/** As a Lambda event has it. */
export function recordOf(
  { MessageId: messageId, ReceiptHandle: receiptHandle, Body: body, Attributes: attributes }: Message,
  eventSourceARN: string,
): object {
  return { messageId, receiptHandle, body, attributes, messageAttributes: {}, eventSource: 'aws:sqs', eventSourceARN }
}

function expectNone({
  body,
  error,
}: {
  readonly body: Buffer
  readonly error?: { readonly errorMessage: string }
}): void {
  if (error !== undefined) throw new Error(`relay: ${error.errorMessage}`)
  const { batchItemFailures } = JSON.parse(body.toString()) as Report
  if (batchItemFailures.length > 0) throw new Error(`relay: ${body.toString()}`)
}
