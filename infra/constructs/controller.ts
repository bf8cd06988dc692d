import { Duration, Tags, Token } from 'aws-cdk-lib'
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch'
import type * as ec2 from 'aws-cdk-lib/aws-ec2'
import type * as kms from 'aws-cdk-lib/aws-kms'
import { Construct } from 'constructs'
import { describeReconcilers, oneReconciler, type ReconcilerDescription } from '../bundling/reconciler-modules.ts'
import type { ControllerMetricName, ControlMetrics, MetricOptions, ReconcileResult } from '../dashboards/metrics.ts'
import { checkMemory } from './check-settings.ts'
import type { ControlFunction } from './control-function.ts'
import type { ControlPlane } from './control-plane.ts'
import { allowVault } from './vault-access.ts'
import { concurrencyOfEach, feedingOf, WorkQueue } from './work-queue.ts'

export interface ControllerProps {
  readonly controlPlane: ControlPlane
  /** The name of a reconciler in the control plane's list. */
  readonly reconciler: string
  /**
   * Whether the reconciler has a queue, a function and a role of its own. A queue costs $0.33 a month for being
   * asked. The shared function runs each reconciler whose runs take a minute at most, as many objects at once as
   * `sharedConcurrency` of the control plane says; it has the permissions of all of them.
   * @default false
   */
  readonly isolated?: boolean
  /**
   * Variables for the reconciler itself. Names beginning with `SETPOINT_` are taken.
   * @default - none
   */
  readonly environment?: Readonly<Record<string, string>>
  /**
   * ARNs of roles that its runs may assume (`ctx.outside.assumeRole`), each by its name. Without `isolated` all
   * reconcilers in the shared function may.
   * @default - none
   */
  readonly assumes?: readonly string[]
  /**
   * Keys of your own that the secrets and parameters are encrypted with which its reconciler reads and writes
   * (`vault`). The permissions for the secrets themselves follow from the reconciler.
   * @default - the keys of AWS
   */
  readonly vaultKeys?: readonly kms.IKey[]
  /**
   * Only with `isolated`: over how many queues its objects are spread, by their names, from 1 to 16. More than one
   * where the quota of a FIFO queue in your Region ends: see docs/aws.md. Each costs as much as the first for being
   * asked, and runs two objects at once at least: the concurrency of the reconciler must have room for that.
   * @default 1
   */
  readonly queues?: number
  /**
   * How many of them are used. To have fewer queues, first use fewer, and take the others away half an hour later.
   * @default - all
   */
  readonly queuesUsed?: number
  /**
   * Only with `isolated`: the module that exports this reconciler and, best, no other. Then the function holds no
   * other's code.
   * @default - the control plane's list
   */
  readonly entry?: string
  /**
   * Only with `isolated`. In MB, a whole number from 128 to 10,240.
   * @default 512 MB, which gives it 0.3 of a CPU
   */
  readonly memorySize?: number
  /**
   * Only with `isolated`: where the function runs, for what it reaches only from there. It needs a way to DynamoDB
   * and SQS: see docs/aws.md.
   * @default - no VPC
   */
  readonly vpc?: ec2.IVpc
  readonly vpcSubnets?: ec2.SubnetSelection
  readonly securityGroups?: ec2.ISecurityGroup[]
}

/**
 * One reconciler, in the function that all share or in one of its own. How long a run may take and how many objects
 * run at once is said in the reconciler itself. What the reconciler needs of AWS is granted to `function`:
 * `bucket.grantReadWrite(controller.function)`.
 */
export class Controller extends Construct {
  /** The reconciler's, in queues, metrics and logs. */
  readonly name: string
  readonly isIsolated: boolean
  /** The first of its queues. */
  readonly queue: WorkQueue
  readonly queues: readonly WorkQueue[]
  readonly queuesUsed: number
  readonly function: ControlFunction
  /** What its module says of it. */
  readonly reconciler: ReconcilerDescription

  private readonly metrics: ControlMetrics

