import { SQSClient, type SQSClientConfig } from '@aws-sdk/client-sqs'
import { createHash } from 'node:crypto'
import type { Clock } from '../ports/clock.ts'
import { bufferOf, testCredentials, unlookedSigner, type Transport } from './dynalite.ts'
import { createFifoQueue, type FifoMessage, type FifoQueue } from './fifo-queue.ts'

/**
 * SQS in this process, on the clock it is given: FIFO queues by the rules of `fifo-queue.ts`, which a client of the SDK
 * reaches without a socket, through its own serialisation and its checks of what comes back. It answers what our
 * adapter asks, and refuses everything else.
 */
export interface TestSqs {
  /** Goes into a client. */
  readonly settings: Required<Pick<SQSClientConfig, 'requestHandler' | 'region' | 'credentials' | 'signer'>>
  /** Makes a queue if there is none of the name. */
  openQueue(options: TestQueueOptions): TestQueue
  /** No request is under way, but those that wait for messages. */
  isQuiet(): boolean
}

export interface TestQueueOptions {
  /** Ends in `.fifo`. */
  readonly name: string
  readonly visibilityMs: number
  /** Where messages go that were received `maxReceiveCount` times. Left out, they are received for ever. */
  readonly redrive?: { readonly maxReceiveCount: number; readonly to: TestQueue }
}

/** A queue as those have it who poll in Lambda's name. */
export interface TestQueue {
  readonly url: string
  readonly arn: string
  readonly messages: FifoQueue<SentText>
  /** Resolves when a message may be received, or the signal aborts. */
  awaitMessages(signal: AbortSignal): Promise<void>
  /** Tells those who wait that something has changed. */
  stir(): void
}

/** What is kept of a message beside its group and its id. */
export interface SentText {
  readonly id: string
  readonly text: string
}

export function createTestSqs(clock: Clock): TestSqs {
  const queues = new Map<string, TestQueue>()
  let running = 0
  let sent = 0

  const openQueue = (options: TestQueueOptions): TestQueue => {
    const url = `https://sqs.us-east-1.amazonaws.com/000000000000/${options.name}`
    const opened = queues.get(url) ?? createTestQueue(url, options, clock)
    queues.set(url, opened)
    return opened
  }

  async function answer(action: string, request: Request): Promise<object> {
    const queue = queues.get(request.QueueUrl)
    if (queue === undefined) throw new Refusal('QueueDoesNotExist', `there is no queue ${request.QueueUrl}`)
    if (action === 'SendMessageBatch') return each(request, (entry) => send(queue, entry, () => `message-${++sent}`))
    if (action === 'DeleteMessageBatch') return each(request, (entry) => remove(queue, entry))
    if (action === 'ChangeMessageVisibilityBatch') return each(request, (entry) => hide(queue, entry))
    if (action === 'ChangeMessageVisibility') return hide(queue, request)
    if (action === 'GetQueueAttributes')
      return { Attributes: { ApproximateNumberOfMessages: String(queue.messages.waiting()) } }
    if (action === 'ReceiveMessage') return receive(queue, request)
    throw new Refusal('UnsupportedOperation', `${action} is not known here`)
  }

  /** As an ordinary answer, and not as running, while it waits for messages. */
  async function receive(queue: TestQueue, { MaxNumberOfMessages = 1, WaitTimeSeconds = 0 }: Request): Promise<object> {
    requireWhole('MaxNumberOfMessages', MaxNumberOfMessages, [1, 10])
    requireWhole('WaitTimeSeconds', WaitTimeSeconds, [0, 20])
    const over = new AbortController()
    if (WaitTimeSeconds > 0) {
      running--
      await Promise.race([queue.awaitMessages(over.signal), clock.sleep(WaitTimeSeconds * 1_000, over.signal)])
      running++
    }
    over.abort('over')
    return { Messages: queue.messages.receive(MaxNumberOfMessages).map(toMessage) }
  }

  const transport: Transport = {
    handle: async ({ headers, body }) => {
      running++
      try {
        const [, action = ''] = (headers['x-amz-target'] ?? '').split('.')
        return reply(200, await answer(action, JSON.parse(bufferOf(body).toString()) as Request))
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        return reply(400, { __type: `com.amazonaws.sqs#${error.code}`, message: error.message })
      } finally {
        running--
      }
    },
  }

  return {
    settings: {
      region: 'us-east-1',
      credentials: testCredentials,
      signer: unlookedSigner,
      // Its `handle` is all that is called.
      requestHandler: transport,
    },
    openQueue,
    isQuiet: () => running === 0,
  }
}

export function testSqsClient({ settings }: TestSqs): SQSClient {
  return new SQSClient(settings)
}

