import { ScanCommand } from '@aws-sdk/client-dynamodb'
import { DeleteMessageCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs'
import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { createDynamodbClient } from '../../shared/adapters/aws/dynamodb/dynamodb-client.ts'
import { relayedWrites } from '../../shared/adapters/aws/dynamodb/dynamodb-stream.ts'
import { startFunction, streamedReply, type FunctionProcess } from '../infra/lambda/function-process.ts'
import { recordOf } from '../infra/lambda/mappings.ts'
import { plainClient } from '../infra/lambda/runtime-clients.ts'
import { shelf } from '../infra/lambda/script.ts'
import { proxyEvent, tickEvent } from '../infra/lambda/stage.ts'
import { testCredentials } from '../../shared/testing-aws/dynalite.ts'
import { startProgram, type Program } from '../support/program.ts'
import { sqsClient } from '../support/sqs-queue.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { onPeer } from './endpoints.ts'
import { disable, functionsIn, integrationsIn, mappingsIn, type DeployedFunction } from './moto-lambda.ts'
import { moto } from './moto.ts'

/**
 * The stack of the fixtures, deployed by the real CDK command line into moto's CloudFormation, used as it was deployed,
 * and destroyed. moto starts no functions here: their bundles run in processes, with the variables that CloudFormation
 * gave them, and what their mappings name is handed to them.
 */
const { skip, meta, endpoint } = onPeer(moto)
const output = temporaryDirectory('deployed')
afterAll(() => output[Symbol.dispose]())

const environment = {
  AWS_ENDPOINT_URL: endpoint,
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
  AWS_REGION: 'us-east-1',
  CDK_DISABLE_CLI_TELEMETRY: 'true',
}
// moto finds a template by its URL only where that says `localhost`: so the bucket has it in its name.
const qualifier = ['--context', '@aws-cdk/core:bootstrapQualifier=localhost']
const app = ['--app', `${process.execPath} test/infra/fixtures/moto-app.ts`, '--output', output.path]

function cdk(args: readonly string[], cwd = '.'): Promise<Program> {
  const command = [
    resolve('node_modules/aws-cdk/bin/cdk'),
    ...args,
    '--no-notices',
    '--no-version-reporting',
    ...qualifier,
  ]
  return startProgram(process.execPath, command, { env: environment, cwd })
}

async function done(program: Program): Promise<string> {
  const { code, stdout, stderr } = await program.ended
  if (code !== 0) throw new Error(`cdk ended with ${code}: ${(stdout + stderr).slice(-2_000)}`)
  return stdout + stderr
}

/** The bundle of a function, by its description: names are CloudFormation's. */
function directoryOf({ Description }: DeployedFunction): string {
  const found = Object.values(synthesized()).find(({ Properties }) => Properties?.Description === Description)
  return join(output.path, `asset.${found?.Properties?.Code?.S3Key.replace(/\.zip$/, '') ?? ''}`)
}

interface Synthesized {
  readonly Type: string
  readonly Properties?: { readonly Description?: string; readonly Code?: { readonly S3Key: string } }
}

function start(one: DeployedFunction): Promise<FunctionProcess> {
  const variables = Object.entries(one.Environment.Variables)
  // The SDK goes to the host of a queue's URL, and that one would be AWS's.
  const here = variables.map(([name, value]) => [
    name,
    value.replaceAll(/https:\/\/sqs\.[\w-]+\.amazonaws\.com/g, endpoint),
  ])
  return startFunction({
    client: plainClient,
    directory: directoryOf(one),
    environment: { ...Object.fromEntries(here), ...environment },
    timeoutMs: one.Timeout * 1_000,
  })
}

/**
 * CloudFormation waits for the function behind the custom resource, which moto cannot run: it is run here, and answers
 * moto.
 */
async function answerCustomResource(functions: readonly DeployedFunction[]): Promise<void> {
  const removal = functions.find(({ Description }) => Description.includes('whether controllers may go'))
  if (removal === undefined) throw new Error('no function answers for the controllers')
  await using running = await start(removal)
  const stack = await stackId()
  const { error } = await running.invoke({
    RequestType: 'Create',
    ResponseURL: new URL(`/cloudformation_us-east-1/cfnresponse?stack=${stack}`, endpoint).href,
    StackId: stack,
    RequestId: 'request',
    LogicalResourceId: customResourceId(),
    ResourceProperties: { controllers: [] },
  })
  expect(error).toBeUndefined()
}

function customResourceId(): string {
  return Object.entries(synthesized()).find(([, { Type }]) => Type === 'Custom::SetpointControllers')?.[0] ?? ''
}

function synthesized(): Readonly<Record<string, Synthesized>> {
  const [file = ''] = globSync(join(output.path, '*.template.json'))
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly Resources: Record<string, Synthesized> }).Resources
}

