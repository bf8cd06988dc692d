/**
 * What the emulator has to be spared of a template. Each is a small change with its reason, and a probe that finds out
 * whether the emulator still needs it: one that is needed no longer fails `npm run deployed`.
 */
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { get } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { runProgram } from '../support/program.ts'
import { aws, createPerson, runAws, type Account } from './account.ts'
import { awsCommand } from './ministack.ts'
import { expect, step } from './steps.ts'

export interface Template {
  readonly Resources: Readonly<Record<string, Resource>>
  readonly Outputs?: Readonly<Record<string, unknown>>
}

interface Resource {
  readonly Type: string
  readonly DependsOn?: string | readonly string[]
  readonly Properties?: Readonly<Record<string, unknown>>
}

export interface Adaptation {
  readonly name: string
  readonly reason: string
  adapt(template: Template): Template
  /** Whether the emulator fails without it. */
  isNeeded(account: Account): Promise<boolean>
}

/** Without the resources that it is true of, and all that names one of them. */
function without(template: Template, isDropped: (resource: Resource) => boolean): Template {
  const dropped = Object.entries(template.Resources).flatMap(([id, resource]) => (isDropped(resource) ? [id] : []))
  const names = (value: unknown): boolean => dropped.some((id) => JSON.stringify(value ?? '').includes(`"${id}"`))
  const kept = Object.entries(template.Resources)
    .filter(([id, { Properties }]) => !dropped.includes(id) && !names(Properties))
    .map(([id, resource]) => [id, { ...resource, ...dependsOn(resource, dropped) }] as const)
  const gone = Object.keys(template.Resources).filter((id) => !kept.some(([one]) => one === id))
  if (gone.length > dropped.length) return without(template, (one) => gone.some((id) => template.Resources[id] === one))
  const outputs = Object.entries(template.Outputs ?? {}).filter(([, output]) => !names(output))
  return { ...template, Resources: Object.fromEntries(kept), Outputs: Object.fromEntries(outputs) }
}

function dependsOn({ DependsOn }: Resource, dropped: readonly string[]): Pick<Resource, 'DependsOn'> {
  if (DependsOn === undefined) return {}
  return { DependsOn: [DependsOn].flat().filter((id) => !dropped.includes(id)) }
}

/** The same template with some texts replaced. */
function replaced(template: Template, texts: Readonly<Record<string, string>>): Template {
  let text = JSON.stringify(template)
  for (const [from, to] of Object.entries(texts)) text = text.replaceAll(from, to)
  return JSON.parse(text) as Template
}

const withoutSampling: Adaptation = {
  name: 'withoutSampling',
  reason: 'MiniStack has no X-Ray, and so no rules for it.',
  adapt: (template) => without(template, ({ Type }) => Type === samplingRule),
  isNeeded: async (account) => {
    const everything = {
      Host: '*',
      HTTPMethod: '*',
      URLPath: '*',
      ResourceARN: '*',
      ServiceName: '*',
      ServiceType: '*',
    }
    const SamplingRule = { ...everything, RuleName: 'probe', FixedRate: 0, ReservoirSize: 0, Priority: 1, Version: 1 }
    return !(await isMade(account, 'ProbeSampling', { Rule: { Type: samplingRule, Properties: { SamplingRule } } }))
  },
}

const samplingRule = 'AWS::XRay::SamplingRule'

/** Whether a stack with these resources is made. It is gone afterwards. */
async function isMade(account: Account, name: string, resources: Template['Resources']): Promise<boolean> {
  return withStack(account, name, resources, (code) => Promise.resolve(code === 0))
}

/** What is found out while a stack with these resources is there: its code is zero if it was made. */
async function withStack<Found>(
  account: Account,
  name: string,
  Resources: Template['Resources'],
  look: (code: number | null) => Promise<Found>,
): Promise<Found> {
  const template = `--template-body=${JSON.stringify({ Resources })}`
  const begun = await runAws(account, ['cloudformation', 'create-stack', `--stack-name=${name}`, template])
  if (begun.code !== 0) return look(begun.code)
  const { code } = await runAws(account, ['cloudformation', 'wait', 'stack-create-complete', `--stack-name=${name}`])
  try {
    return await look(code)
  } finally {
    await aws(account, ['cloudformation', 'delete-stack', `--stack-name=${name}`])
  }
}