  constructor(scope: Construct, id: string, props: ControllerProps) {
    super(scope, id)
    const { controlPlane, reconciler: name, entry = controlPlane.reconcilersEntry } = props
    this.name = name
    checkEnvironment(props)
    checkMemory(name, props.memorySize)
    this.metrics = controlPlane.metrics
    this.reconciler = describe(entry, controlPlane, name)
    this.isIsolated = props.isolated === true
    this.queuesUsed = countUsed(props)
    const worker = this.isIsolated ? this.createWorker(props, entry) : shareWorker(this.reconciler, props)
    this.queues = worker.queues
    this.queue = worker.queues[0]
    this.function = worker.function
    this.letAssume(props.assumes ?? [])
    allowVault(this.function, { reconciler: this.reconciler, keys: props.vaultKeys ?? [] })
    controlPlane.adopt(this)
    // So that the bill says what each isolated one costs.
    Tags.of(this).add('setpoint:controller', this.name)
  }

  private letAssume(roles: readonly string[]): void {
    const wrong = roles.find((arn) => !Token.isUnresolved(arn) && !rolePattern.test(arn))
    if (wrong !== undefined)
      throw new Error(`assumes of ${this.name} must be ARNs of IAM roles, without wildcards, not ${wrong}`)
    // The session has tags, by which the roles' own policies may tell namespaces apart.
    if (roles.length > 0) this.function.allow(['sts:AssumeRole', 'sts:TagSession'], roles)
  }

  private createWorker(props: ControllerProps, entry: string): Worker {
    const { controlPlane } = props
    // By it the functions know the queue that all others share.
    if (this.name === 'system') throw new Error('a reconciler called system cannot be isolated: give it another name')
    const timeout = functionTimeout(this.reconciler)
    const { deadLetterQueue } = controlPlane.systemQueue
    const { queues: count = 1 } = props
    const create = (id: string): WorkQueue => new WorkQueue(this, id, { timeout, deadLetterQueue })
    // The first one keeps the id of the only one.
    const others = Array.from({ length: count - 1 }, (_, i) => create(`Work${i + 2}`))
    const queues = [create('Work'), ...others] as const
    const worker = controlPlane.createWorker(this, 'Function', {
      description: `Runs the reconciler ${this.name}`,
      reconcilers: oneReconciler(entry, this.reconciler),
      timeout,
      vault: this.reconciler.vault !== undefined,
      memorySize: props.memorySize ?? 512,
      environment: props.environment ?? {},
      ...placeOf(props),
    })
    const feeding = feedingOf({ concurrency: concurrencyOfEach(this.reconciler, count) })
    for (const queue of queues) queue.feed(worker, feeding)
    controlPlane.reserve(worker, feeding.maxConcurrency * queues.length)
    // What comes out of a queue that its key has left, or that a rollback is about to delete, is sent on.
    worker.allow(
      ['sqs:SendMessage'],
      queues.map(({ queue }) => queue.queueArn),
    )
    return { queues, function: worker }
  }

  /** Seconds from the moment a change was accepted to the moment it was observed. */
  metricTimeToConverge(options?: MetricOptions): cloudwatch.Metric {
    return this.metric('setpoint_time_to_converge_seconds', { statistic: 'p99', ...options })
  }

  /** Age of the oldest change that has not been observed, in seconds. */
  metricOldestUnconverged(options?: MetricOptions): cloudwatch.Metric {
    return this.metric('setpoint_oldest_unconverged_seconds', { statistic: 'Maximum', ...options })
  }

  /** Runs that failed or stopped. */
  metricReconcileErrors(options?: MetricOptions): cloudwatch.Metric {
    return this.metric('controller_runtime_reconcile_errors_total', options)
  }

  /** Runs that ended so. */
  metricReconciles(result: ReconcileResult, options?: MetricOptions): cloudwatch.Metric {
    return this.metrics.reconciles(this.name, result, options)
  }

  /** Age of the oldest wake-up in the first of its queues, in seconds. */
  metricQueueAge(options?: MetricOptions): cloudwatch.Metric {
    return this.queue.queue.metricApproximateAgeOfOldestMessage(options)
  }

  private metric(name: ControllerMetricName, options?: MetricOptions): cloudwatch.Metric {
    return this.metrics.ofController(this.name, name, options)
  }
}

/** Those are what the control plane tells its functions. */
function checkEnvironment({ reconciler, environment = {} }: ControllerProps): void {
  const taken = Object.keys(environment).find((variable) => variable.startsWith('SETPOINT_'))
  if (taken !== undefined) throw new Error(`${reconciler} cannot have the variable ${taken}: SETPOINT_… are taken`)
}

