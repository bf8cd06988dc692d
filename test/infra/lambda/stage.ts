import { CreateQueueCommand, GetQueueAttributesCommand, SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs'
import { randomUUID } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createDynamodbCheckpoint } from '../../../shared/adapters/aws/dynamodb/dynamodb-checkpoint.ts'
import { systemClock } from '../../../shared/adapters/node/system-clock.ts'
import { systemRandom } from '../../../shared/adapters/node/system-random.ts'
import type { ControlPlaneProps } from '../../../infra/constructs/control-plane.ts'
import { startDynalite, type TestStreamRecord, type Transport } from '../../../shared/testing-aws/dynalite.ts'
import { recordLongSince } from '../../support/dynamodb.ts'
import { startFauxqs } from '../../support/fauxqs.ts'
import { sqsClient } from '../../support/sqs-queue.ts'
import { createTokenTables } from '../../support/token-tables.ts'
import { stacksXml } from '../../support/cloudformation-wire.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { startEnvironments, type Environments, type Room } from './environments.ts'
import { streamedReply, type FunctionProcess } from './function-process.ts'
import { releaseRulesOf, type ReleaseRules } from './release.ts'
import { endHiding, settle } from './mappings.ts'
import { passedTo, recordCalls, type Answering, type AwsCall } from './recording-proxy.ts'
import { functionNames, resolve, synthesize, type FunctionName, type Synthesized } from './synthesized-code.ts'
import type { WiredQueue, Wiring } from './wiring.ts'

/**
 * What `cdk synth` produced, run: every bundle in a process of its own with the variables that the template gives it,
 * dynalite and fauxqs in place of DynamoDB and SQS, and something that hands on stream records and messages as the
 * event source mappings do.
 */
export interface Stage extends AsyncDisposable {
  readonly functions: Readonly<Record<FunctionName, Environments>>
  /** Of the account: tests take it away and give it back. */
  readonly room: Room
  /** What a function has asked of AWS so far. */
  calls(name: FunctionName): readonly AwsCall[]
  /** A request through the gateway, by somebody the authorizer let in: by default as an administrator. */
  request(method: string, path: string, body?: object, group?: string): Promise<Reply>
  /** The same with a token: the authorizer of the template is asked first, and what it says is acted upon. */
  requestAs(token: string, method: string, path: string, body?: object): Promise<Reply>
  /** A minute of the clock: what the schedules of the template call, with what they give. */
  minute(): Promise<void>
  /** Hands on what waits in the stream and in queues, and what comes of that, until nothing does. */
  settle(): Promise<void>
  /** What the template says of what stands between the functions. */
  readonly wiring: Wiring
  /** Puts a message into the queue of this logical id. */
  send(queue: string, body: string): Promise<void>
  /** As if the time were over for which SQS hides what functions reported. */
  endHiding(): Promise<void>
  /** All that is left of earlier ticks is that there were some. */
  forgetTicks(): Promise<void>
  /** How new code of a function takes over, as the template says. */
  releaseRules(name: FunctionName): ReleaseRules
  /** Another version of a function: with other code, if a directory of it is given, and other variables. */
  startVersion(name: FunctionName, other: Version): Promise<Environments>
  /** What mappings hand batches to in the place of a function. */
  route(name: FunctionName, live: FunctionProcess): void
  /** Of the bundles, in bytes. */
  readonly sizes: Readonly<Record<FunctionName, number>>
}

interface Reply {
  readonly status: number
  readonly text: string
}

interface Version {
  readonly directory?: string
  readonly environment?: Readonly<Record<string, string>>
}

