import type { Labels, Metric } from '../../model/metrics.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Telemetry } from '../../ports/telemetry.ts'
import { emfNamespace, emfDestinationOf, unitOf } from './emf-metrics.ts'

export interface EmfTelemetryOptions {
  readonly write: (line: string) => void
  readonly clock: Clock
  /** Default `Setpoint`: control planes that share an account and Region need one each. */
  readonly namespace?: string
}

/**
 * Telemetry as CloudWatch's embedded metric format: log lines that CloudWatch makes metrics of, without a call. Numbers
 * are kept in memory until `flush`, which a function calls once, at the end of each invocation: one line for each set
 * of labels that something happened to. What is 0 is not written, since a metric costs only while it is written: to who
 * reads it, a missing value is 0. Which metrics there are, and by which labels, says `emfMetrics`.
 *
 * Format: Amazon CloudWatch User Guide, "Embedded metric format specification": at most 100 values per metric and line,
 * 100 metrics and 30 dimensions per directive.
 */
export interface EmfTelemetry extends Telemetry {
  flush(): void
}

export function createEmfTelemetry({ write, clock, namespace = emfNamespace }: EmfTelemetryOptions): EmfTelemetry {
  const series = new Map<string, Series>()

  function seriesOf<Made extends Series>(metric: Metric, labels: Labels, make: (about: About) => Made): Made {
    const about = { metric, labels: showLabels(metric, labels) }
    const text = `${metric.name} ${JSON.stringify(about.labels)}`
    const made = (series.get(text) as Made | undefined) ?? make(about)
    series.set(text, made)
    return made
  }

  return {
    counter: (metric, labels) => seriesOf(metric, labels, createCounter).add,
    histogram: (metric, labels) => seriesOf(metric, labels, createHistogram).observe,
    read: (metric, labels, value) => {
      seriesOf(metric, labels, (about) => createReading(about, value))
    },
    isOneOfMany: true,
    flush: () => {
      const news = [...series.values()].map((one) => ({ ...one.about, values: one.take() }))
      const told = news.filter(({ metric, values }) => values.length > 0 && emfDestinationOf(metric) !== 'left out')
      const together = Map.groupBy(told, ({ labels }) => JSON.stringify(labels))
      for (const some of together.values())
        for (const line of linesOf(some, { namespace, nowMs: clock.nowMs() })) write(line)
    },
  }
}

const valuesMax = 100

interface About {
  readonly metric: Metric
  readonly labels: Labels
}

interface Series {
  readonly about: About
  /** What is new since it was last asked. */
  take(): readonly number[]
}

interface News extends About {
  readonly values: readonly number[]
}

function createCounter(about: About): Series & { readonly add: (by?: number) => void } {
  let total = 0
  return {
    about,
    add: (by = 1) => {
      total += by
    },
    take: () => {
      const news = unlessZero(total)
      total = 0
      return news
    },
  }
}

function createHistogram(about: About): Series & { readonly observe: (value: number) => void } {
  let values: number[] = []
  return {
    about,
    observe: (value) => {
      values.push(value)
    },
    take: () => {
      const news = values
      values = []
      return news
    },
  }
}

function createReading(about: About, value: () => number): Series {
  let before = 0
  return {
    about,
    take: () => {
      const now = value()
      const news = about.metric.type === 'counter' ? now - before : now
      before = now
      return unlessZero(news)
    },
  }
}

function unlessZero(value: number): readonly number[] {
  return value === 0 ? [] : [value]
}

/** In the metric's order. A queue has the name of its controller, which is said once. */
function showLabels({ labels: names }: Metric, labels: Labels): Labels {
  const kept = names.filter((name) => name !== 'name' || labels['controller'] === undefined)
  return Object.fromEntries(kept.map((name) => [name, labels[name] ?? '']))
}

/** One line, or as many as the longest list of values needs. */
function linesOf(together: readonly News[], as: Written): readonly string[] {
  const count = Math.max(...together.map(({ values }) => Math.ceil(values.length / valuesMax)))
  return Array.from({ length: count }, (_, i) => {
    const part = together.map((one) => ({ ...one, values: one.values.slice(i * valuesMax, (i + 1) * valuesMax) }))
    const told = part.filter(({ values }) => values.length > 0)
    return `${JSON.stringify(members(told, as))}\n`
  })
}

interface Written {
  readonly namespace: string
  readonly nowMs: number
}

function members(news: readonly News[], { namespace, nowMs }: Written): object {
  const metrics = directives(news, namespace)
  return {
    ...(metrics.length === 0 ? {} : { _aws: { Timestamp: nowMs, CloudWatchMetrics: metrics } }),
    ...news[0]?.labels,
    ...Object.fromEntries(news.map(({ metric, values }) => [metric.name, values.length === 1 ? values[0] : values])),
  }
}

/** One for each choice of dimensions. */
function directives(news: readonly News[], namespace: string): readonly object[] {
  const sent = news.flatMap(({ metric }) => {
    const how = emfDestinationOf(metric)
    if (typeof how === 'string') return []
    const sets = how.alsoWhole === true ? [how.dimensions, []] : [how.dimensions]
    return [{ metric, sets }]
  })
  const together = Map.groupBy(sent, ({ sets }) => JSON.stringify(sets))
  return [...together.values()].map((some) => ({
    Namespace: namespace,
    Dimensions: some[0]?.sets,
    Metrics: some.map(({ metric }) => ({ Name: metric.name, Unit: unitOf(metric) })),
  }))
}
