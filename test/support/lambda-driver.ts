import { DeleteMessageBatchCommand, ReceiveMessageCommand, type Message, type SQSClient } from '@aws-sdk/client-sqs'
import type {
  Context,
  DynamoDBBatchResponse,
  DynamoDBRecord,
  DynamoDBStreamEvent,
  SQSBatchResponse,
  SQSEvent,
  SQSRecord,
} from 'aws-lambda'
import { randomUUID } from 'node:crypto'
import { createLife, live, type Life } from './lambda-life.ts'

/**
 * Plays Lambda's part before real queues and streams: polls them, hands batches to handlers, and does with the answer
 * what an event source mapping does. Source: Lambda Developer Guide, "Using Lambda with Amazon SQS" and "... DynamoDB".
 */
export interface LambdaFunction<Event, Result> {
  readonly name: string
  readonly timeoutMs: number
  /** A new execution environment: what a cold start makes. `retire` ends it after the answer. */
  readonly create: (retire: () => void) => Handler<Event, Result>
}

export type Handler<Event, Result> = (event: Event, context: Context) => Promise<Result>

/** How an invocation ended. */
export type Invocation<Result> =
  | { readonly kind: 'answered'; readonly result: Result }
  | { readonly kind: 'failed' | 'crashed' | 'timedOut' }

/** An execution environment: one invocation at a time, warm until it dies. */
export interface Environment<Event, Result> {
  invoke(event: Event): Promise<Invocation<Result>>
}

export function createEnvironment<Event, Result>(lambda: LambdaFunction<Event, Result>): Environment<Event, Result> {
  let warm: { readonly life: Life; readonly handler: Handler<Event, Result> } | undefined

  function start(): { readonly life: Life; readonly handler: Handler<Event, Result> } {
    const life = createLife()
    return { life, handler: lambda.create(() => void setTimeout(life.kill, 100)) }
  }

  return {
    invoke: async (event) => {
      warm = warm === undefined || warm.life.isDead() ? start() : warm
      const { life, handler } = warm
      const endMs = Date.now() + lambda.timeoutMs
      const timer = Promise.withResolvers<Invocation<Result>>()
      const timeout = setTimeout(() => timer.resolve({ kind: 'timedOut' }), lambda.timeoutMs)
      const answered = live(life, () => handler(event, contextOf(lambda.name, endMs))).then(
        (result): Invocation<Result> => ({ kind: 'answered', result }),
        (): Invocation<Result> => ({ kind: 'failed' }),
      )
      const crashed = life.died.then((): Invocation<Result> => ({ kind: 'crashed' }))
      const ended = await Promise.race([answered, timer.promise, crashed])
      clearTimeout(timeout)
      if (ended.kind === 'timedOut') life.kill()
      return ended
    },
  }
}

function contextOf(functionName: string, endMs: number): Context {
  return {
    functionName,
    awsRequestId: randomUUID(),
    getRemainingTimeInMillis: () => Math.max(0, endMs - Date.now()),
  } as Context
}

/** Something that runs until it is stopped. */
export interface Running {
  stop(): Promise<void>
}

export interface QueueMapping {
  readonly client: SQSClient
  readonly queueUrl: string
  readonly lambda: LambdaFunction<SQSEvent, SQSBatchResponse>
  readonly batchSize?: number
  /** Environments that poll side by side. Default 4. */
  readonly concurrency?: number
  readonly onInvocation?: (ended: Invocation<SQSBatchResponse>['kind'], messages: number) => void
  /** Whether messages that are done with are not deleted, and so come again. */
  readonly redelivers?: () => boolean
}

/** An event source mapping of a FIFO queue, with partial responses. */
export function mapQueue(mapping: QueueMapping): Running {
  const stop = new AbortController()
  const pollers = Array.from({ length: mapping.concurrency ?? 4 }, () => poll(mapping, stop.signal))
  return {
    stop: async () => {
      stop.abort()
      await Promise.all(pollers)
    },
  }
}

async function poll(mapping: QueueMapping, signal: AbortSignal): Promise<void> {
  const environment = createEnvironment(mapping.lambda)
  while (!signal.aborted) {
    const messages = await receive(mapping)
    if (messages.length === 0) await pause(20)
    else await hand(messages, environment, mapping)
  }
}

async function receive({ client, queueUrl, batchSize = 10 }: QueueMapping): Promise<readonly Message[]> {
  const { Messages = [] } = await client.send(
    new ReceiveMessageCommand({
      QueueUrl: queueUrl,
      MaxNumberOfMessages: batchSize,
      MessageSystemAttributeNames: ['All'],
    }),
  )
  return Messages
}

/** What is not reported is deleted; what is, and everything after a failure, is left to its visibility timeout. */
async function hand(
  messages: readonly Message[],
  environment: Environment<SQSEvent, SQSBatchResponse>,
  { client, queueUrl, onInvocation = () => {}, redelivers = () => false }: QueueMapping,
): Promise<void> {
  const ended = await environment.invoke({ Records: messages.map((message) => recordOf(message, queueUrl)) })
  onInvocation(ended.kind, messages.length)
  const kept = ended.kind === 'answered' ? keptIn(ended.result, messages) : messages
  const done = messages.filter((message) => !kept.includes(message))
  if (done.length === 0 || redelivers()) return
  const Entries = done.map(({ ReceiptHandle }, i) => ({ Id: String(i), ReceiptHandle }))
  await client.send(new DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries }))
}

