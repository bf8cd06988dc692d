import type * as apigateway from 'aws-cdk-lib/aws-apigateway'
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch'
import type * as lambda from 'aws-cdk-lib/aws-lambda'
import type * as sqs from 'aws-cdk-lib/aws-sqs'
import type { ObjectTable } from '../constructs/object-table.ts'
import { graph, type Rows, textWidget } from './dashboard.ts'
import { type ControlMetrics, oneMinute, reconcileResults } from './metrics.ts'

/** What the overview is about. */
export interface ShownPlane {
  readonly metrics: ControlMetrics
  readonly restApi: apigateway.RestApi
  readonly table: ObjectTable
  /** The names of the table's indexes. */
  readonly indexes: readonly string[]
  readonly relay: lambda.Function
  readonly functions: Readonly<Record<string, lambda.Function>>
  readonly queues: Readonly<Record<string, sqs.Queue>>
  readonly deadLetterQueue: sqs.Queue
  readonly alarms: readonly cloudwatch.IAlarm[]
}

/** The whole control plane on one page, what is most urgent at the top. */
export function overview(plane: ShownPlane): Rows {
  return [
    [textWidget(6, howToRead)],
    ...(plane.alarms.length > 0
      ? [[new cloudwatch.AlarmStatusWidget({ title: 'Alarms', alarms: [...plane.alarms], width: 24, height: 3 })]]
      : []),
    convergence(plane),
    queues(plane),
    failures(plane),
    [textWidget(3, aboutHealing)],
    healRow(plane),
    [textWidget(2, aboutApi)],
    api(plane),
    [textWidget(3, aboutCost)],
    cost(plane),
  ]
}

const howToRead = `# Setpoint
This page shows how fast changes take effect. **Start with "Oldest unconverged":** while that line is flat and low, the control
plane is healthy. If the line climbs for one controller, look at *Reconciles that failed*, then at the page of the controllers, where you choose it,
and at \`kubectl get <kind> -A -o wide\`, which says why each object waits. If it climbs for all controllers, look at *Keys that wait*, *Throttled calls* and *Delay of the relay*.
No line here is about a single object: ask the API for those.`

const aboutHealing = `## Healing
**Drift** is what others changed and Setpoint corrected. **Repairs** are changes whose wake-up was lost and that the resync found: they should stay at 0;
each one is a bug or an outage of more than a day. **Repeated errors** are five failures with one message: often "not ready yet", reported as an error. **Advice** is for authors of reconcilers; the log names it.`

const aboutApi = `## API
Watches stay open and are not part of these times. 409 and 429 belong to normal work; 5xx does not.`

const aboutCost = `## What it costs
Of the bill at rest, most is polling of queues (empty receives); under load, runs of reconcilers and writes of the table. Each line is what one price counts:
invocations, seconds, request units, queue requests, bytes of log. \`npm run cost\` makes a bill of them.`

function convergence({ metrics }: ShownPlane): Rows[number] {
  const converge = { name: 'setpoint_time_to_converge_seconds', dimensions: ['controller'] }
  const oldest = { name: 'setpoint_oldest_unconverged_seconds', dimensions: ['controller'], statistic: 'Maximum' }
  return [
    graph({
      title: 'Time to converge, p50 and p99 by controller',
      unit: 'seconds',
      lines: ['p50', 'p99'].map((statistic) => metrics.search({ ...converge, statistic, label: statistic })),
    }),
    graph({
      title: 'Oldest unconverged, by controller',
      unit: 'seconds',
      lines: [metrics.search(oldest)],
      limit: { value: 900, label: 'alarm' },
    }),
    graph({
      title: 'Reconciles by outcome',
      unit: 'a minute',
      stacked: true,
      lines: reconcileResults.map((result) =>
        metrics.total({
          name: 'controller_runtime_reconcile_total',
          dimensions: ['controller', 'result'],
          where: { result },
          statistic: 'Sum',
          label: result,
        }),
      ),
    }),
  ]
}

function queues({ queues: shown, relay }: ShownPlane): Rows[number] {
  const each = Object.entries(shown)
  return [
    graph({
      title: 'Keys that wait, by queue',
      unit: 'keys',
      stacked: true,
      lines: each.map(([label, queue]) =>
        queue.metricApproximateNumberOfMessagesVisible({ label, period: oneMinute, statistic: 'Maximum' }),
      ),
    }),
    graph({
      title: 'Age of the oldest wake-up, by queue',
      unit: 'seconds',
      lines: each.map(([label, queue]) => queue.metricApproximateAgeOfOldestMessage({ label, period: oneMinute })),
      limit: { value: 900, label: 'stuck' },
    }),
    graph({
      title: 'Delay of the relay',
      unit: 'ms',
      lines: [
        relay.metric('IteratorAge', { statistic: 'Maximum', period: oneMinute, label: 'oldest change not passed on' }),
      ],
      limit: { value: 60_000, label: 'alarm' },
    }),
  ]
}