async function stackId(): Promise<string> {
  return /<StackId>([^<]+)</.exec(await askCloudFormation('DescribeStacks'))?.[1] ?? ''
}

/** The types of which moto has made resources. */
async function madeTypes(): Promise<ReadonlySet<string>> {
  const answer = await askCloudFormation('ListStackResources')
  return new Set([...answer.matchAll(/<ResourceType>([^<]+)</g)].map(([, type = '']) => type))
}

async function askCloudFormation(Action: string): Promise<string> {
  const credential = 'test/20260101/us-east-1/cloudformation/aws4_request'
  const Authorization = `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=host, Signature=none`
  const body = new URLSearchParams({ Action, Version: '2010-05-15', StackName: 'Wire' })
  return (await fetch(endpoint, { method: 'POST', body, headers: { Authorization } })).text()
}

async function untilDeployed(): Promise<readonly DeployedFunction[]> {
  for (;;) {
    const functions = await functionsIn(endpoint).catch(() => [])
    if (functions.length === 9 && (await mappingsIn(endpoint)).length === 5) return functions
    await setTimeout(500)
  }
}

interface Running {
  readonly functions: ReadonlyMap<string, FunctionProcess>
  readonly mappings: Awaited<ReturnType<typeof mappingsIn>>
}

const sqs = sqsClient(endpoint)
const dynamodb = createDynamodbClient({ endpoint, region: 'us-east-1', credentials: testCredentials })

/** What waits in the queue or stream of a mapping, handed to its function. */
async function handOn({ functions, mappings }: Running, seen: Map<string, Image>): Promise<number> {
  let handed = 0
  for (const { EventSourceArn, FunctionArn } of mappings) {
    const worker = functions.get(FunctionArn)
    const isStream = EventSourceArn.includes(':dynamodb:')
    const batch = isStream ? await recordsOf(EventSourceArn, seen) : await messagesOf(EventSourceArn)
    if (batch.length === 0 || worker === undefined) continue
    handed += batch.length
    const { body, error } = await worker.invoke({ Records: batch })
    if (error !== undefined || body.toString() !== '{"batchItemFailures":[]}') throw new Error(body + worker.log)
    if (!isStream) await deleteAll(EventSourceArn, batch)
  }
  return handed
}

/**
 * moto hands the records of a stream to a container and forgets them, whether there is one or not: so what changed is
 * looked up.
 */
async function recordsOf(streamArn: string, seen: Map<string, Image>): Promise<readonly object[]> {
  const [, TableName = ''] = /:table\/([^/]+)\//.exec(streamArn) ?? []
  const { Items = [] } = await dynamodb.send(new ScanCommand({ TableName, ConsistentRead: true }))
  return Items.flatMap((NewImage) => {
    const id = JSON.stringify([NewImage['pk'], NewImage['sk']])
    const OldImage = seen.get(id)
    seen.set(id, NewImage)
    if (isDeepStrictEqual(OldImage, NewImage) || !isRelayed(NewImage)) return []
    const eventName = OldImage === undefined ? 'INSERT' : 'MODIFY'
    const images = { NewImage: asRecorded(NewImage), OldImage: OldImage && asRecorded(OldImage) }
    return [{ eventName, dynamodb: { ...images, SequenceNumber: id } }]
  })
}

type Image = Readonly<Record<string, { readonly S?: string | undefined; readonly B?: Uint8Array | undefined }>>