/** An identifier that names no message means that the whole batch failed. */
function keptIn({ batchItemFailures }: SQSBatchResponse, messages: readonly Message[]): readonly Message[] {
  const ids = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier))
  const named = messages.filter(({ MessageId = '' }) => ids.has(MessageId))
  return named.length === ids.size ? named : messages
}

function recordOf({ MessageId = '', ReceiptHandle = '', Body = '', Attributes = {} }: Message, url: string): SQSRecord {
  return {
    messageId: MessageId,
    receiptHandle: ReceiptHandle,
    body: Body,
    attributes: Attributes as unknown as SQSRecord['attributes'],
    messageAttributes: {},
    md5OfBody: '',
    eventSource: 'aws:sqs',
    eventSourceARN: `arn:aws:sqs:us-east-1:000000000000:${url.slice(url.lastIndexOf('/') + 1)}`,
    awsRegion: 'us-east-1',
  }
}

/** A stream's records, in order per shard; numbers grow. */
export interface StreamLog {
  push(record: Pick<DynamoDBRecord, 'eventName' | 'dynamodb'>): void
  readonly shards: readonly (readonly DynamoDBRecord[])[]
}

export function createStreamLog(shardCount = 2): StreamLog {
  const shards: DynamoDBRecord[][] = Array.from({ length: shardCount }, () => [])
  let last = 0
  return {
    shards,
    push: (record) => {
      const SequenceNumber = String(++last).padStart(21, '0')
      const place = JSON.stringify(record.dynamodb?.Keys)
      shards[hash(place) % shardCount]?.push({ ...record, dynamodb: { ...record.dynamodb, SequenceNumber } })
    },
  }
}

function hash(text: string): number {
  let sum = 0
  for (let i = 0; i < text.length; i++) sum = (sum * 31 + text.charCodeAt(i)) >>> 0
  return sum
}

export interface StreamMapping {
  readonly log: StreamLog
  readonly lambda: LambdaFunction<DynamoDBStreamEvent, DynamoDBBatchResponse>
  readonly batchSize?: number
  readonly retriesMax?: number
  /** Whether a batch that went well comes once more. */
  readonly repeats?: () => boolean
  /** How long a batch is late. */
  readonly lateMs?: () => number
  /** Where records go that fail to the end. */
  readonly onFailure?: (records: readonly DynamoDBRecord[]) => void
}

/** An event source mapping of a stream, with partial responses and bisection. */
export function mapStream(mapping: StreamMapping): Running {
  const stop = new AbortController()
  const readers = mapping.log.shards.map((shard) => read(shard, mapping, stop.signal))
  return {
    stop: async () => {
      stop.abort()
      await Promise.all(readers)
    },
  }
}

async function read(shard: readonly DynamoDBRecord[], mapping: StreamMapping, signal: AbortSignal): Promise<void> {
  const { batchSize = 100, repeats = () => false, lateMs = () => 0 } = mapping
  const environment = createEnvironment(mapping.lambda)
  for (let position = 0; !signal.aborted;) {
    const batch = shard.slice(position, position + batchSize)
    if (batch.length === 0) {
      await pause(5)
      continue
    }
    await pause(lateMs())
    await deliver(batch, environment, { ...mapping, signal })
    if (repeats()) await deliver(batch, environment, { ...mapping, signal })
    position += batch.length
  }
}

/**
 * Until the batch is through or given up: a failure that names a record goes on from there, one that names none halves
 * the batch, and what has come to its last retry is set aside.
 */
async function deliver(
  batch: readonly DynamoDBRecord[],
  environment: Environment<DynamoDBStreamEvent, DynamoDBBatchResponse>,
  mapping: StreamMapping & { readonly signal: AbortSignal },
): Promise<void> {
  const { retriesMax = 10, onFailure = () => {}, signal } = mapping
  let left = batch
  for (let tries = 0; left.length > 0 && !signal.aborted; tries++) {
    if (tries > retriesMax) return onFailure(left)
    if (tries > 0) await pause(Math.min(200, 10 * 2 ** tries))
    const ended = await environment.invoke({ Records: [...left] })
    const from = ended.kind === 'answered' ? firstFailed(ended.result, left) : 0
    if (from > 0) tries = 0
    left = from < 0 ? [] : left.slice(from)
    if (from === 0 && left.length > 1) {
      const half = Math.ceil(left.length / 2)
      await deliver(left.slice(0, half), environment, { ...mapping, retriesMax: retriesMax - tries - 1 })
      left = left.slice(half)
      tries = 0
    }
  }
}

/** Below 0 if none did. */
function firstFailed({ batchItemFailures }: DynamoDBBatchResponse, batch: readonly DynamoDBRecord[]): number {
  const places = batchItemFailures.map(({ itemIdentifier }) =>
    batch.findIndex(({ dynamodb }) => dynamodb?.SequenceNumber === itemIdentifier),
  )
  return places.length === 0 ? -1 : Math.max(0, Math.min(...places))
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
}
