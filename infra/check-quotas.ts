/**
 * Asks the account whether it lets as many functions run at once as synthesized stacks may need, and says what to
 * raise.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AnswerAws } from './aws-command.ts'

/** A template, as far as it says how many functions run. */
export interface SynthesizedTemplate {
  readonly Resources?: Readonly<
    Record<string, { readonly Type: string; readonly Properties?: Readonly<Record<string, unknown>> }>
  >
}

/** Of a table on demand, as long as it is new. */
const shards = 4
/** Pollers that Lambda begins with where a mapping has no limit, each with a function. */
const pollers = 2

interface Mapping {
  readonly ScalingConfig?: { readonly MaximumConcurrency: number }
  readonly ParallelizationFactor?: number
  readonly StartingPosition?: string
}

interface Target {
  readonly Arn?: string | { readonly 'Fn::GetAtt'?: readonly [id: string, attribute: string] }
}

/** How many functions of a template run at once when all that feeds them is busy; people's requests come besides. */
export function fedAtOnce({ Resources = {} }: SynthesizedTemplate): number {
  const properties = (type: string) =>
    Object.values(Resources).flatMap((one) => (one.Type === type ? [one.Properties ?? {}] : []))
  const mapped = (properties('AWS::Lambda::EventSourceMapping') as readonly Mapping[]).map(
    ({ ScalingConfig, ParallelizationFactor = 1, StartingPosition }) =>
      StartingPosition === undefined ? (ScalingConfig?.MaximumConcurrency ?? pollers) : shards * ParallelizationFactor,
  )
  const isFunction = ({ Arn: arn }: Target): boolean => {
    const [id = ''] = (typeof arn === 'object' ? arn['Fn::GetAtt'] : undefined) ?? []
    return Resources[id]?.Type === 'AWS::Lambda::Function'
  }
  const targets = properties('AWS::Events::Rule').flatMap(({ Targets = [] }) => Targets as readonly Target[])
  return mapped.reduce((sum, count) => sum + count, 0) + targets.filter(isFunction).length
}

/** What Lambda wants left over for functions that reserve nothing. */
const unreserved = 100

/** How many an account must let run at once for these. */
export function neededBy(templates: readonly SynthesizedTemplate[]): number {
  const all = templates.flatMap(({ Resources = {} }) => Object.values(Resources))
  const isReserved = all.some(({ Properties = {} }) => 'ReservedConcurrentExecutions' in Properties)
  return templates.reduce((sum, template) => sum + fedAtOnce(template), isReserved ? unreserved : 0)
}

export interface QuotaCheck {
  readonly isEnough: boolean
  readonly said: string
}

/** `needed`: of all stacks that go into the account. */
export function checkQuotas(needed: number, aws: AnswerAws): QuotaCheck {
  const { AccountLimit: limit } = aws(['lambda', 'get-account-settings']) as {
    readonly AccountLimit: {
      readonly ConcurrentExecutions: number
      readonly UnreservedConcurrentExecutions: number
    }
  }
  const { ConcurrentExecutions: all, UnreservedConcurrentExecutions: free } = limit
  if (free >= needed)
    return { isEnough: true, said: `${needed} functions may run at once, and the account lets ${free}` }
  const reserved = all > free ? `${all - free} of its ${all} are reserved for other functions. ` : ''
  return {
    isEnough: false,
    said: [
      `${needed} functions may run at once, and the account lets ${free}: what is refused comes later, and after ten times as a dead letter. ${reserved}`,
      'Ask for more: aws service-quotas request-service-quota-increase --service-code=lambda --quota-code=L-B99A9384 --desired-value=1000.',
      'Or let fewer run: -c sharedConcurrency, and the concurrency of isolated reconcilers.',
    ].join('\n'),
  }
}

/** Of all stacks that were synthesized into a directory. */
export function neededIn(directory: string): number {
  const files = existsSync(directory) ? readdirSync(directory).filter((file) => file.endsWith('.template.json')) : []
  if (files.length === 0) throw new Error(`${directory} has no template: run cdk synth first, or name its directory`)
  return neededBy(files.map((file) => JSON.parse(readFileSync(join(directory, file), 'utf8')) as SynthesizedTemplate))
}