const rolePattern = /^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@/-]+$/

interface Worker {
  readonly queues: readonly [WorkQueue, ...WorkQueue[]]
  readonly function: ControlFunction
}

/** One queue takes what most Regions allow; the URLs of sixteen are most of what a function's variables hold. */
const queuesMax = 16

function countUsed({ reconciler, queues = 1, queuesUsed = queues }: ControllerProps): number {
  const isCount = (count: number, max: number): boolean => Number.isInteger(count) && count >= 1 && count <= max
  if (!isCount(queues, queuesMax))
    throw new Error(`the queues of ${reconciler} must be 1 to ${queuesMax}, not ${queues}`)
  if (!isCount(queuesUsed, queues))
    throw new Error(`queuesUsed of ${reconciler} must be 1 to its ${queues} queues, not ${queuesUsed}`)
  return queuesUsed
}

/** Of a run in the shared function. */
const sharedTimeoutMs = 60_000

/** Of a reconciler that says nothing: it takes what the shared function has. */
const usualConcurrency = 10

/** The queue and the function of the control plane itself, for a reconciler that keeps within what they do. */
function shareWorker({ name, timeoutMs, concurrency }: ReconcilerDescription, props: ControllerProps): Worker {
  const { controlPlane, environment = {} } = props
  const only = (['queues', 'queuesUsed', 'entry', 'memorySize', 'vpc', 'vpcSubnets', 'securityGroups'] as const).filter(
    (prop) => props[prop] !== undefined,
  )
  const reasons = [
    ...only.map((prop) => `${prop} is given`),
    ...(timeoutMs > sharedTimeoutMs ? [`a run of it may take ${timeoutMs} ms, and in there ${sharedTimeoutMs}`] : []),
    ...(concurrency < controlPlane.sharedConcurrency && concurrency !== usualConcurrency
      ? [`it lets ${concurrency} objects run at once, and in there ${controlPlane.sharedConcurrency} do`]
      : []),
  ]
  if (reasons.length > 0)
    throw new Error(`the reconciler ${name} cannot be in the shared function (isolated: true): ${reasons.join('; ')}`)
  for (const [variable, value] of Object.entries(environment)) controlPlane.addSharedVariable(variable, value)
  return { queues: [controlPlane.systemQueue], function: controlPlane.functions.system }
}

/** What a function takes beyond its runs: to start, and to write down how they went. */
const overhead = Duration.seconds(15)

/**
 * In whole seconds, as Lambda has it, and no later than the functions reckon with
 * (shared/runtime/aws/queues.ts).
 */
function functionTimeout({ timeoutMs }: ReconcilerDescription): Duration {
  return Duration.seconds(Math.floor(timeoutMs / 1_000)).plus(overhead)
}

/** Lambda ends every invocation after 15 minutes. */
const timeoutMsMax = Duration.minutes(15).minus(overhead).toMilliseconds()

function describe(entry: string, { reconcilers, reconcilersEntry }: ControlPlane, name: string): ReconcilerDescription {
  if (!reconcilers.some((one) => one.name === name))
    throw new Error(`${reconcilersEntry} has no reconciler ${name}; it has ${joinNames(reconcilers)}`)
  const exported = entry === reconcilersEntry ? reconcilers : describeReconcilers(entry)
  const found = exported.find((one) => one.name === name)
  if (found === undefined) throw new Error(`${entry} exports no reconciler ${name}, only ${joinNames(exported)}`)
  if (found.timeoutMs > timeoutMsMax)
    throw new Error(`a run of ${name} may take ${found.timeoutMs} ms, but on Lambda at most ${timeoutMsMax}`)
  return found
}

function joinNames(reconcilers: readonly ReconcilerDescription[]): string {
  return reconcilers.map(({ name }) => name).join(', ')
}

function placeOf({
  vpc,
  vpcSubnets,
  securityGroups,
}: ControllerProps): Pick<ControllerProps, 'vpc' | 'vpcSubnets' | 'securityGroups'> {
  return { ...(vpc && { vpc }), ...(vpcSubnets && { vpcSubnets }), ...(securityGroups && { securityGroups }) }
}
