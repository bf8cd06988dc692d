import { CreateQueueCommand, GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs'
import type { APIGatewayProxyEvent, SQSBatchResponse, SQSEvent } from 'aws-lambda'
import { randomUUID } from 'node:crypto'
import { text } from 'node:stream/consumers'
import type { Controller } from '../../shared/index.ts'
import type { AwsBoundary, ClientSettings } from '../../shared/runtime/aws-boundary.ts'
import { systemClock } from '../../shared/adapters/local/system-clock.ts'
import { systemRandom } from '../../shared/adapters/local/system-random.ts'
import type { Clock } from '../../shared/ports/clock.ts'
import { startDynalite, testCredentials, type Transport } from '../support/dynalite.ts'
import { startFauxqsInProcess } from '../support/fauxqs.ts'
import {
  createEnvironment,
  createStreamLog,
  mapQueue,
  mapStream,
  type Environment,
  type LambdaFunction,
  type QueueMapping,
  type Running,
  type StreamLog,
  type StreamMapping,
} from '../support/lambda-driver.ts'
import { faulty, noFaults, throttled, type Faults } from '../support/lambda-life.ts'
import '../support/lambda-streaming.ts'
import type { StreamedAnswer } from '../support/lambda-streaming.ts'

const { apiFunction } = await import('../../functions/api.ts')
const { deadLetterFunction } = await import('../../functions/deadletter.ts')
const { reconcileFunction } = await import('../../functions/reconcile.ts')
const { relayFunction } = await import('../../functions/relay.ts')
const { resyncFunction } = await import('../../functions/resync.ts')

/** The two services, by whoever plays them. */
export interface Services extends AsyncDisposable {
  readonly dynamodb: Transport
  readonly sqs: Transport
  /** With the name of the table, and the records of its stream. */
  readonly table: string
  readonly log: StreamLog
}

/** dynalite and fauxqs in this process, by their wire protocols, without sockets. */
export async function startServices(): Promise<Services> {
  const table = `setpoint-${randomUUID()}`
  const log = createStreamLog()
  const dynalite = await startDynalite(table)
  const fauxqs = startFauxqsInProcess()
  dynalite.onRecord((record) => log.push(record as Parameters<StreamLog['push']>[0]))
  return {
    dynamodb: dynalite.transport,
    sqs: fauxqs.transport,
    table,
    log,
    [Symbol.asyncDispose]: async () => {
      await fauxqs[Symbol.asyncDispose]()
      await dynalite.close()
    },
  }
}

export interface WholePathOptions {
  readonly controllers: readonly Controller[]
  /** Default: dynalite and fauxqs. */
  readonly services?: Services
  readonly chance?: () => number
  /** How wrong the clock of the n-th execution environment is. */
  readonly skewMs?: (environment: number) => number
  /** Of the work queues. Default 3. */
  readonly visibilitySeconds?: number
  /** Default 10. */
  readonly maxReceiveCount?: number
  /** Of the reconcile functions. Default 30 s. */
  readonly timeoutMs?: number
  readonly concurrency?: number
  readonly stream?: Partial<StreamMapping>
  readonly onInvocation?: QueueMapping['onInvocation']
}

/** A control plane on AWS, but for AWS: the real functions before queues and a stream, with an API to call. */
export interface WholePath extends AsyncDisposable {
  /** `PATCH /apis/…`; the body as JSON, of this type. */
  request(line: string, body?: unknown, type?: string): Promise<Reply>
  /** The minute's tick. */
  tick(): Promise<void>
  /** Faults are off at first. */
  faults: Faults
  readonly log: StreamLog
  /** What functions wrote to their logs. */
  readonly lines: readonly string[]
  /** Requests by operation, such as `DynamoDB_20120810.GetItem`; by functions only. */
  readonly requests: Map<string, number>
  /** Messages in the dead-letter queue. */
  deadLetters(): Promise<number>
}

export interface Reply {
  readonly status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into replies and compare, they do not rely on them
  readonly body: any
}

export async function startWholePath(options: WholePathOptions): Promise<WholePath> {
  const services = options.services ?? (await startServices())
  const { chance = Math.random, timeoutMs = 30_000, controllers } = options
  const state = { faults: noFaults }
  const lines: string[] = []
  const requests = new Map<string, number>()
  const client = settings(services.sqs)
  const sqs = new SQSClient(client)
  const dead = await createQueue(sqs, { VisibilityTimeout: '2' })
  const redrive = JSON.stringify({ deadLetterTargetArn: dead.arn, maxReceiveCount: options.maxReceiveCount ?? 10 })
  const system = await createQueue(sqs, {
    VisibilityTimeout: String(options.visibilitySeconds ?? 3),
    RedrivePolicy: redrive,
  })

  let environments = 0
  function boundary(retire: () => void): AwsBoundary {
    const onRequest = (operation: string): void => void requests.set(operation, (requests.get(operation) ?? 0) + 1)
    const through = (transport: Transport, refusal: string): ClientSettings =>
      settings(faulty({ transport, faults: () => state.faults, chance, refusal: throttled(refusal), onRequest }))
    return {
      environment: {
        SETPOINT_TABLE: services.table,
        SETPOINT_QUEUES: JSON.stringify({ system: system.url }),
        SETPOINT_LOG: 'info',
      },
      clock: skewed(options.skewMs?.(++environments) ?? 0),
      random: { ...systemRandom, next: chance },
      write: (line) => void lines.push(line),
      dynamodb: through(services.dynamodb, 'com.amazonaws.dynamodb.v20120810#ThrottlingException'),
      sqs: through(services.sqs, 'com.amazonaws.sqs#RequestThrottled'),
      eventbridge: {},
      retire,
    }
  }

  const api = createEnvironment<APIGatewayProxyEvent, StreamedAnswer>({
    name: 'api',
    timeoutMs: 30_000,
    create: (retire) => apiFunction(boundary(retire), controllers) as never,
  })
  const ticks = createEnvironment<unknown, void>({
    name: 'resync',
    timeoutMs: 55_000,
    create: (retire) => resyncFunction(boundary(retire), controllers) as never,
  })
  const reconcile: LambdaFunction<SQSEvent, SQSBatchResponse> = {
    name: 'reconcile',
    timeoutMs,
    create: (retire) => reconcileFunction(boundary(retire), controllers),
  }
  const { concurrency = 4, onInvocation = () => {} } = options
  const running: Running[] = [
    mapStream({
      log: services.log,
      lambda: { name: 'relay', timeoutMs: 30_000, create: (retire) => relayFunction(boundary(retire), controllers) },
      ...options.stream,
    }),
    mapQueue({ client: sqs, queueUrl: system.url, lambda: reconcile, concurrency, onInvocation }),
    mapQueue({
      client: sqs,
      queueUrl: dead.url,
      concurrency: 1,
      lambda: {
        name: 'deadletter',
        timeoutMs: 30_000,
        create: (retire) => deadLetterFunction(boundary(retire), controllers),
      },
    }),
  ]

  const plane: WholePath = {
    request: (line, body, type) => request(api, line, { body, type }),
    tick: async () => void (await ticks.invoke({})),
    get faults() {
      return state.faults
    },
    set faults(faults) {
      state.faults = faults
    },
    log: services.log,
    lines,
    requests,
    deadLetters: () => depth(sqs, dead.url),
    [Symbol.asyncDispose]: async () => {
      state.faults = noFaults
      await Promise.all(running.map((one) => one.stop()))
      sqs.destroy()
      await services[Symbol.asyncDispose]()
    },
  }
  await plane.tick()
  return plane
}

function settings(transport: Transport): ClientSettings {
  return { region: 'us-east-1', credentials: testCredentials, requestHandler: transport as never }
}

function skewed(ms: number): Clock {
  return { nowMs: () => systemClock.nowMs() + ms, sleep: systemClock.sleep }
}

async function createQueue(
  client: SQSClient,
  attributes: Readonly<Record<string, string>>,
): Promise<{ readonly url: string; readonly arn: string }> {
  const Attributes = {
    FifoQueue: 'true',
    DeduplicationScope: 'messageGroup',
    FifoThroughputLimit: 'perMessageGroupId',
    ...attributes,
  }
  const { QueueUrl = '' } = await client.send(new CreateQueueCommand({ QueueName: `${randomUUID()}.fifo`, Attributes }))
  const found = await client.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] }))
  return { url: QueueUrl, arn: found.Attributes?.['QueueArn'] ?? '' }
}

