import type { Answer, FunctionProcess } from './function-process.ts'
import { endedAnswer } from './environments.ts'
import type { Resources } from './wiring.ts'

/**
 * How new code takes over, as a template says it to CodeDeploy: the pace, and the alarms that end it. What CodeDeploy
 * and CloudWatch do with that is played here, by minutes. Sources: AWS CodeDeploy User Guide, "Deployment
 * configurations on an AWS Lambda compute platform"; Lambda Developer Guide, "Implement Lambda canary deployments
 * using a weighted alias".
 */
export interface ReleaseRules {
  /** Of the batches, minute by minute, from 0 to 1; all of them after that. */
  readonly shares: readonly number[]
  readonly alarms: readonly AlarmRule[]
}

export interface AlarmRule {
  readonly id: string
  readonly namespace: string
  readonly metric: string
  readonly threshold: number
  readonly minutes: number
}

/** Of the function of this logical id. Throws if it is released at once. */
export function releaseRulesOf(resources: Resources, functionId: string): ReleaseRules {
  const alias = Object.values(resources).find(
    ({ Type, Properties }) => Type === 'AWS::Lambda::Alias' && names(Properties?.['FunctionName'], functionId),
  )
  const { CodeDeployLambdaAliasUpdate: update } = (alias?.UpdatePolicy ?? {}) as {
    readonly CodeDeployLambdaAliasUpdate?: { readonly DeploymentGroupName: { readonly Ref: string } }
  }
  const group = resources[update?.DeploymentGroupName.Ref ?? '']?.Properties
  if (group === undefined) throw new Error(`${functionId} is not released by CodeDeploy`)
  const { Alarms = [], Enabled } = group['AlarmConfiguration'] as {
    readonly Alarms?: readonly { readonly Name: { readonly Ref: string } }[]
    readonly Enabled: boolean
  }
  return {
    shares: sharesOf(String(group['DeploymentConfigName'])),
    alarms: Enabled ? Alarms.map(({ Name: { Ref: id } }) => alarmOf(id, resources)) : [],
  }
}

function names(value: unknown, id: string): boolean {
  return JSON.stringify(value ?? '').includes(`"${id}"`)
}

function sharesOf(config: string): readonly number[] {
  const canary = /^CodeDeployDefault\.LambdaCanary(\d+)Percent(\d+)Minutes$/.exec(config)
  if (canary !== null) return Array.from({ length: Number(canary[2]) }, () => Number(canary[1]) / 100)
  const linear = /^CodeDeployDefault\.LambdaLinear(\d+)PercentEvery(\d+)Minutes?$/.exec(config)
  if (linear === null) throw new Error(`CodeDeploy has no pace ${config}`)
  const [, percent = 100, minutes = 1] = linear.map(Number)
  const steps = Math.ceil(100 / percent) - 1
  return Array.from({ length: steps * minutes }, (_, i) => ((Math.floor(i / minutes) + 1) * percent) / 100)
}

function alarmOf(id: string, resources: Resources): AlarmRule {
  const of = resources[id]?.Properties ?? {}
  const periodic = Number(of['Period']) * Number(of['EvaluationPeriods'])
  return {
    id,
    namespace: String(of['Namespace']),
    metric: String(of['MetricName']),
    threshold: Number(of['Threshold']),
    minutes: Math.ceil(periodic / 60),
  }
}

/** An alias between two versions of a function. */
export interface Release {
  /** What mappings and schedules have in the place of the function. */
  readonly live: FunctionProcess
  /** Another minute is over: what CodeDeploy does then. */
  minute(): 'goes on' | 'done' | 'rolled back'
  /** How many batches each had. */
  readonly batches: { old: number; new: number }
  /** That was on, if one was. */
  readonly alarm: AlarmRule | undefined
}

interface Versions {
  readonly old: FunctionProcess
  readonly new: FunctionProcess
}

/**
 * Every tenth batch goes to the new version where a tenth is to, so that a test need not wait for chance. A metric of
 * ours counts what the new version has written of it; an error of Lambda, what ended without an answer.
 */
export function beginRelease({ shares, alarms }: ReleaseRules, versions: Versions): Release {
  const state = { minute: 0, share: shares[0] ?? 1, owed: 0, errors: 0 }
  const batches = { old: 0, new: 0 }
  const found: { alarm: AlarmRule | undefined } = { alarm: undefined }

  function choose(): 'old' | 'new' {
    state.owed += state.share
    // A tenth ten times is a little less than one.
    if (state.owed < 1 - 1e-9) return 'old'
    state.owed -= 1
    return 'new'
  }

  async function invoke(event: unknown): Promise<Answer> {
    const version = choose()
    batches[version]++
    const answer = await versions[version].invoke(event).catch(endedAnswer)
    if (answer.error === undefined) return answer
    state.errors++
    return endedAnswer(answer.error.errorMessage)
  }

  function sumOf({ namespace, metric }: AlarmRule): number {
    if (namespace === 'AWS/Lambda' && metric === 'Errors') return state.errors
    return namespace.startsWith('AWS/') ? 0 : emittedIn(versions.new.log, namespace, metric)
  }

  return {
    batches,
    get alarm() {
      return found.alarm
    },
    live: { ...versions.old, invoke },
    minute: () => {
      found.alarm = alarms.find((alarm) => sumOf(alarm) >= alarm.threshold)
      state.minute++
      if (found.alarm !== undefined) state.share = 0
      else state.share = shares[state.minute] ?? 1
      const isDone = state.minute >= shares.length
      if (found.alarm !== undefined) return 'rolled back'
      return isDone ? 'done' : 'goes on'
    },
  }
}

/**
 * The sum over all lines in the embedded metric format that CloudWatch would make this metric of, without a dimension.
 */
function emittedIn(log: string, namespace: string, metric: string): number {
  const sums = log.split('\n').map((line) => {
    if (!line.includes('"_aws"') || !line.includes(metric)) return 0
    const entry = JSON.parse(line.slice(line.indexOf('{'))) as EmbeddedMetrics
    const isSent = entry['_aws'].CloudWatchMetrics.some(
      (one) =>
        one.Namespace === namespace &&
        one.Dimensions.some((dimensions) => dimensions.length === 0) &&
        one.Metrics.some(({ Name }) => Name === metric),
    )
    return isSent ? Number([entry[metric]].flat()[0]) : 0
  })
  return sums.reduce((sum, one) => sum + one, 0)
}

interface EmbeddedMetrics {
  readonly _aws: {
    readonly CloudWatchMetrics: readonly {
      readonly Namespace: string
      readonly Dimensions: readonly (readonly string[])[]
      readonly Metrics: readonly { readonly Name: string }[]
    }[]
  }
  readonly [metric: string]: unknown
}