function failures(plane: ShownPlane): Rows[number] {
  const { functions, deadLetterQueue, metrics } = plane
  const each = Object.entries(functions)
  return [
    graph({
      title: 'Reconciles that failed, by controller',
      unit: 'a minute',
      width: 6,
      lines: [
        metrics.search({
          name: 'controller_runtime_reconcile_errors_total',
          dimensions: ['controller'],
          statistic: 'Sum',
        }),
      ],
    }),
    graph({
      title: 'Invocations that failed, by function',
      unit: 'a minute',
      width: 6,
      lines: each.map(([label, one]) => one.metricErrors({ label, period: oneMinute })),
    }),
    graph({
      title: 'Throttled calls',
      unit: 'a minute',
      width: 6,
      lines: [
        ...each.map(([label, one]) => one.metricThrottles({ label, period: oneMinute })),
        ...throttleMetricsOf(plane),
      ],
    }),
    graph({
      title: 'Dead letters',
      unit: 'messages',
      width: 6,
      lines: [
        deadLetterQueue.metric('NumberOfMessagesReceived', {
          label: 'given up',
          period: oneMinute,
          statistic: 'Sum',
        }),
      ],
    }),
  ]
}

/** The events of an index are not among those of its table. */
function throttleMetricsOf({ table, indexes }: ShownPlane): readonly cloudwatch.Metric[] {
  const options = { statistic: 'Sum', period: oneMinute }
  const TableName = table.tableName
  return ['ReadThrottleEvents', 'WriteThrottleEvents'].flatMap((name) => [
    table.metric(name, { label: `table: ${name}`, ...options }),
    ...indexes.map((index) =>
      table.metric(name, {
        label: `index ${index}: ${name}`,
        dimensionsMap: { TableName, GlobalSecondaryIndexName: index },
        ...options,
      }),
    ),
  ])
}

function healRow({ metrics }: ShownPlane): Rows[number] {
  const byController = (title: string, name: string): cloudwatch.GraphWidget =>
    graph({
      title,
      unit: 'a minute',
      width: 6,
      lines: [metrics.search({ name, dimensions: ['controller'], statistic: 'Sum' })],
    })
  return [
    byController('Drift put right', 'setpoint_drift_found_total'),
    byController('Repairs', 'setpoint_repairs_total'),
    byController('Repeated errors', 'setpoint_repeated_errors_total'),
    graph({
      title: 'Advice to authors',
      unit: 'a minute',
      width: 6,
      lines: [
        metrics.search({ name: 'setpoint_advice_total', dimensions: ['controller', 'advice'], statistic: 'Sum' }),
      ],
    }),
  ]
}

function api({ metrics, restApi }: ShownPlane): Rows[number] {
  return [
    graph({
      title: 'Latency by verb, p99',
      unit: 'seconds',
      lines: [metrics.search({ name: 'apiserver_request_duration_seconds', dimensions: ['verb'], statistic: 'p99' })],
    }),
    graph({
      title: 'Requests by verb and status',
      unit: 'a minute',
      stacked: true,
      lines: [metrics.search({ name: 'apiserver_request_total', dimensions: ['verb', 'code'], statistic: 'Sum' })],
    }),
    graph({
      title: 'At the gateway',
      unit: 'a minute',
      lines: [
        restApi.metricCount({ label: 'requests', period: oneMinute }),
        restApi.metricClientError({ label: '4xx', period: oneMinute }),
        restApi.metricServerError({ label: '5xx', period: oneMinute }),
      ],
    }),
  ]
}

function cost({ functions, queues: shown, table }: ShownPlane): Rows[number] {
  const each = Object.entries(functions)
  const queuesOf = Object.entries(shown)
  const units = ['ConsumedReadCapacityUnits', 'ConsumedWriteCapacityUnits']
  return [
    graph({
      title: 'Invocations',
      unit: 'a minute',
      width: 6,
      stacked: true,
      lines: each.map(([label, one]) => one.metricInvocations({ label, period: oneMinute })),
    }),
    graph({
      title: 'Time of functions',
      unit: 'ms a minute',
      width: 6,
      stacked: true,
      lines: each.map(([label, one]) => one.metricDuration({ label, statistic: 'Sum', period: oneMinute })),
    }),
    graph({
      title: 'Request units of the table',
      unit: 'a minute',
      width: 6,
      stacked: true,
      lines: units.map((name) => table.metric(name, { label: name, statistic: 'Sum', period: oneMinute })),
    }),
    graph({
      title: 'Queue requests: sent and empty receives',
      unit: 'a minute',
      width: 6,
      stacked: true,
      lines: queuesOf.flatMap(([label, queue]) => [
        queue.metricNumberOfMessagesSent({ label: `${label}: sent`, period: oneMinute }),
        queue.metricNumberOfEmptyReceives({ label: `${label}: empty`, period: oneMinute }),
      ]),
    }),
  ]
}