async function depth(client: SQSClient, QueueUrl: string): Promise<number> {
  const AttributeNames = ['ApproximateNumberOfMessages' as const, 'ApproximateNumberOfMessagesNotVisible' as const]
  const { Attributes = {} } = await client.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames }))
  return Object.values(Attributes).reduce((sum, count) => sum + Number(count), 0)
}

/** What the gateway would answer where there is no answer. */
const badGateway: Reply = { status: 502, body: undefined }

async function request(
  api: Environment<APIGatewayProxyEvent, StreamedAnswer>,
  line: string,
  { body, type = 'application/json' }: { readonly body: unknown; readonly type: string | undefined },
): Promise<Reply> {
  const ended = await api.invoke(proxyEvent(line, body, type))
  if (ended.kind !== 'answered') return badGateway
  try {
    const { statusCode } = await ended.result.prelude
    const answer = await text(ended.result.stream)
    return { status: statusCode, body: answer === '' ? undefined : (JSON.parse(answer) as unknown) }
  } catch {
    // A function that fails after it has begun to answer leaves the client with a broken connection.
    return badGateway
  }
}

function proxyEvent(line: string, body: unknown, type: string): APIGatewayProxyEvent {
  const [method = '', url = ''] = line.split(' ')
  const { pathname, searchParams } = new URL(url, 'https://host')
  const query = [...new Set(searchParams.keys())].map((name) => [name, searchParams.getAll(name)])
  return {
    httpMethod: method,
    path: pathname,
    headers: null,
    multiValueHeaders: { 'Content-Type': [type], Accept: ['application/json'] },
    multiValueQueryStringParameters: Object.fromEntries(query) as Record<string, string[]>,
    body: body === undefined ? null : Buffer.from(JSON.stringify(body)).toString('base64'),
    isBase64Encoded: true,
    requestContext: { authorizer: { principal: 'tester', groups: '["system:masters"]' } },
  } as unknown as APIGatewayProxyEvent
}