/** As Lambda gives it to a function: bytes in base 64. */
function asRecorded(image: Image): object {
  const attributes = Object.entries(image).map(([name, value]) => [
    name,
    value.B === undefined ? value : { B: Buffer.from(value.B).toString('base64') },
  ])
  return Object.fromEntries(attributes)
}

function isRelayed({ touched }: Image): boolean {
  return relayedWrites.dynamodb.NewImage.touched.S.some(({ prefix }) => touched?.S?.startsWith(prefix))
}

function queueUrl(arn: string): string {
  return new URL(`/123456789012/${arn.split(':').at(-1) ?? ''}`, endpoint).href
}

async function messagesOf(arn: string): Promise<readonly object[]> {
  const receive = { QueueUrl: queueUrl(arn), MaxNumberOfMessages: 10, MessageSystemAttributeNames: ['All' as const] }
  const { Messages = [] } = await sqs.send(new ReceiveMessageCommand(receive))
  return Messages.map((message) => recordOf(message, arn))
}

async function deleteAll(arn: string, batch: readonly object[]): Promise<void> {
  for (const { receiptHandle } of batch as readonly { readonly receiptHandle: string }[])
    await sqs.send(new DeleteMessageCommand({ QueueUrl: queueUrl(arn), ReceiptHandle: receiptHandle }))
}

/**
 * What moto's CloudFormation leaves out, as docs/aws.md says, too. Alarms are left out before, because the dashboard
 * names them.
 */
const unknownToMoto = [
  'AWS::ApiGateway::Account',
  'AWS::ApiGateway::Authorizer',
  'AWS::ApiGateway::GatewayResponse',
  'AWS::ApiGateway::Stage',
  'AWS::Lambda::EventInvokeConfig',
  'AWS::SNS::TopicPolicy',
  'AWS::SQS::QueuePolicy',
  'AWS::XRay::SamplingRule',
]

describe.skipIf(skip)('cdk deploy into moto', { meta: { skipped: meta.skipped } }, () => {
  it('bootstraps, deploys, reconciles what is applied through the deployed API, and destroys', async () => {
    // Elsewhere, or it would synthesize the app of the tree first.
    await done(await cdk(['bootstrap', 'aws://123456789012/us-east-1', '--qualifier', 'localhost'], output.path))
    // moto makes the resources of a change set twice.
    const deploying = await cdk(['deploy', '--method', 'direct', '--require-approval', 'never', ...app])
    const deployed = await Promise.race([untilDeployed(), done(deploying).then(() => functionsIn(endpoint))])
    await answerCustomResource(deployed)
    expect(await done(deploying)).toContain('✅')

    const made = await madeTypes()
    const types = new Set(Object.values(synthesized()).map(({ Type }) => Type))
    expect([...types].filter((type) => !made.has(type)).sort()).toEqual(unknownToMoto)

    const mappings = await mappingsIn(endpoint)
    for (const mapping of mappings) await disable(endpoint, mapping)
    await using stopping = new AsyncDisposableStack()
    const started = await Promise.all(
      deployed.map(async (one) => [one.FunctionArn, stopping.use(await start(one))] as const),
    )
    const running = { functions: new Map(started), mappings }
    const seen = new Map<string, Image>()
    const settle = async (): Promise<void> => {
      while ((await handOn(running, seen)) > 0);
    }
    const [integration = ''] = await integrationsIn(endpoint)
    const api = running.functions.get(integration)
    const resync = running.functions.get(
      deployed.find(({ Description }) => /tick/.test(Description))?.FunctionArn ?? '',
    )

    expect((await resync?.invoke(tickEvent()))?.error).toBeUndefined()
    await settle()
    const path = '/apis/example.dev/v1/namespaces/default/shelves'
    const applied = await api?.invoke(proxyEvent('POST', path, shelf('first', { books: 3 })))
    expect(applied && streamedReply(applied).status).toBe(201)
    await settle()
    const read = await api?.invoke(proxyEvent('GET', `${path}/first`))
    expect(JSON.parse((read && streamedReply(read).text) ?? '')).toMatchObject({
      status: { books: 3, conditions: [{ type: 'Ready', status: 'True' }] },
    })

    expect(await done(await cdk(['destroy', '--force', ...app]))).toContain('✅')
    expect(await functionsIn(endpoint)).toEqual([])
  })
})
