import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
} from '@aws-sdk/client-dynamodb-streams'
import { DeleteMessageCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs'
import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { relayedWrites } from '../../shared/adapters/aws/dynamodb-stream.ts'
import { startFunction, streamedReply, type FunctionProcess } from '../infra/lambda/function-process.ts'
import { recordOf } from '../infra/lambda/mappings.ts'
import { plainClient } from '../infra/lambda/runtime-clients.ts'
import { shelf, tick } from '../infra/lambda/script.ts'
import { proxyEvent } from '../infra/lambda/stage.ts'
import { startProgram, type Program } from '../support/program.ts'
import { sqsClient } from '../support/sqs-queue.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { onPeer } from './endpoints.ts'
import { disable, functionsIn, integrationsIn, mappingsIn, type DeployedFunction } from './moto-lambda.ts'
import { moto } from './moto.ts'

/**
 * The stack of the fixtures, deployed by the real CDK command line into moto's CloudFormation, used as it was deployed, and destroyed. moto
 * starts no functions here: their bundles run in processes, with the variables that CloudFormation gave them, and what their mappings
 * name is handed to them.
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
  const [file = ''] = globSync(join(output.path, '*.template.json'))
  const { Resources } = JSON.parse(readFileSync(file, 'utf8')) as { readonly Resources: Record<string, Synthesized> }
  const found = Object.values(Resources).find(({ Properties }) => Properties.Description === Description)
  return join(output.path, `asset.${found?.Properties.Code?.S3Key.replace(/\.zip$/, '') ?? ''}`)
}

interface Synthesized {
  readonly Properties: { readonly Description?: string; readonly Code?: { readonly S3Key: string } }
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

/** CloudFormation waits for the function behind the custom resource, which moto cannot run: it is run here, and answers moto. */
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
  const [file = ''] = globSync(join(output.path, '*.template.json'))
  const { Resources } = JSON.parse(readFileSync(file, 'utf8')) as {
    readonly Resources: Record<string, { Type: string }>
  }
  return Object.entries(Resources).find(([, { Type }]) => Type === 'Custom::SetpointControllers')?.[0] ?? ''
}

async function stackId(): Promise<string> {
  const body = new URLSearchParams({ Action: 'DescribeStacks', Version: '2010-05-15', StackName: 'Wire' })
  const credential = 'test/20260101/us-east-1/cloudformation/aws4_request'
  const Authorization = `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=host, Signature=none`
  const response = await fetch(endpoint, { method: 'POST', body, headers: { Authorization } })
  return /<StackId>([^<]+)</.exec(await response.text())?.[1] ?? ''
}

async function untilDeployed(): Promise<readonly DeployedFunction[]> {
  for (;;) {
    const functions = await functionsIn(endpoint).catch(() => [])
    if (functions.length === 9 && (await mappingsIn(endpoint)).length === 7) return functions
    await setTimeout(500)
  }
}

interface Running {
  readonly functions: ReadonlyMap<string, FunctionProcess>
  readonly mappings: Awaited<ReturnType<typeof mappingsIn>>
}

const sqs = sqsClient(endpoint)
const streams = new DynamoDBStreamsClient({
  endpoint,
  region: 'us-east-1',
  credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
})

/** What waits in the queue or stream of a mapping, handed to its function. */
async function handOn({ functions, mappings }: Running, seen: Set<string>): Promise<number> {
  let handed = 0
  for (const { EventSourceArn, FunctionArn } of mappings) {
    const worker = functions.get(FunctionArn)
    const isStream = EventSourceArn.includes(':dynamodb:')
    const batch = isStream ? await recordsOf(EventSourceArn, seen) : await messagesOf(EventSourceArn)
    if (batch.length === 0 || worker === undefined) continue
    handed += batch.length
    const { body, error } = await worker.invoke({ Records: batch })
    expect(error, worker.log).toBeUndefined()
    expect(JSON.parse(body.toString()), worker.log).toEqual({ batchItemFailures: [] })
    if (!isStream) await deleteAll(EventSourceArn, batch)
  }
  return handed
}

async function recordsOf(StreamArn: string, seen: Set<string>): Promise<readonly object[]> {
  const { StreamDescription } = await streams.send(new DescribeStreamCommand({ StreamArn }))
  const ShardId = StreamDescription?.Shards?.[0]?.ShardId
  const first = { StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' as const }
  const { ShardIterator } = await streams.send(new GetShardIteratorCommand(first))
  const { Records = [] } = await streams.send(new GetRecordsCommand({ ShardIterator }))
  const fresh = Records.filter(({ dynamodb }) => !seen.has(dynamodb?.SequenceNumber ?? ''))
  for (const { dynamodb } of fresh) seen.add(dynamodb?.SequenceNumber ?? '')
  return fresh.filter(({ dynamodb }) => {
    const touched = dynamodb?.NewImage?.['touched']?.S ?? ''
    return relayedWrites.dynamodb.NewImage.touched.S.some(({ prefix }) => touched.startsWith(prefix))
  })
}

function queueUrl(arn: string): string {
  return new URL(`/123456789012/${arn.split(':').at(-1) ?? ''}`, endpoint).href
}

async function messagesOf(arn: string): Promise<readonly object[]> {
  const receive = { QueueUrl: queueUrl(arn), MaxNumberOfMessages: 10, MessageSystemAttributeNames: ['All' as const] }
  return ((await sqs.send(new ReceiveMessageCommand(receive))).Messages ?? []).map(recordOf)
}

async function deleteAll(arn: string, batch: readonly object[]): Promise<void> {
  for (const { receiptHandle } of batch as readonly { readonly receiptHandle: string }[])
    await sqs.send(new DeleteMessageCommand({ QueueUrl: queueUrl(arn), ReceiptHandle: receiptHandle }))
}

describe.skipIf(skip)('cdk deploy into moto', { meta, timeout: 300_000 }, () => {
  it('bootstraps, deploys, reconciles what is applied through the deployed API, and destroys', async () => {
    // Elsewhere, or it would synthesize the app of the tree first.
    await done(await cdk(['bootstrap', 'aws://123456789012/us-east-1', '--qualifier', 'localhost'], output.path))
    const deploying = await cdk(['deploy', '--require-approval', 'never', ...app])
    const deployed = await Promise.race([untilDeployed(), done(deploying).then(() => functionsIn(endpoint))])
    await answerCustomResource(deployed)
    expect(await done(deploying)).toContain('✅')

    const mappings = await mappingsIn(endpoint)
    for (const mapping of mappings) await disable(endpoint, mapping)
    await using stopping = new AsyncDisposableStack()
    const started = await Promise.all(
      deployed.map(async (one) => [one.FunctionArn, stopping.use(await start(one))] as const),
    )
    const running = { functions: new Map(started), mappings }
    const seen = new Set<string>()
    const settle = async (): Promise<void> => {
      while ((await handOn(running, seen)) > 0);
    }
    const [integration = ''] = await integrationsIn(endpoint)
    const api = running.functions.get(integration)
    const resync = running.functions.get(
      deployed.find(({ Description }) => /tick/.test(Description))?.FunctionArn ?? '',
    )

    expect((await resync?.invoke(tick()))?.error).toBeUndefined()
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
