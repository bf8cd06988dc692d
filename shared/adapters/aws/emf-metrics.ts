import { metrics, type Metric, type MetricType } from '../../model/metrics.ts'

/**
 * What goes to CloudWatch of each metric. A custom metric costs $0.30 a month for each combination of dimension values
 * that was written in it, so only what a dashboard or an alarm looks at is one. All labels and values are in the log
 * line anyway, where Logs Insights finds them.
 */
type Sent = { readonly dimensions: readonly string[]; readonly alsoWhole?: true } | 'logged' | 'left out'

const byController = { dimensions: ['controller'] }
/** Also without a dimension: an alarm over all controllers, one at a time, would cost ten times as much. */
const byControllerAndWhole = { ...byController, alsoWhole: true } as const

const sent: Readonly<Record<keyof typeof metrics, Sent>> = {
  reconcileTotal: { dimensions: ['controller', 'result'] },
  reconcileErrors: byController,
  terminalErrors: byControllerAndWhole,
  timeouts: byController,
  reconcileSeconds: byController,
  retries: byController,
  queueSeconds: byController,
  timeToConverge: byController,
  oldestUnconverged: byControllerAndWhole,
  repairs: byControllerAndWhole,
  driftFound: byController,
  outsideCalls: { dimensions: ['controller', 'verb', 'result'] },
  repeatedErrors: byController,
  advice: { dimensions: ['controller', 'advice'] },
  requests: { dimensions: ['verb', 'code'] },
  requestSeconds: { dimensions: ['verb'] },

  queueAdds: 'logged',
  workSeconds: 'logged',
  steadyRuns: 'logged',
  reads: 'logged',
  writes: 'logged',

  // States of one process, of which there are many here, each for a moment: Lambda and SQS count for all of them.
  activeWorkers: 'left out',
  maxConcurrent: 'left out',
  queueDepth: 'left out',
  queueOldest: 'left out',
  unfinishedSeconds: 'left out',
  longestRunningSeconds: 'left out',
  openWatches: 'left out',
  processCpuSeconds: 'left out',
  processResidentBytes: 'left out',
  processStartSeconds: 'left out',
  damagedObjects: 'left out',
  heapUsedBytes: 'left out',
}

/** The namespace of our custom metrics in CloudWatch, unless a deployment has one of its own. */
export const emfNamespace = 'Setpoint'

export interface EmfMetric {
  readonly name: string
  readonly type: MetricType
  /** CloudWatch's word. */
  readonly unit: EmfUnit
  /** Always exactly these: CloudWatch adds nothing up over dimensions by itself. Their values come from closed sets. */
  readonly dimensions: readonly string[]
}

export type EmfUnit = 'Count' | 'Seconds' | 'Bytes'

/** Every custom metric the functions can write, all in one namespace. */
export function emfMetrics(): readonly EmfMetric[] {
  return Object.values<Metric>(metrics).flatMap((metric) => {
    const how = emfDestinationOf(metric)
    const { name, type } = metric
    if (typeof how === 'string') return []
    const one = { name, type, unit: unitOf(metric) }
    const whole = how.alsoWhole === true ? [{ ...one, dimensions: [] }] : []
    return [{ ...one, dimensions: how.dimensions }, ...whole]
  })
}

/** How a metric is sent; what is not in the table goes into the log. */
export function emfDestinationOf({ name }: Metric): Sent {
  return byName.get(name) ?? 'logged'
}

const byName: ReadonlyMap<string, Sent> = new Map(
  Object.entries<Metric>(metrics).map(([key, { name }]) => [name, sent[key as keyof typeof metrics]]),
)

/** Prometheus puts the unit into the name. */
export function unitOf({ name }: Metric): EmfUnit {
  if (/_seconds(_total)?$/.test(name)) return 'Seconds'
  return /_bytes(_total)?$/.test(name) ? 'Bytes' : 'Count'
}
