import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch'
import type * as lambda from 'aws-cdk-lib/aws-lambda'
import type * as logs from 'aws-cdk-lib/aws-logs'
import { graph, type Rows, textWidget } from './dashboard.ts'
import { type ControlMetrics, type ControllerMetricName, oneMinute, reconcileResults } from './metrics.ts'
import type { ShownQueue } from './overview.ts'

/** What the page of one controller is about. */
export interface ShownController extends ShownQueue {
  readonly name: string
  /** The kind whose objects it reconciles. */
  readonly kind: string
  readonly metrics: ControlMetrics
  readonly function: lambda.Function
  readonly logGroup: logs.ILogGroup
}

/** One controller on a page: is it in time, what does it wait for, what goes wrong, what does it cost. */
export function controllerPage(shown: ShownController): Rows {
  return [
    [textWidget(3, howToRead(shown))],
    inTime(shown),
    waitRow(shown),
    wrong(shown),
    healRow(shown),
    runRow(shown),
    [lastFailures(shown)],
  ]
}

const howToRead = ({ name, kind }: ShownController): string => `# ${name}
Reconciles every **${kind}**. *Time to converge* is what users notice: from the moment a change was accepted to the moment it was observed in the world. A long *wait*
with free workers means backoff or rate limits (\`kubectl get ${kind.toLowerCase()} -A -o wide\`); with all workers busy, raise its \`concurrency\`. *Terminal* errors are not tried
again until something changes: somebody has to. \`kubectl describe ${kind.toLowerCase()} <name>\` tells of one object what happened to it.`

function line({ metrics, name }: ShownController, metric: ControllerMetricName, label: string, statistic = 'Sum') {
  return metrics.ofController(name, metric, { label, statistic })
}

function inTime(shown: ShownController): Rows[number] {
  const converge = 'setpoint_time_to_converge_seconds'
  return [
    graph({
      title: 'Time to converge',
      unit: 'seconds',
      lines: ['p50', 'p99'].map((statistic) => line(shown, converge, statistic, statistic)),
    }),
    graph({
      title: 'Oldest unconverged',
      unit: 'seconds',
      lines: [line(shown, 'setpoint_oldest_unconverged_seconds', 'oldest', 'Maximum')],
      limit: { value: 900, label: 'alarm' },
    }),
    graph({
      title: 'Reconciles by outcome',
      unit: 'a minute',
      stacked: true,
      lines: reconcileResults.map((result) => shown.metrics.reconciles(shown.name, result)),
    }),
  ]
}

function waitRow(shown: ShownController): Rows[number] {
  const { queue } = shown
  return [
    graph({
      title: 'Wait for a turn',
      unit: 'seconds',
      lines: ['p50', 'p99'].map((statistic) => line(shown, 'workqueue_queue_duration_seconds', statistic, statistic)),
    }),
    graph({
      title: 'Keys in the queue',
      unit: 'keys',
      stacked: true,
      lines: [
        queue.metricApproximateNumberOfMessagesVisible({ label: 'waiting', period: oneMinute }),
        queue.metricApproximateNumberOfMessagesNotVisible({ label: 'running or held', period: oneMinute }),
      ],
    }),
    graph({
      title: 'Age of the oldest wake-up',
      unit: 'seconds',
      lines: [queue.metricApproximateAgeOfOldestMessage({ label: 'oldest', period: oneMinute })],
      limit: { value: 900, label: 'alarm' },
    }),
  ]
}

function wrong(shown: ShownController): Rows[number] {
  return [
    graph({
      title: 'Runs that failed',
      unit: 'a minute',
      lines: [
        line(shown, 'controller_runtime_reconcile_errors_total', 'all'),
        line(shown, 'controller_runtime_terminal_reconcile_errors_total', 'terminal'),
        line(shown, 'controller_runtime_reconcile_timeouts_total', 'timeouts'),
      ],
    }),
    graph({
      title: 'Retries, and errors that repeat',
      unit: 'a minute',
      lines: [
        line(shown, 'workqueue_retries_total', 'retries'),
        line(shown, 'setpoint_repeated_errors_total', 'the same five times'),
      ],
    }),
    graph({
      title: 'Invocations that failed, and dead letters',
      unit: 'a minute',
      lines: [
        shown.function.metricErrors({ label: 'errors', period: oneMinute }),
        shown.function.metricThrottles({ label: 'throttled', period: oneMinute }),
        shown.deadLetterQueue.metric('NumberOfMessagesReceived', {
          label: 'dead letters',
          statistic: 'Sum',
          period: oneMinute,
        }),
      ],
    }),
  ]
}

function healRow(shown: ShownController): Rows[number] {
  const search = (name: string, ...dimensions: readonly string[]): cloudwatch.MathExpression =>
    shown.metrics.search({
      name,
      dimensions: ['controller', ...dimensions],
      where: { controller: shown.name },
      statistic: 'Sum',
    })
  return [
    graph({
      title: 'Drift put right, and repairs',
      unit: 'a minute',
      lines: [line(shown, 'setpoint_drift_found_total', 'drift'), line(shown, 'setpoint_repairs_total', 'repairs')],
    }),
    graph({
      title: 'Calls to systems outside',
      unit: 'a minute',
      stacked: true,
      lines: [search('setpoint_outside_calls_total', 'verb', 'result')],
    }),
    graph({
      title: 'Advice to its author',
      unit: 'a minute',
      lines: [search('setpoint_advice_total', 'advice')],
    }),
  ]
}

function runRow(shown: ShownController): Rows[number] {
  const seconds = 'controller_runtime_reconcile_time_seconds'
  return [
    graph({
      title: 'How long runs take',
      unit: 'seconds',
      lines: ['p50', 'p99'].map((statistic) => line(shown, seconds, statistic, statistic)),
    }),
    graph({
      title: 'Invocations at once',
      unit: 'functions',
      lines: [
        shown.function.metric('ConcurrentExecutions', { label: 'at once', statistic: 'Maximum', period: oneMinute }),
      ],
    }),
    graph({
      title: 'Invocations and their time',
      unit: 'a minute, and ms',
      lines: [
        shown.function.metricInvocations({ label: 'invocations', period: oneMinute }),
        shown.function.metricDuration({ label: 'ms', statistic: 'Sum', period: oneMinute }),
      ],
    }),
  ]
}

function lastFailures({ logGroup }: ShownController): cloudwatch.LogQueryWidget {
  return new cloudwatch.LogQueryWidget({
    title: 'What the log says about the last failures',
    logGroupNames: [logGroup.logGroupName],
    width: 24,
    height: 6,
    queryLines: [
      'fields @timestamp, level, message, namespace, name, error',
      'filter level in ["error", "warn"]',
      'sort @timestamp desc',
      'limit 50',
    ],
  })
}
