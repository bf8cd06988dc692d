import { amountText, moneyText } from './bill-text.ts'
import { SetpointStack } from '../../infra/setpoint-stack.ts'
import { templateOf, unbundledApp } from '../infra/synthesized.ts'
import { assumed, totalOf, type Bill, type Line } from './bill.ts'
import { measureTick, type IdleTick } from './measure.ts'

/** Of the stack of `cdk deploy`, with all that comes with the project. */
export async function shippedIdleBill(): Promise<Bill> {
  const stack = new SetpointStack(unbundledApp(), 'Setpoint', {
    adminPrincipals: ['arn:aws:iam::123456789012:role/Admin'],
    issuers: [],
    disposable: false,
  })
  const { Resources: resources } = templateOf(stack).toJSON() as { readonly Resources: Resources }
  return idleBill(resources, await measureTick(stack.controlPlane.reconcilers.length))
}

/** As a template has it. */
export interface Resource {
  readonly Type: string
  readonly Properties?: Readonly<Record<string, unknown>>
}

export type Resources = Readonly<Record<string, Resource>>

/** What the resources of a template cost in a month in which nothing happens but the tick. */
export function idleBill(resources: Resources, tick: IdleTick): Bill {
  const all = { resources, tick }
  return totalOf(together(Object.values(resources).flatMap((resource) => costOf(resource, all))))
}

interface All {
  readonly resources: Resources
  readonly tick: IdleTick
}

type CostOf = (resource: Resource, all: All) => readonly Line[]

function costOf(resource: Resource, all: All): readonly Line[] {
  const cost = costs[resource.Type]
  if (cost === undefined)
    throw new Error(`${resource.Type} has no price at rest: say in test/cost/idle.ts what it costs`)
  return cost(resource, all)
}

const minutes = assumed.daysPerMonth * 24 * 60
const pollsOfMinute = 3

/** Costs by what is asked of it, or written into it: nothing, at rest. */
const byUse: CostOf = () => []
/** Costs nothing in any case. */
const nothing: CostOf = () => []

const costs: Readonly<Record<string, CostOf>> = {
  'AWS::ApiGateway::Account': nothing,
  'AWS::ApiGateway::Authorizer': byUse,
  'AWS::ApiGateway::Deployment': nothing,
  'AWS::ApiGateway::GatewayResponse': nothing,
  'AWS::ApiGateway::Method': byUse,
  'AWS::ApiGateway::Resource': nothing,
  'AWS::ApiGateway::RestApi': byUse,
  'AWS::ApiGateway::Stage': withoutCache,
  'AWS::CloudWatch::Alarm': (alarm) => [line('alarms, by the metrics they look at', 'alarm', metricsOf(alarm))],
  'AWS::CloudWatch::Dashboard': () => [line('dashboards', 'dashboard', 1)],
  // For functions it costs nothing.
  'AWS::CodeDeploy::Application': nothing,
  'AWS::CodeDeploy::DeploymentGroup': nothing,
  'AWS::DynamoDB::Table': onDemand,
  'AWS::Events::EventBus': byUse,
  'AWS::Events::Rule': ruleCost,
  'AWS::IAM::Policy': nothing,
  'AWS::IAM::Role': nothing,
  'AWS::KMS::Key': () => [line('keys', 'key', 1)],
  'AWS::Lambda::Alias': withoutReserve,
  'AWS::Lambda::EventInvokeConfig': nothing,
  'AWS::Lambda::EventSourceMapping': mappingCost,
  'AWS::Lambda::Function': withoutReserve,
  'AWS::Lambda::Permission': nothing,
  // Its code is stored, of which 75 GB are free.
  'AWS::Lambda::Version': withoutReserve,
  'AWS::Logs::LogGroup': byUse,
  'AWS::S3::Bucket': byUse,
  'AWS::S3::BucketPolicy': nothing,
  'AWS::SNS::Topic': byUse,
  'AWS::SNS::TopicPolicy': nothing,
  'AWS::SQS::Queue': byUse,
  'AWS::SQS::QueuePolicy': nothing,
  'AWS::XRay::SamplingRule': nothing,
  // It runs while a stack is deployed.
  'Custom::SetpointControllers': byUse,
}