export async function openStage(client: readonly string[], props: Partial<ControlPlaneProps> = {}): Promise<Stage> {
  await using opening = new AsyncDisposableStack()
  const synthesized = bundle(props)
  const dynalite = await startDynalite('objects')
  // So that a watch asks the index.
  const table = { client: dynalite.client, table: 'objects', clock: systemClock, random: systemRandom }
  await recordLongSince(table, [{ group: 'example.dev', kind: 'Shelf' }])
  const fauxqs = opening.use(await startFauxqs())
  const sqs = sqsClient(fauxqs.endpoint)
  opening.defer(() => dynalite.close())

  await createTokenTables(dynalite.client)
  const refs = new Map([[synthesized.tableId, 'objects'], ...synthesized.keyTables])
  const names = new Map([...synthesized.queueIds].map(([name, id]) => [id, name]))
  for (const [id, queue] of synthesized.wiring.queues)
    refs.set(id, await createQueue(sqs, { name: names.get(id) ?? id, queue, urls: refs }))
  const queueUrl = (id: string): string => refs.get(id) ?? ''

  const calls = new Map<string, () => readonly AwsCall[]>()
  const room: Room = { limit: Infinity, running: 0, throttled: 0 }
  // Versions that are started later are ended with the others.
  const kept = { by: opening }
  async function start(name: FunctionName, other: Version = {}): Promise<Environments> {
    const objects = kept.by.use(await recordCalls('dynamodb', inProcess(dynalite.transport)))
    const queues = kept.by.use(await recordCalls('sqs', passedTo(fauxqs.endpoint)))
    const bus = kept.by.use(await recordCalls('events', accepting))
    const stacks = kept.by.use(await recordCalls('cloudformation', updating))
    calls.set(`${name}${JSON.stringify(other)}`, () => [objects, queues, bus, stacks].flatMap((one) => one.calls()))
    const { directory: code, environment, timeoutMs, memoryMb } = synthesized.functionOf(name)
    const endpoints = {
      AWS_ENDPOINT_URL_DYNAMODB: objects.endpoint,
      AWS_ENDPOINT_URL_SQS: queues.endpoint,
      AWS_ENDPOINT_URL_EVENTBRIDGE: bus.endpoint,
      AWS_ENDPOINT_URL_CLOUDFORMATION: stacks.endpoint,
    }
    // The SDK sends to the host of the queue's URL, wherever the endpoint is.
    const seen = new Map([...refs].map(([id, value]) => [id, throughProxy(value, queues.endpoint)]))
    const resolved = Object.entries(environment).map(([key, value]) => [key, resolve(value, seen)])
    return kept.by.use(
      await startEnvironments(
        {
          client,
          directory: other.directory ?? code,
          environment: { ...Object.fromEntries(resolved), ...endpoints, ...other.environment },
          timeoutMs,
          memoryMb,
        },
        room,
      ),
    )
  }
  const started = await Promise.all(functionNames.map(async (name) => [name, await start(name)] as const))
  const functions = Object.fromEntries(started) as Record<FunctionName, Environments>

  const records: TestStreamRecord[] = []
  dynalite.onRecord((record) => void records.push(record))
  const { wiring, nameOf } = synthesized
  const routes = new Map<FunctionName, FunctionProcess>()
  const functionOf = (id: string): FunctionProcess => routes.get(nameOf(id)) ?? functions[nameOf(id)]
  const mappings = { wired: wiring.mappings, records, functionOf, sqs, queueUrl, kept: new Map<string, string[]>() }
  const ports = { client: dynalite.client, table: 'objects', clock: systemClock, random: systemRandom }
  const resync = createDynamodbCheckpoint({ ...ports, name: 'resync' })
  const closing = opening.move()
  kept.by = closing
  return {
    functions,
    room,
    sizes: Object.fromEntries(
      functionNames.map((name) => [name, sizeOf(synthesized.functionOf(name))]),
    ) as Stage['sizes'],
    calls: (name) => calls.get(`${name}{}`)?.() ?? [],
    wiring,
    request: async (method, path, body, group) =>
      streamedReply(await functionOf(wiring.api.handler).invoke(proxyEvent(method, path, body, group))),
    requestAs: async (token, method, path, sent) => {
      const event = { type: 'TOKEN', authorizationToken: token, methodArn: 'arn:aws:execute-api:r:1:a/v1/GET/' }
      const { error, body } = await functionOf(wiring.api.authorizer).invoke(event)
      if (error !== undefined) return { status: error.errorMessage === 'Unauthorized' ? 401 : 500, text: '' }
      if (!body.toString().includes('"Effect":"Allow"')) return { status: 403, text: '' }
      const { context } = JSON.parse(body.toString()) as { readonly context: object }
      return streamedReply(await functionOf(wiring.api.handler).invoke(eventAs(token, context, { method, path, sent })))
    },
    minute: async () => {
      for (const { function: id, input } of wiring.schedules)
        await functionOf(id).invoke(input === undefined ? tickEvent() : JSON.parse(input))
    },
    settle: () => settle(mappings),
    send: async (id, body) => {
      const group = { MessageGroupId: 'test', MessageDeduplicationId: randomUUID() }
      await sqs.send(new SendMessageCommand({ QueueUrl: queueUrl(id), MessageBody: body, ...group }))
    },
    endHiding: () => endHiding(mappings),
    releaseRules: (name) => releaseRulesOf(synthesized.resources, synthesized.idOf(name)),
    startVersion: start,
    route: (name, live) => void routes.set(name, live),
    forgetTicks: () => resync.save('{}'),
    [Symbol.asyncDispose]: () => closing[Symbol.asyncDispose](),
  }
}