function createTestQueue(url: string, { name, visibilityMs, redrive }: TestQueueOptions, clock: Clock): TestQueue {
  let stirred = Promise.withResolvers<void>()
  const stir = (): void => {
    const { resolve } = stirred
    stirred = Promise.withResolvers()
    resolve()
  }
  const messages = createFifoQueue<SentText>({
    name,
    nowMs: () => clock.nowMs(),
    visibilityMs: () => visibilityMs,
    maxReceiveCount: () => redrive?.maxReceiveCount ?? Infinity,
    // As it is, but for its times and its count.
    onDead: (message) => {
      redrive?.to.messages.send(message)
      redrive?.to.stir()
    },
  })
  const awaitMessages = async (signal: AbortSignal): Promise<void> => {
    for (let waitMs = waitOf(); waitMs > 0 && !signal.aborted; waitMs = waitOf()) {
      const over = new AbortController()
      const end = (): void => over.abort('over')
      signal.addEventListener('abort', end)
      if (waitMs < Infinity) void clock.sleep(waitMs, over.signal).then(end)
      void stirred.promise.then(end)
      await untilAborted(over.signal)
      signal.removeEventListener('abort', end)
    }
  }
  const waitOf = (): number => messages.nextVisibleMs() - clock.nowMs()
  return { url, arn: `arn:aws:sqs:us-east-1:000000000000:${name}`, messages, awaitMessages, stir }
}

/** What a request or one of its entries has; which of it there is says the action. */
interface Request extends Entry {
  readonly QueueUrl: string
  readonly Entries?: readonly Entry[]
  readonly MaxNumberOfMessages?: number
  readonly WaitTimeSeconds?: number
}

interface Entry {
  readonly Id?: string
  readonly MessageBody?: string
  readonly MessageGroupId?: string
  readonly MessageDeduplicationId?: string
  readonly DelaySeconds?: number
  readonly ReceiptHandle?: string
  readonly VisibilityTimeout?: number
}

/** What SQS says no to, and that it is the sender's fault. */
class Refusal extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** Each entry is accepted or refused by itself. */
function each({ Entries = [] }: Request, act: (entry: Entry) => object): object {
  if (Entries.length === 0) throw new Refusal('EmptyBatchRequest', 'there is no entry')
  if (Entries.length > 10) throw new Refusal('TooManyEntriesInBatchRequest', `there are ${Entries.length} entries`)
  const Successful: object[] = []
  const Failed: object[] = []
  for (const entry of Entries) {
    try {
      Successful.push({ Id: entry.Id, ...act(entry) })
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      Failed.push({ Id: entry.Id, Code: error.code, Message: error.message, SenderFault: true })
    }
  }
  return { Successful, Failed }
}

/** SQS takes whole numbers between two, and no others. */
function requireWhole(name: string, value: number, [least, most]: readonly [least: number, most: number]): void {
  if (Number.isInteger(value) && value >= least && value <= most) return
  throw new Refusal('InvalidParameterValue', `Value ${value} for parameter ${name} is invalid`)
}

function send({ messages, stir }: TestQueue, entry: Entry, newId: () => string): object {
  const { MessageBody: text = '', MessageGroupId: group, MessageDeduplicationId: dedupId, DelaySeconds } = entry
  if (group === undefined)
    throw new Refusal('MissingParameter', 'The request must contain the parameter MessageGroupId')
  if (dedupId === undefined)
    throw new Refusal('InvalidParameterValue', 'The queue should either have ContentBasedDeduplication enabled or …')
  if (DelaySeconds !== undefined)
    throw new Refusal('InvalidParameterValue', 'DelaySeconds is invalid: the request includes it for a FIFO queue')
  if (group.length > 128 || dedupId.length > 128) throw new Refusal('InvalidParameterValue', 'an id is too long')
  const id = newId()
  messages.send({ group, dedupId, body: { id, text } })
  stir()
  return { MessageId: id, MD5OfMessageBody: md5(text) }
}

function remove({ messages, stir }: TestQueue, { ReceiptHandle = '' }: Entry): object {
  if (!messages.delete(ReceiptHandle)) throw new Refusal('InvalidParameterValue', 'The receipt handle has expired')
  stir()
  return {}
}

function hide({ messages, stir }: TestQueue, { ReceiptHandle = '', VisibilityTimeout = 0 }: Entry): object {
  requireWhole('VisibilityTimeout', VisibilityTimeout, [0, 43_200])
  const became = messages.changeVisibility(ReceiptHandle, VisibilityTimeout * 1_000)
  if (became === 'stale')
    throw new Refusal(
      'MessageNotInflight',
      'The message does not exist or is not available for visibility timeout change',
    )
  if (became === 'tooLong')
    throw new Refusal(
      'InvalidParameterValue',
      'Total VisibilityTimeout for the message is beyond the limit [43200 seconds]',
    )
  stir()
  return {}
}

function toMessage(message: FifoMessage<SentText>): object {
  const { body, handle } = message
  return {
    MessageId: body.id,
    ReceiptHandle: handle,
    Body: body.text,
    MD5OfBody: md5(body.text),
    Attributes: systemAttributesOf(message),
  }
}

export function systemAttributesOf(message: FifoMessage<SentText>) {
  return {
    ApproximateReceiveCount: String(message.receiveCount),
    ApproximateFirstReceiveTimestamp: String(message.firstReceivedAtMs),
    SentTimestamp: String(message.sentAtMs),
  }
}

function md5(text: string): string {
  return createHash('md5').update(text).digest('hex')
}

function reply(statusCode: number, answer: object): Awaited<ReturnType<Transport['handle']>> {
  const headers = { 'content-type': 'application/x-amz-json-1.0' }
  return { response: { statusCode, headers, body: Buffer.from(JSON.stringify(answer)) } }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