function metricsOf({ Properties: { Metrics = [{ MetricStat: {} }] } = {} }: Resource): number {
  return (Metrics as readonly object[]).filter((one) => 'MetricStat' in one).length
}

function withoutCache({ Properties }: Resource): readonly Line[] {
  const text = JSON.stringify(Properties)
  if (/"(CacheClusterEnabled|MetricsEnabled)":true/.test(text))
    throw new Error('a cache, and metrics of single methods, have no price at rest in test/cost/idle.ts')
  return []
}

function onDemand({ Properties }: Resource): readonly Line[] {
  if (Properties?.['BillingMode'] !== 'PAY_PER_REQUEST')
    throw new Error('capacity that is provisioned has no price here')
  return []
}

function withoutReserve({ Properties }: Resource): readonly Line[] {
  if (Properties?.['ProvisionedConcurrencyConfig'] !== undefined)
    throw new Error('provisioned concurrency has no price here')
  return []
}

/** Lambda asks an empty queue three times a minute with each poller: with a limit on its concurrency, five of them. */
function mappingCost({ Properties = {} }: Resource, { resources }: All): readonly Line[] {
  if (Properties['ProvisionedPollerConfig'] !== undefined) throw new Error('provisioned pollers have no price here')
  const { 'Fn::GetAtt': [source = ''] = [] } = Properties['EventSourceArn'] as {
    readonly 'Fn::GetAtt'?: readonly string[]
  }
  if (resources[source]?.Type === 'AWS::DynamoDB::Table') return []
  const pollers = Properties['ScalingConfig'] === undefined ? 2 : 5
  return [line('polls of empty queues', 'queueRequest', pollers * pollsOfMinute * minutes)]
}

/** The tick is the only rule. */
function ruleCost({ Properties = {} }: Resource, { resources, tick }: All): readonly Line[] {
  if (Properties['ScheduleExpression'] !== 'rate(1 minute)') throw new Error('a rule that is no tick has no price here')
  const [{ Arn }] = Properties['Targets'] as readonly [{ readonly Arn: { readonly 'Fn::GetAtt': readonly string[] } }]
  const worker = resources[Arn['Fn::GetAtt'][0] ?? '']?.Properties ?? {}
  const gb = Number(worker['MemorySize'] ?? 128) / 1_024
  const isTraced = (worker['TracingConfig'] as { readonly Mode?: string } | undefined)?.Mode === 'Active'
  const queues = Object.values(resources).filter(({ Properties: of }) => of?.['RedrivePolicy'] !== undefined)
  return [
    line('ticks: invocations', 'invocation', minutes),
    line('ticks: time', 'gbSecond', (minutes * assumed.tickMs * gb) / 1_000),
    line('ticks: reads of the table', 'readUnit', minutes * tick.readUnits),
    line('ticks: writes of the table', 'writeUnit', minutes * tick.writeUnits),
    line('ticks: how long the queues are', 'queueRequest', minutes * queues.length),
    line('ticks: log', 'logGb', (minutes * (tick.logBytes + assumed.platformLogBytes)) / 1e9),
    line('ticks: metrics of our own', 'metric', tick.series),
    line('ticks: traces', 'trace', isTraced ? minutes : 0),
  ]
}

function line(what: string, billed: Line['billed'], amount: number): Line {
  return { what, billed, amount }
}

/** One line for all that is of one name. */
function together(lines: readonly Line[]): readonly Line[] {
  const some = Map.groupBy(lines, ({ what }) => what)
  return [...some.values()]
    .map((same) => ({ ...(same[0] as Line), amount: same.reduce((sum, { amount }) => sum + amount, 0) }))
    .filter(({ amount }) => amount > 0)
}

/** For docs/aws.md. */
export function idleTable({ lines, usd, usdWithFreeTier }: Bill): string {
  const rows = lines.map(({ what, amount, usd: of }) => `| ${what} | ${amountText(amount)} | ${moneyText(of)} |`)
  return [
    '| at rest, a month | how many | list price |',
    '| --- | --- | --- |',
    ...rows,
    `| in all | | ${moneyText(usd)} |`,
    `| with the free tier of the account | | ${moneyText(usdWithFreeTier)} |`,
  ].join('\n')
}
