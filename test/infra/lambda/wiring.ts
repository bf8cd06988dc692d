/**
 * What stands between the functions of a template: queues, mappings, schedules, and the gateway. It is read, so that
 * what is run here is what is deployed.
 */
export interface Wiring {
  /** By logical id, those that others name first. */
  readonly queues: ReadonlyMap<string, WiredQueue>
  readonly mappings: readonly WiredMapping[]
  readonly schedules: readonly { readonly expression: string; readonly function: string; readonly input?: string }[]
  /** Logical ids of the functions that let in, and that answer. */
  readonly api: { readonly authorizer: string; readonly handler: string }
}

export interface WiredQueue {
  /** As SQS takes them when a queue is made, but for the one that names another queue. */
  readonly attributes: Readonly<Record<string, string>>
  readonly redrive?: { readonly queue: string; readonly receives: number }
}

export interface WiredMapping {
  /** Logical ids of a queue or of a table, and of a function. */
  readonly source: string
  readonly isStream: boolean
  readonly function: string
  readonly batchSize: number
  /** Batches at once, where there is a limit. */
  readonly concurrency?: number
  /** Patterns, one of which an event has to match; none: all come. */
  readonly filters: readonly unknown[]
  readonly reportsParts: boolean
}

export type Resources = Readonly<
  Record<
    string,
    {
      readonly Type: string
      readonly Properties?: Readonly<Record<string, unknown>>
      readonly UpdatePolicy?: Readonly<Record<string, unknown>>
    }
  >
>

export function wiringOf(resources: Resources): Wiring {
  const all = (type: string) => Object.entries(resources).filter(([, { Type }]) => Type === type)
  const queues = all('AWS::SQS::Queue').map(([id, { Properties }]) => [id, queueOf(Properties)] as const)
  return {
    queues: new Map(
      queues.toSorted(([, a], [, b]) => Number(a.redrive !== undefined) - Number(b.redrive !== undefined)),
    ),
    mappings: all('AWS::Lambda::EventSourceMapping').map(([, { Properties }]) => mappingOf(Properties, resources)),
    schedules: all('AWS::Events::Rule').flatMap(([, { Properties }]) => schedulesOf(Properties)),
    api: {
      authorizer: idIn(all('AWS::ApiGateway::Authorizer')[0]?.[1].Properties?.['AuthorizerUri']),
      handler: handlerOf(all('AWS::ApiGateway::Method').map(([, { Properties }]) => Properties)),
    },
  }
}

type Properties = Readonly<Record<string, unknown>> | undefined

/** Names of template and API are the same. */
const attributeNames = [
  'FifoQueue',
  'ContentBasedDeduplication',
  'DeduplicationScope',
  'FifoThroughputLimit',
  'VisibilityTimeout',
  'MessageRetentionPeriod',
]

function queueOf(properties: Properties = {}): WiredQueue {
  const given = attributeNames.filter((name) => properties[name] !== undefined)
  const attributes = Object.fromEntries(given.map((name) => [name, String(properties[name])]))
  const policy = properties['RedrivePolicy'] as
    | { readonly deadLetterTargetArn: unknown; readonly maxReceiveCount: number }
    | undefined
  if (policy === undefined) return { attributes }
  return { attributes, redrive: { queue: idIn(policy.deadLetterTargetArn), receives: policy.maxReceiveCount } }
}

interface MappingProperties {
  readonly EventSourceArn: unknown
  readonly FunctionName: unknown
  readonly BatchSize: number
  readonly ScalingConfig?: { readonly MaximumConcurrency: number }
  readonly FilterCriteria?: { readonly Filters: readonly { readonly Pattern: string }[] }
  readonly FunctionResponseTypes?: readonly string[]
}

function mappingOf(properties: Properties, resources: Resources): WiredMapping {
  const { EventSourceArn, FunctionName, BatchSize, ScalingConfig, FilterCriteria, FunctionResponseTypes } =
    properties as unknown as MappingProperties
  const source = idIn(EventSourceArn)
  return {
    source,
    isStream: resources[source]?.Type === 'AWS::DynamoDB::Table',
    function: functionIn(FunctionName, resources),
    batchSize: BatchSize,
    ...(ScalingConfig && { concurrency: ScalingConfig.MaximumConcurrency }),
    filters: (FilterCriteria?.Filters ?? []).map(({ Pattern }) => JSON.parse(Pattern) as unknown),
    reportsParts: FunctionResponseTypes?.includes('ReportBatchItemFailures') === true,
  }
}

/** Of an alias, the function that it is of. */
function functionIn(value: unknown, resources: Resources): string {
  const id = idIn(value)
  const named = resources[id]
  return named?.Type === 'AWS::Lambda::Alias' ? idIn(named.Properties?.['FunctionName']) : id
}

function schedulesOf(properties: Properties = {}): Wiring['schedules'] {
  const { ScheduleExpression: expression, Targets: targets = [] } = properties as {
    readonly ScheduleExpression?: string
    readonly Targets?: readonly { readonly Arn: unknown; readonly Input?: string }[]
  }
  if (expression === undefined) return []
  return targets.map(({ Arn, Input }) => ({
    expression,
    function: idIn(Arn),
    ...(Input !== undefined && { input: Input }),
  }))
}

/** All methods are answered by one function. */
function handlerOf(methods: readonly Properties[]): string {
  const uris = methods.map((properties) => (properties?.['Integration'] as { readonly Uri?: unknown } | undefined)?.Uri)
  const ids = new Set(uris.filter((uri) => uri !== undefined).map(idIn))
  const [id = '', ...others] = ids
  if (others.length > 0) throw new Error(`the methods of the API are answered by ${[...ids].join(' and ')}`)
  return id
}

/** The resource that a value names, which is the only one it does. */
function idIn(value: unknown): string {
  const { Ref: ref, 'Fn::GetAtt': attribute } = (value ?? {}) as {
    readonly Ref?: string
    readonly 'Fn::GetAtt'?: readonly string[]
  }
  if (ref !== undefined) return ref
  if (attribute !== undefined) return attribute[0] ?? ''
  const inside = typeof value === 'object' && value !== null ? Object.values(value).flat() : []
  return inside.map(idIn).find((id) => id !== '' && !id.startsWith('AWS::')) ?? ''
}

/** Whether an event has the fields that a pattern names, each with one of its values (Lambda's event filtering). */
export function matches(pattern: unknown, event: unknown): boolean {
  if (Array.isArray(pattern)) return pattern.some((one) => matchesValue(one, event))
  const fields = Object.entries(pattern as object) as readonly (readonly [string, unknown])[]
  const of = (event ?? {}) as Readonly<Record<string, unknown>>
  return fields.every(([name, one]) => matches(one, of[name]))
}

function matchesValue(one: unknown, value: unknown): boolean {
  if (typeof one !== 'object' || one === null) return one === value
  const { prefix, ...others } = one as { readonly prefix?: string }
  if (prefix === undefined || Object.keys(others).length > 0)
    throw new Error(`a filter of this kind is not known here: ${JSON.stringify(one)}`)
  return typeof value === 'string' && value.startsWith(prefix)
}
