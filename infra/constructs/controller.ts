import { Duration, Stack } from 'aws-cdk-lib'
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch'
import type * as ec2 from 'aws-cdk-lib/aws-ec2'
import { Construct } from 'constructs'
import { describeReconcilers, oneReconciler, type ReconcilerDescription } from '../bundling/reconciler-modules.ts'
import { controllerWatches, createAlarms } from '../dashboards/alarms.ts'
import { controllerPage, type ShownController } from '../dashboards/controller-page.ts'
import { dashboard } from '../dashboards/dashboard.ts'
import type { ControllerMetricName, ControlMetrics, MetricOptions, ReconcileResult } from '../dashboards/metrics.ts'
import type { ControlFunction } from './control-function.ts'
import type { ControlPlane } from './control-plane.ts'
import { WorkQueue } from './work-queue.ts'

export interface ControllerProps {
  readonly controlPlane: ControlPlane
  /** The name of a reconciler in the control plane's list. */
  readonly reconciler: string
  /**
   * The module that exports this reconciler and, best, no other: then the function holds no other's code.
   * @default - the control plane's list
   */
  readonly entry?: string
  /** @default 512 MB, which gives it 0.3 of a CPU */
  readonly memorySize?: number
  /**
   * Variables for the reconciler itself. Names beginning with `SETPOINT_` are taken.
   * @default - none
   */
  readonly environment?: Readonly<Record<string, string>>
  /**
   * Where the function runs, for what it reaches only from there. It needs a way to DynamoDB, SQS and CloudWatch Logs:
   * see docs/aws.md.
   * @default - no VPC
   */
  readonly vpc?: ec2.IVpc
  readonly vpcSubnets?: ec2.SubnetSelection
  readonly securityGroups?: ec2.ISecurityGroup[]
  /**
   * Alarms on its queue, its function and its objects: $0.60 a month.
   * @default true
   */
  readonly alarms?: boolean
  /**
   * A page of its own among the dashboards: $3 a month from the fourth of the account on.
   * @default true
   */
  readonly dashboard?: boolean
}

/**
 * One reconciler: its queue, its function with a role of its own, and what watches them. How long a run may take and
 * how many objects run at once is said in the reconciler itself. What the reconciler needs of AWS is granted to
 * `function`: `bucket.grantReadWrite(controller.function)`.
 */
export class Controller extends Construct {
  /** The reconciler's, in queues, metrics and logs. */
  readonly name: string
  readonly queue: WorkQueue
  readonly function: ControlFunction
  readonly dashboard: cloudwatch.CfnDashboard | undefined
  readonly alarms: readonly cloudwatch.Alarm[]
  /** What its module says of it. */
  readonly reconciler: ReconcilerDescription

  private readonly metrics: ControlMetrics

  constructor(scope: Construct, id: string, props: ControllerProps) {
    super(scope, id)
    const { controlPlane, reconciler: name, entry = controlPlane.reconcilersEntry } = props
    this.name = name
    this.metrics = controlPlane.metrics
    this.reconciler = describe(entry, controlPlane, name)
    const timeout = Duration.millis(this.reconciler.timeoutMs).plus(overhead)
    this.queue = new WorkQueue(this, 'Work', { timeout })
    this.function = controlPlane.createWorker(this, 'Function', {
      description: `Runs the reconciler ${name}`,
      reconcilers: oneReconciler(entry, this.reconciler),
      timeout,
      memorySize: props.memorySize ?? 512,
      environment: props.environment ?? {},
      ...placeOf(props),
    })
    this.queue.feed(this.function, feedingOf(this.reconciler))
    controlPlane.adopt(this)

    const shown = this.toShown()
    this.alarms = props.alarms === false ? [] : createAlarms(this, controlPlane.alarmTopic, controllerWatches(shown))
    this.dashboard =
      props.dashboard === false
        ? undefined
        : dashboard(this, 'Dashboard', `${Stack.of(this).stackName}-${name}`, () => controllerPage(shown))
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

  /** Age of the oldest wake-up, in seconds. */
  metricQueueAge(options?: MetricOptions): cloudwatch.Metric {
    return this.queue.queue.metricApproximateAgeOfOldestMessage(options)
  }

  private metric(name: ControllerMetricName, options?: MetricOptions): cloudwatch.Metric {
    return this.metrics.ofController(this.name, name, options)
  }

  private toShown(): ShownController {
    const { name, metrics, reconciler, queue: work, function: worker } = this
    const { queue, deadLetterQueue } = work
    return { name, kind: reconciler.kind, metrics, queue, deadLetterQueue, function: worker, logGroup: worker.logGroup }
  }
}

/** What a function takes beyond its runs: to start, and to write down how they went. */
const overhead = Duration.seconds(15)

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

/**
 * As many objects at once as the reconciler asks for: invocations times messages in each. Two invocations are the least
 * that Lambda can be held to, so a concurrency of 1 means two here. Large batches cost least, so those come first.
 */
function feedingOf({ concurrency }: ReconcilerDescription): {
  readonly batchSize: number
  readonly maxConcurrency: number
} {
  const batchSize = Math.max(1, Math.min(10, Math.floor(concurrency / 2)))
  return { batchSize, maxConcurrency: Math.min(1_000, Math.max(2, Math.floor(concurrency / batchSize))) }
}

function placeOf({
  vpc,
  vpcSubnets,
  securityGroups,
}: ControllerProps): Pick<ControllerProps, 'vpc' | 'vpcSubnets' | 'securityGroups'> {
  return { ...(vpc && { vpc }), ...(vpcSubnets && { vpcSubnets }), ...(securityGroups && { securityGroups }) }
}