const bufferedApi: Adaptation = {
  name: 'bufferedApi',
  reason: 'The gateway of MiniStack finds no function in the address of an integration that streams.',
  adapt: (template) =>
    replaced(template, {
      '/2021-11-15/functions/': '/2015-03-31/functions/',
      '/response-streaming-invocations': '/invocations',
    }),
  isNeeded: async (account) => {
    const { Functions } = (await aws(account, ['lambda', 'list-functions'])) as {
      readonly Functions: readonly { readonly FunctionArn: string; readonly Description: string }[]
    }
    const { FunctionArn = '' } = Functions.find(({ Description }) => Description === 'Answers kubectl') ?? {}
    const { id, rootResourceId } = (await aws(account, ['apigateway', 'create-rest-api', '--name=probe'])) as {
      readonly id: string
      readonly rootResourceId: string
    }
    const method = [`--rest-api-id=${id}`, `--resource-id=${rootResourceId}`, '--http-method=GET']
    await aws(account, ['apigateway', 'put-method', ...method, '--authorization-type=NONE'])
    const path = `2021-11-15/functions/${FunctionArn}/response-streaming-invocations`
    const uri = `arn:aws:apigateway:us-east-1:lambda:path/${path}`
    const integration = ['--type=AWS_PROXY', '--integration-http-method=POST', `--uri=${uri}`]
    await aws(account, ['apigateway', 'put-integration', ...method, ...integration])
    await aws(account, ['apigateway', 'create-deployment', `--rest-api-id=${id}`, '--stage-name=v1'])
    const status = await statusOf(account, `/_aws/execute-api/${id}/v1/`)
    await aws(account, ['apigateway', 'delete-rest-api', `--rest-api-id=${id}`])
    // The function, if it is asked, refuses who has no token.
    return status !== 401
  },
}

async function statusOf({ ministack }: Account, path: string): Promise<number | undefined> {
  if (ministack === undefined) throw new Error('AWS itself needs no adaptation')
  const ca = readFileSync(ministack.authorityFile)
  const asking = get(`${ministack.endpoint}${path}`, { ca })
  const [{ statusCode }] = (await once(asking, 'response')) as [{ readonly statusCode?: number }]
  asking.destroy()
  return statusCode
}

const batchActions: Adaptation = {
  name: 'batchActions',
  reason: 'For the batch requests of SQS, MiniStack wants actions of their names; IAM has none such.',
  adapt: (template) => ({
    ...template,
    Resources: Object.fromEntries(
      Object.entries(template.Resources).map(([id, one]) => [
        id,
        one.Type === 'AWS::IAM::Policy' ? (withBatches(one) as Resource) : one,
      ]),
    ),
  }),
  isNeeded: async (account) => {
    const sender = await createPerson(account, 'ProbeSender', { Action: 'sqs:SendMessage', Resource: '*' })
    const { QueueUrl } = (await aws(account, ['sqs', 'create-queue', '--queue-name=probe'])) as {
      readonly QueueUrl: string
    }
    const batch = [`--queue-url=${QueueUrl}`, `--entries=${JSON.stringify([{ Id: 'one', MessageBody: 'one' }])}`]
    const { code } = await runAws(account, ['sqs', 'send-message-batch', ...batch], sender)
    await aws(account, ['sqs', 'delete-queue', `--queue-url=${QueueUrl}`])
    return code !== 0
  },
}

const batched = ['sqs:SendMessage', 'sqs:DeleteMessage', 'sqs:ChangeMessageVisibility']

/** With the action of the batch beside each of a single message. */
function withBatches(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withBatches)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, one]: readonly [string, unknown]) => [
    key,
    key === 'Action'
      ? [one as string | readonly string[]]
          .flat()
          .flatMap((name) => (batched.includes(name) ? [name, `${name}Batch`] : name))
      : withBatches(one),
  ])
  return Object.fromEntries(entries) as unknown
}

const ownAuthority: Adaptation = {
  name: 'ownAuthority',
  reason:
    'Functions that ask RDS trust the authorities in a file that Lambda has. Here is no such file, and the authority of MiniStack stands in the environment.',
  adapt: (template) => withoutVariable(template, 'NODE_EXTRA_CA_CERTS') as Template,
  isNeeded: () => Promise.resolve(!existsSync('/var/runtime/ca-cert.pem')),
}

