import { CreateQueueCommand, GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs'
import type { APIGatewayProxyEvent, SQSBatchResponse, SQSEvent } from 'aws-lambda'
import { randomUUID } from 'node:crypto'
import { text as whole } from 'node:stream/consumers'
import type { Controller } from '../../shared/index.ts'
import type { AwsBoundary, ClientSettings, OpenAwsTraces } from '../../shared/runtime/aws/boundary.ts'
import { createDynamodbCheckpoint } from '../../shared/adapters/aws/dynamodb/dynamodb-checkpoint.ts'
import { createDynamodbClient } from '../../shared/adapters/aws/dynamodb/dynamodb-client.ts'
import { systemClock } from '../../shared/adapters/node/system-clock.ts'
import { systemRandom } from '../../shared/adapters/node/system-random.ts'
import type { Clock } from '../../shared/ports/clock.ts'
import { startDynalite, testCredentials, type Transport } from '../../shared/testing-aws/dynalite.ts'
import { startFauxqsInProcess } from '../support/fauxqs.ts'
import {
  createEnvironment,
  createStreamLog,
  mapQueue,
  mapStream,
  type Handler,
  type LambdaFunction,
  type QueueMapping,
  type Running,
  type StreamLog,
  type StreamMapping,
} from '../support/lambda-driver.ts'
import { calm, faulty, throttled, type Call, type Weather } from '../support/lambda-life.ts'
import { installStreaming, type StreamedAnswer } from '../support/lambda-streaming.ts'

installStreaming()

const { apiFunction } = await import('../../functions/api.ts')
const { deadLetterFunction } = await import('../../functions/deadletter.ts')
const { reconcileFunction } = await import('../../functions/reconcile.ts')
const { relayFunction } = await import('../../functions/relay.ts')
const { resyncFunction } = await import('../../functions/resync.ts')

/** How a service is reached. */
export interface Service {
  readonly transport: Transport
  readonly endpoint: string
}

/** The two services, by whoever plays them. */
export interface Services extends AsyncDisposable {
  readonly dynamodb: Service
  readonly sqs: Service
  /** With the name of the table, and the records of its stream. */
  readonly table: string
  readonly log: StreamLog
}

/**
 * dynalite and fauxqs in this process, by their wire protocols, without sockets. `isLost`: whether a record never gets
 * into the stream.
 */
export async function startServices(isLost: () => boolean = () => false, shards = 2): Promise<Services> {
  const table = `setpoint-${randomUUID()}`
  const log = createStreamLog(shards)
  const dynalite = await startDynalite(table)
  const fauxqs = startFauxqsInProcess()
  dynalite.onRecord((record) => {
    if (!isLost()) log.push(record as unknown as Parameters<StreamLog['push']>[0])
  })
  return {
    dynamodb: { transport: dynalite.transport, endpoint: nowhere },
    sqs: { transport: fauxqs.transport, endpoint: nowhere },
    table,
    log,
    [Symbol.asyncDispose]: async () => {
      await fauxqs[Symbol.asyncDispose]()
      await dynalite.close()
    },
  }
}

/** A transport without sockets goes to its own service, whatever the address. */
const nowhere = 'http://localhost'

export interface WholePathOptions {
  readonly controllers: readonly Controller[]
  /** Default: dynalite and fauxqs. */
  readonly services?: Services
  readonly chance?: () => number
  /** Of all functions, before anybody looks wrongly. Default: the machine's. */
  readonly clock?: Clock
  /** How wrong the clock of the n-th execution environment, of the function of this name, is whenever it looks. */
  readonly skewMs?: (environment: number, name: string) => number
  /** What the functions have in the place of `#tracing`. Default: nothing. */
  readonly openTraces?: OpenAwsTraces
  /** How many objects run at once, as the tick is told. Default 10. */
  readonly sharedConcurrency?: number
  /** Runs that changed something are kept too. */
  readonly keepsAllRuns?: true
  /** Of the work queues. Default 3. */
  readonly visibilitySeconds?: number
  /** Default 10. */
  readonly maxReceiveCount?: number
  /** Of the reconcile functions. Default 30 s. */
  readonly timeoutMs?: number
  /** Of the tick. Default 55 s. */
  readonly tickTimeoutMs?: number
  readonly stream?: Partial<StreamMapping>
  /** A controller with several queues of its own, and how many of them the next tick is to have used. */
  readonly spread?: { readonly controller: string; readonly queues: number; readonly used: () => number }
  readonly queue?: Pick<QueueMapping, 'onInvocation' | 'redelivers' | 'concurrency' | 'batchSize'>
}

/** A control plane on AWS, but for AWS: the real functions before queues and a stream, with an API to call. */
export interface WholePath extends AsyncDisposable {
  /** `PATCH /apis/…`; the body as JSON, of this type. */
  request(line: string, body?: unknown, type?: string, traceparent?: string): Promise<Reply>
  /** The minute's tick. */
  tick(): Promise<void>
  /** As if ticks had seen for long that turns of these loops are quick. */
  knowQuick(...loops: readonly string[]): Promise<void>
  /** Calm at first. */
  weather: Weather
  readonly log: StreamLog
  /** What functions wrote to their logs. */
  readonly lines: readonly string[]
  /** Requests of the functions, such as `relay SendMessageBatch`, and how many. */
  readonly requests: Map<string, number>
  /** Messages in the dead-letter queue. */
  deadLetters(): Promise<number>
  /**
   * Out of which queues of the controller that has several a batch came, and was answered, since it was last asked.
   */
  takeHanded(): ReadonlySet<number>
}

export interface Reply {
  readonly status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- tests compare what they read of replies
  readonly body: any
}

export async function startWholePath(options: WholePathOptions): Promise<WholePath> {
  const services = options.services ?? (await startServices())
  const { chance = Math.random, timeoutMs = 30_000, controllers, skewMs = () => 0, clock = systemClock } = options
  const state = { weather: calm }
  const lines: string[] = []
  const requests = new Map<string, number>()
  const sqs = new SQSClient(settings(services.sqs))
  const dead = await createQueue(sqs, { VisibilityTimeout: '2' })
  const redrive = JSON.stringify({ deadLetterTargetArn: dead.arn, maxReceiveCount: options.maxReceiveCount ?? 10 })
  const attributes = { VisibilityTimeout: String(options.visibilitySeconds ?? 3), RedrivePolicy: redrive }
  const system = await createQueue(sqs, attributes)
  const { spread } = options
  const own = await Promise.all(Array.from({ length: spread?.queues ?? 0 }, () => createQueue(sqs, attributes)))
  let handed = new Set<number>()
  const urls = { system: system.url, ...(spread && { [spread.controller]: own.map(({ url }) => url) }) }

  let environments = 0
  function boundary(name: string, retire: () => void): AwsBoundary {
    const onCall = ({ operation }: Call): void => {
      const text = `${name} ${operation.split('.').at(-1)}`
      requests.set(text, (requests.get(text) ?? 0) + 1)
    }
    const weather: Weather = (call) => state.weather(call)
    const through = ({ transport, endpoint }: Service, refusal: string): ClientSettings =>
      settings({ endpoint, transport: faulty({ name, transport, weather, refusal: throttled(refusal), onCall }) })
    return {
      environment: {
        SETPOINT_TABLE: services.table,
        SETPOINT_QUEUES: JSON.stringify(urls),
        get SETPOINT_QUEUES_USED() {
          return JSON.stringify(spread ? { [spread.controller]: spread.used() } : {})
        },
        SETPOINT_LOG: 'info',
        ...(options.sharedConcurrency && { SETPOINT_SHARED_CONCURRENCY: String(options.sharedConcurrency) }),
        ...(options.keepsAllRuns && { SETPOINT_RUNS: 'all' }),
        ...(options.openTraces && { OTEL_TRACES_EXPORTER: 'otlp' }),
      },
      clock: skewed(clock, skewMs, [++environments, name]),
      random: { ...systemRandom, next: chance },
      write: (line) => void lines.push(line),
      dynamodb: through(services.dynamodb, 'com.amazonaws.dynamodb.v20120810#ThrottlingException'),
      sqs: through(services.sqs, 'com.amazonaws.sqs#RequestThrottled'),
      eventbridge: {},
      retire,
    }
  }

  const api = createEnvironment<APIGatewayProxyEvent, Reply>({
    name: 'api',
    timeoutMs: 30_000,
    create: (retire) => inOnePiece(apiFunction(boundary('api', retire), controllers, options.openTraces) as never),
  })
  const ticks = createEnvironment<unknown, void>({
    name: 'resync',
    timeoutMs: options.tickTimeoutMs ?? 55_000,
    create: (retire) => resyncFunction(boundary('resync', retire), controllers) as never,
  })
  const reconcile: LambdaFunction<SQSEvent, SQSBatchResponse> = {
    name: 'reconcile',
    timeoutMs,
    create: (retire) => reconcileFunction(boundary('reconcile', retire), controllers, { open: options.openTraces }),
  }
  const running: Running[] = [
    mapStream({
      log: services.log,
      lambda: {
        name: 'relay',
        timeoutMs: 30_000,
        create: (retire) => relayFunction(boundary('relay', retire), controllers),
      },
      ...options.stream,
    }),
    mapQueue({ client: sqs, queueUrl: system.url, lambda: reconcile, ...options.queue }),
    ...own.map(({ url }, place) => {
      const onInvocation = (): void => void handed.add(place)
      return mapQueue({ client: sqs, queueUrl: url, lambda: reconcile, ...options.queue, onInvocation })
    }),
    mapQueue({
      client: sqs,
      queueUrl: dead.url,
      concurrency: 1,
      lambda: {
        name: 'deadletter',
        timeoutMs: 30_000,
        create: (retire) => deadLetterFunction(boundary('deadletter', retire), controllers),
      },
    }),
  ]

  const checkpoint = createDynamodbCheckpoint({
    client: createDynamodbClient(settings(services.dynamodb)),
    table: services.table,
    clock: systemClock,
    random: systemRandom,
    name: 'resync',
  })
  const plane: WholePath = {
    request: async (line, body, type = 'application/json', traceparent) => {
      const ended = await api.invoke(proxyEvent(line, body, type, traceparent))
      return ended.kind === 'answered' ? ended.result : badGateway
    },
    tick: async () => void (await ticks.invoke({})),
    knowQuick: async (...loops) => {
      const places = JSON.parse((await checkpoint.load()) ?? '[]') as unknown[]
      const known = loops.map((loop) => [loop, { quick: 1_000, seenMs: clock.nowMs() + skewMs(0, 'resync') }] as const)
      const line = { stuck: 0, loops: Object.fromEntries(known) }
      const name = `line ${system.url.slice(system.url.lastIndexOf('/') + 1)}`
      await checkpoint.save(JSON.stringify([...places, [line, [name]]]))
    },
    get weather() {
      return state.weather
    },
    set weather(weather) {
      state.weather = weather
    },
    log: services.log,
    lines,
    requests,
    deadLetters: () => depth(sqs, dead.url),
    takeHanded: () => {
      const taken = handed
      handed = new Set()
      return taken
    },
    [Symbol.asyncDispose]: async () => {
      state.weather = calm
      await Promise.all(running.map((one) => one.stop()))
      sqs.destroy()
      await services[Symbol.asyncDispose]()
    },
  }
  await plane.tick()
  return plane
}

/** What the gateway answers where a function gives none. */
const badGateway: Reply = { status: 502, body: undefined }

function settings({ transport, endpoint }: Service): ClientSettings {
  return { region: 'us-east-1', endpoint, credentials: testCredentials, requestHandler: transport as never }
}

function skewed(
  clock: Clock,
  skewMs: NonNullable<WholePathOptions['skewMs']>,
  whose: readonly [number, string],
): Clock {
  return { nowMs: () => clock.nowMs() + skewMs(...whose), sleep: clock.sleep }
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

/** The answer as a client has it when the stream has ended. */
function inOnePiece(answer: Handler<APIGatewayProxyEvent, StreamedAnswer>): Handler<APIGatewayProxyEvent, Reply> {
  return async (event, context) => {
    const { prelude, stream } = await answer(event, context)
    const { statusCode: status } = await prelude
    const body = await whole(stream)
    return { status, body: bodyOf(body) }
  }
}

/** Pages are plain text. */
function bodyOf(text: string): unknown {
  if (text === '') return undefined
  return text.startsWith('{') ? JSON.parse(text) : text
}

function proxyEvent(line: string, body: unknown, type: string, traceparent?: string): APIGatewayProxyEvent {
  const [method = '', url = ''] = line.split(' ')
  const { pathname, searchParams } = new URL(url, 'https://host')
  const query = [...new Set(searchParams.keys())].map((name) => [name, searchParams.getAll(name)])
  return {
    httpMethod: method,
    path: pathname,
    headers: null,
    multiValueHeaders: {
      'Content-Type': [type],
      Accept: ['application/json'],
      ...(traceparent !== undefined && { traceparent: [traceparent] }),
    },
    multiValueQueryStringParameters: Object.fromEntries(query) as Record<string, string[]>,
    body: body === undefined ? null : Buffer.from(JSON.stringify(body)).toString('base64'),
    isBase64Encoded: true,
    requestContext: { authorizer: { principal: 'tester', groups: '["system:masters"]' } },
  } as unknown as APIGatewayProxyEvent
}
