import { DeleteMessageCommand, ReceiveMessageCommand, type Message, type SQSClient } from '@aws-sdk/client-sqs'
import { setTimeout } from 'node:timers/promises'
import { relayedWrites } from '../../../shared/adapters/aws/dynamodb/dynamodb-stream.ts'
import type { TestStreamRecord } from '../../../shared/testing-aws/dynalite.ts'
import type { FunctionProcess } from './function-process.ts'
import { queueNames, type FunctionName, type QueueName } from './synthesized-code.ts'

/** What stands between the table, the queues and the functions. */
export interface Mappings {
  /** What the stream has and nobody has seen. */
  readonly records: TestStreamRecord[]
  readonly functions: Readonly<Record<FunctionName, FunctionProcess>>
  readonly sqs: SQSClient
  readonly queueUrl: (name: QueueName) => string
}

/** Hands on what waits, round after round, until a round finds nothing. */
export async function settle(mappings: Mappings): Promise<void> {
  let handed: number
  do {
    // A record comes a few milliseconds after its write.
    await setTimeout(30)
    const relayed = await relayRecords(mappings)
    const delivered = await Promise.all(queueNames.map((name) => deliver(mappings, name)))
    handed = delivered.reduce((sum, count) => sum + count, relayed)
  } while (handed > 0)
}

async function relayRecords({ records, functions }: Mappings): Promise<number> {
  const batch = records.splice(0).filter(isRelayed)
  if (batch.length === 0) return 0
  const Records = batch.map(({ eventName, dynamodb }, i) => ({
    eventID: String(i),
    eventName,
    eventSource: 'aws:dynamodb',
    dynamodb: { ...dynamodb, SequenceNumber: String(i), StreamViewType: 'NEW_AND_OLD_IMAGES' },
  }))
  expectNone(await functions.relay.invoke({ Records }))
  return batch.length
}

function isRelayed({ dynamodb }: TestStreamRecord): boolean {
  const touched = String(dynamodb.NewImage?.['touched']?.['S'] ?? '')
  return relayedWrites.dynamodb.NewImage.touched.S.some(({ prefix }) => touched.startsWith(prefix))
}

async function deliver({ functions, sqs, queueUrl }: Mappings, name: QueueName): Promise<number> {
  const QueueUrl = queueUrl(name)
  const receive = { QueueUrl, MaxNumberOfMessages: 10, MessageSystemAttributeNames: ['All' as const] }
  const { Messages = [] } = await sqs.send(new ReceiveMessageCommand(receive))
  if (Messages.length === 0) return 0
  const { body, error } = await functions[name].invoke({ Records: Messages.map(recordOf) })
  if (error !== undefined) throw new Error(`${name}: ${error.errorMessage}`)
  const { batchItemFailures: failed } = JSON.parse(body.toString()) as Report
  const kept = new Set(failed.map(({ itemIdentifier }) => itemIdentifier))
  for (const { MessageId = '', ReceiptHandle } of Messages)
    if (!kept.has(MessageId)) await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }))
  return Messages.length
}

interface Report {
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[]
}

/** As a Lambda event has it. */
export function recordOf({
  MessageId: messageId,
  ReceiptHandle: receiptHandle,
  Body: body,
  Attributes,
}: Message): object {
  return { messageId, receiptHandle, body, attributes: Attributes, messageAttributes: {}, eventSource: 'aws:sqs' }
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
