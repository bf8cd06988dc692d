import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch'
import type * as logs from 'aws-cdk-lib/aws-logs'
import type { Construct } from 'constructs'
import { dashboard, graph, type Rows, textWidget } from './dashboard.ts'
import { type ControlMetrics, type ControllerMetricName, reconcileResults } from './metrics.ts'

/** What the page of the controllers is about. */
export interface ShownControllers {
  readonly metrics: ControlMetrics
  readonly names: readonly string[]
  readonly logGroups: readonly logs.ILogGroup[]
}

/** Stands where the name of the controller is to be put that somebody chooses. */
export const chosenController = 'chosen-controller'

/** One page for all controllers, with a list above it to choose one from: each page costs. */
export function controllerDashboard(
  scope: Construct,
  id: string,
  name: string,
  shown: () => ShownControllers,
): cloudwatch.CfnDashboard {
  return dashboard(scope, id, name, { rows: () => controllerPage(shown()), variables: () => [choice(shown())] })
}

/** CloudWatch puts the chosen name wherever the text stands, in searches, too. */
function choice({ names }: ShownControllers): object {
  return {
    type: 'pattern',
    pattern: chosenController,
    inputType: 'select',
    id: 'controller',
    label: 'Controller',
    defaultValue: names[0] ?? chosenController,
    visible: true,
    values: names.map((value) => ({ value, label: value })),
  }
}

/** One controller on a page: is it in time, what does it wait for, what goes wrong, what does it cost. */
function controllerPage(shown: ShownControllers): Rows {
  return [[textWidget(4, howToRead)], inTime(shown), wrong(shown), healRow(shown), runRow(shown), [lastFailures(shown)]]
}

const howToRead = `# One controller
Choose it in the list above. *Time to converge* is what users notice: from the moment a change was accepted to the moment it was observed in the world.
If it climbs while few runs fail, look at *Wait for a turn*: a long wait with free workers means backoff or rate limits (\`kubectl get <kind> -A -o wide\`); with all
workers busy, raise its \`concurrency\`, or \`sharedConcurrency\`. *Terminal* errors are not tried again until something changes: somebody has to.
\`kubectl describe <kind> <name>\` tells of one object what happened to it.`

function line({ metrics }: ShownControllers, metric: ControllerMetricName, label: string, statistic = 'Sum') {
  return metrics.ofController(chosenController, metric, { label, statistic })
}

function inTime(shown: ShownControllers): Rows[number] {
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
      lines: reconcileResults.map((result) => shown.metrics.reconciles(chosenController, result)),
    }),
  ]
}

function wrong(shown: ShownControllers): Rows[number] {
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
      title: 'Wait for a turn',
      unit: 'seconds',
      lines: ['p50', 'p99'].map((statistic) => line(shown, 'workqueue_queue_duration_seconds', statistic, statistic)),
    }),
  ]
}

function healRow(shown: ShownControllers): Rows[number] {
  const search = (name: string, ...dimensions: readonly string[]): cloudwatch.MathExpression =>
    shown.metrics.search({
      name,
      dimensions: ['controller', ...dimensions],
      where: { controller: chosenController },
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

function runRow(shown: ShownControllers): Rows[number] {
  const seconds = 'controller_runtime_reconcile_time_seconds'
  return [
    graph({
      title: 'How long runs take',
      unit: 'seconds',
      width: 24,
      lines: ['p50', 'p99'].map((statistic) => line(shown, seconds, statistic, statistic)),
    }),
  ]
}

function lastFailures({ logGroups }: ShownControllers): cloudwatch.LogQueryWidget {
  return new cloudwatch.LogQueryWidget({
    title: 'What the logs say about the last failures, of all controllers',
    logGroupNames: logGroups.map(({ logGroupName }) => logGroupName),
    width: 24,
    height: 6,
    queryLines: [
      'fields @timestamp, controller, level, message, namespace, name, error',
      'filter level in ["error", "warn"]',
      'sort @timestamp desc',
      'limit 50',
    ],
  })
}