function withoutVariable(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return value.map((one) => withoutVariable(one, name))
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(([key]) => key !== name)
  return Object.fromEntries(kept.map(([key, one]: readonly [string, unknown]) => [key, withoutVariable(one, name)]))
}

const inLambda: Adaptation = {
  name: 'in-lambda.ts',
  reason: 'The runtime of MiniStack has no awslambda, by which functions answer in streams.',
  adapt: (template) => template,
  isNeeded: async () => {
    const script = 'import inspect, ministack.core.lambda_runtime as one; print(inspect.getsource(one))'
    const { stdout } = await runProgram(awsCommand[0], ['-c', script])
    return stdout.includes('handlerFn(event') && !stdout.includes('awslambda')
  },
}

/**
 * Longer than the shared function and the one of dead letters may take, as a queue must hide its messages. The function
 * of a Job takes longer, and its queue keeps what it has.
 */
const hiddenSeconds = 80

const shorterHiding: Adaptation = {
  name: 'shorterHiding',
  reason:
    'MiniStack kills a function that runs when its code or settings change, which AWS does not, and its messages come again when they are no longer hidden: after six timeouts.',
  adapt: (template) => ({
    ...template,
    Resources: Object.fromEntries(
      Object.entries(template.Resources).map(([id, one]) => [id, hidingShorter(one, slowest(template))]),
    ),
  }),
  isNeeded: async (account) => {
    const { FunctionName, probe } = slowFunction(account)
    return withStack(account, 'ProbeSlow', { Probe: probe }, async () => {
      const invoke = (ms: number) =>
        aws(account, ['lambda', 'invoke', `--function-name=${FunctionName}`, `--payload={"ms":${ms}}`, '/dev/null'])
      await invoke(0)
      const state = { isOver: false }
      const running = (invoke(slowMs) as Promise<{ readonly FunctionError?: string }>).finally(() => {
        state.isOver = true
      })
      for (let changes = 1; !state.isOver; changes++) {
        const change = [`--function-name=${FunctionName}`, `--timeout=${20 + (changes % 9)}`]
        await aws(account, ['lambda', 'update-function-configuration', ...change])
        await sleep(1_000)
      }
      return (await running).FunctionError !== undefined
    })
  },
}

/** So long that a change comes while it runs, on however slow a machine. */
const slowMs = 18_000

/** One of CloudFormation's that takes as long as it is told. */
function slowFunction({ adminArn: Role }: Account): { readonly FunctionName: string; readonly probe: Resource } {
  const FunctionName = 'ProbeSlow'
  const ZipFile = 'exports.handler = ({ ms }) => new Promise((done) => setTimeout(done, ms, "whole"))'
  const code = { Code: { ZipFile }, Handler: 'index.handler', Runtime: 'nodejs24.x', Timeout: 29 }
  return { FunctionName, probe: { Type: 'AWS::Lambda::Function', Properties: { FunctionName, Role, ...code } } }
}

/** The most seconds that a function may take which is fed from a queue that hides for six times as long. */
function slowest({ Resources }: Template): number {
  const all = Object.values(Resources).filter(({ Type }) => Type === 'AWS::Lambda::Function')
  const seconds = all.map(({ Properties }) => Number(Properties?.['Timeout'])).filter((one) => one < hiddenSeconds)
  return 6 * Math.max(...seconds)
}

function hidingShorter(one: Resource, most: number): Resource {
  const hidden = Number(one.Properties?.['VisibilityTimeout'])
  if (one.Type !== 'AWS::SQS::Queue' || !(hidden <= most)) return one
  return { ...one, Properties: { ...one.Properties, VisibilityTimeout: Math.min(hidden, hiddenSeconds) } }
}

export const adaptations: readonly Adaptation[] = [
  withoutSampling,
  bufferedApi,
  batchActions,
  ownAuthority,
  inLambda,
  shorterHiding,
]

/** While the stack of the project is there. */
export async function checkAdaptations(account: Account): Promise<void> {
  const checks = adaptations.map(({ name, reason, isNeeded }) =>
    step(`still needs ${name}: ${reason}`, async () => {
      expect(await isNeeded(account), `MiniStack does not need ${name} any more: drop it`)
    }),
  )
  // Each to its end: what a probe makes it takes away.
  await Promise.allSettled(checks)
  await Promise.all(checks)
}
