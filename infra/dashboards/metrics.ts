import { Duration } from 'aws-cdk-lib'
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch'

/** How a metric is looked at; what is not said is CDK's default. */
export type MetricOptions = Omit<cloudwatch.MetricOptions, 'dimensionsMap'>

export const oneMinute = Duration.minutes(1)

/** The metrics that the functions write, by name and dimension, in the namespace of one control plane. */
export interface ControlMetrics {
  /** One series: what a controller has written. */
  ofController(controller: string, name: ControllerMetricName, options?: MetricOptions): cloudwatch.Metric
  /** One series: what all controllers together have written. */
  ofPlane(name: PlaneMetricName, options?: MetricOptions): cloudwatch.Metric
  /** One series: runs of a controller that ended so. */
  reconciles(controller: string, result: ReconcileResult, options?: MetricOptions): cloudwatch.Metric
  /** A line for each series of a metric, of all controllers or whatever `where` leaves over. */
  search(search: MetricSearch): cloudwatch.MathExpression
  /** The sum of all those series. */
  total(search: MetricSearch): cloudwatch.MathExpression
}

export interface MetricSearch {
  readonly name: string
  /** All dimensions that the metric is written with. */
  readonly dimensions: readonly string[]
  readonly where?: Readonly<Record<string, string>>
  /** `Sum`, `Maximum`, `p99` … */
  readonly statistic: string
  /** @default - the values of the dimensions that differ */
  readonly label?: string
}

/** Metrics whose only dimension is the controller. */
export type ControllerMetricName =
  | 'controller_runtime_reconcile_errors_total'
  | 'controller_runtime_reconcile_time_seconds'
  | 'controller_runtime_reconcile_timeouts_total'
  | 'controller_runtime_terminal_reconcile_errors_total'
  | 'setpoint_drift_found_total'
  | 'setpoint_oldest_unconverged_seconds'
  | 'setpoint_repairs_total'
  | 'setpoint_repeated_errors_total'
  | 'setpoint_time_to_converge_seconds'
  | 'workqueue_queue_duration_seconds'
  | 'workqueue_retries_total'

/** Those of them that are also written without a dimension, for alarms. */
export type PlaneMetricName = Extract<
  ControllerMetricName,
  | 'controller_runtime_terminal_reconcile_errors_total'
  | 'setpoint_oldest_unconverged_seconds'
  | 'setpoint_repairs_total'
>

export type ReconcileResult = (typeof reconcileResults)[number]

export const reconcileResults = ['success', 'requeue_after', 'requeue', 'error'] as const

export function controlMetrics(namespace: string): ControlMetrics {
  const metric = (metricName: string, dimensionsMap: Record<string, string>, options: MetricOptions = {}) =>
    new cloudwatch.Metric({ namespace, metricName, dimensionsMap, statistic: 'Sum', period: oneMinute, ...options })

  const formatSearch = ({ name, dimensions, where = {}, statistic }: MetricSearch): string => {
    const conditions = Object.entries(where).map(([dimension, value]) => ` ${dimension}="${value}"`)
    const schema = `{${[`"${namespace}"`, ...dimensions].join(',')}}`
    return `SEARCH('${schema} MetricName="${name}"${conditions.join('')}', '${statistic}', 60)`
  }

  return {
    ofController: (controller, name, options) => metric(name, { controller }, options),
    ofPlane: (name, options) => metric(name, {}, options),
    reconciles: (controller, result, options) =>
      metric('controller_runtime_reconcile_total', { controller, result }, { label: result, ...options }),
    search: (search) => expression(formatSearch(search), search.label ?? ''),
    total: (search) => expression(`SUM(${formatSearch(search)})`, search.label ?? search.name),
  }
}

function expression(text: string, label: string): cloudwatch.MathExpression {
  return new cloudwatch.MathExpression({ expression: text, label, usingMetrics: {}, period: oneMinute })
}