/** As EventBridge sends it where a schedule gives nothing of its own. */
export function tickEvent(): object {
  return { 'detail-type': 'Scheduled Event', source: 'aws.events', time: new Date().toISOString(), detail: {} }
}

interface MadeQueue {
  readonly name: string
  readonly queue: WiredQueue
  /** Of those that are there already, by their logical ids: that of its dead letters is. */
  readonly urls: ReadonlyMap<string, string>
}

/** As the template has it. */
async function createQueue(sqs: SQSClient, { name, queue, urls }: MadeQueue): Promise<string> {
  const { attributes, redrive } = queue
  const policy = redrive && {
    deadLetterTargetArn: await arnOf(sqs, urls.get(redrive.queue) ?? ''),
    maxReceiveCount: redrive.receives,
  }
  const QueueName = attributes['FifoQueue'] === 'true' ? `${name}.fifo` : name
  const Attributes = { ...attributes, ...(policy && { RedrivePolicy: JSON.stringify(policy) }) }
  const { QueueUrl = '' } = await sqs.send(new CreateQueueCommand({ QueueName, Attributes }))
  return QueueUrl
}

async function arnOf(sqs: SQSClient, QueueUrl: string): Promise<string> {
  const { Attributes } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] }))
  return Attributes?.['QueueArn'] ?? ''
}

function sizeOf({ directory }: { readonly directory: string }): number {
  return readdirSync(directory).reduce((sum, file) => sum + statSync(join(directory, file)).size, 0)
}

function throughProxy(value: string, endpoint: string): string {
  return URL.canParse(value) ? new URL(new URL(value).pathname, endpoint).href : value
}

/** dynalite answers in this process, so that what its requests write is heard. */
function inProcess(transport: Transport): Answering {
  return async ({ method = 'POST', url: path = '/', headers }, body) => {
    const { response } = await transport.handle({ method, path, headers: headers as Record<string, string>, body })
    return { status: response.statusCode, headers: response.headers, body: response.body }
  }
}

/** Of EventBridge: takes every event. */
const accepting: Answering = async (_request, body) => {
  const { Entries } = JSON.parse(body.toString()) as { readonly Entries: readonly unknown[] }
  const accepted = { FailedEntryCount: 0, Entries: Entries.map(() => ({ EventId: 'taken' })) }
  return {
    status: 200,
    headers: { 'content-type': 'application/x-amz-json-1.1' },
    body: Buffer.from(JSON.stringify(accepted)),
  }
}

/** Of CloudFormation: every stack is being updated. */
const updating: Answering = async () => ({
  status: 200,
  headers: { 'content-type': 'text/xml' },
  body: Buffer.from(stacksXml('UPDATE_IN_PROGRESS')),
})

/** As API Gateway hands it on after the authorizer has allowed it. */
export function proxyEvent(httpMethod: string, target: string, body?: object, group = 'system:masters'): object {
  const { pathname, searchParams } = new URL(target, 'https://api.example')
  const several = [...searchParams.keys()].map((name) => [name, searchParams.getAll(name)])
  const type = httpMethod === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  const headers = { 'content-type': type, accept: 'application/json' }
  return {
    resource: '/{proxy+}',
    httpMethod,
    path: pathname,
    headers,
    multiValueHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
    queryStringParameters: Object.fromEntries(searchParams),
    multiValueQueryStringParameters: Object.fromEntries(several),
    requestContext: { authorizer: { principal: 'somebody', groups: JSON.stringify([group, 'system:authenticated']) } },
    body: body === undefined ? null : Buffer.from(JSON.stringify(body)).toString('base64'),
    isBase64Encoded: body !== undefined,
  }
}

interface AsSent {
  readonly method: string
  readonly path: string
  readonly sent: object | undefined
}

/** The same, with what the authorizer said, and the header that it judged. */
function eventAs(Authorization: string, authorizer: object, { method, path, sent }: AsSent): object {
  const event = proxyEvent(method, path, sent) as { readonly headers: object }
  return { ...event, headers: { ...event.headers, Authorization }, requestContext: { authorizer } }
}

/**
 * Bundling takes seconds: stages with the same properties share their code, which nothing writes into. It goes with
 * this process.
 */
function bundle(props: Partial<ControlPlaneProps>): Synthesized {
  const text = JSON.stringify(props)
  const made = bundled.get(text) ?? synthesize(temporaryDirectory('stage').path, props)
  bundled.set(text, made)
  return made
}

const bundled = new Map<string, Synthesized>()
