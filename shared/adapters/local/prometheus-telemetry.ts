import type { Labels, Metric } from '../../model/metrics.ts'
import type { MetricReader, Telemetry } from '../../ports/telemetry.ts'

/** Telemetry in memory, for Prometheus to fetch. Takes memory per series, never per observation. */
export interface PrometheusTelemetry extends Telemetry {
  /** Everything as it is now, in the text exposition format 0.0.4. */
  exposition(): string
  readonly valueOf: MetricReader
}

export function createPrometheusTelemetry(): PrometheusTelemetry {
  const families = new Map<string, Family>()

  const familyOf = (metric: Metric): Family => {
    const known = families.get(metric.name)
    if (known !== undefined) return known
    const family = { metric, series: new Map<string, Series>() }
    families.set(metric.name, family)
    return family
  }

  function seriesOf<Made extends Series>(metric: Metric, labels: Labels, make: () => Made): Made {
    const { series } = familyOf(metric)
    const text = labelText(metric, labels)
    const known = series.get(text)
    if (known !== undefined) return known as Made
    const made = make()
    series.set(text, made)
    return made
  }

  return {
    counter: (metric, labels) => seriesOf(metric, labels, createCounter).add,
    histogram: (metric, labels) => seriesOf(metric, labels, () => createHistogram(metric.buckets ?? [])).observe,
    read: (metric, labels, value) => {
      familyOf(metric).series.set(labelText(metric, labels), {
        value,
        lines: (name, text) => [line(name, text, value())],
      })
    },
    exposition: () => [...families.values()].flatMap(familyLines).join('\n').concat('\n'),
    valueOf: (metric, labels) => families.get(metric.name)?.series.get(labelText(metric, labels))?.value(),
  }
}

interface Family {
  readonly metric: Metric
  /** By their labels as text. */
  readonly series: Map<string, Series>
}

interface Series {
  value(): number
  lines(name: string, labels: string): readonly string[]
}

function familyLines({ metric: { name, help, type }, series }: Family): readonly string[] {
  const lines = [...series].flatMap(([labels, one]) => one.lines(name, labels))
  return [`# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}`, `# TYPE ${name} ${type}`, ...lines]
}

function createCounter(): Series & { readonly add: (by?: number) => void } {
  let total = 0
  return {
    add: (by = 1) => {
      total += by
    },
    value: () => total,
    lines: (name, labels) => [line(name, labels, total)],
  }
}

function createHistogram(buckets: readonly number[]): Series & { readonly observe: (value: number) => void } {
  /** Observations above the bound before and not above this one's; the last is for those above all. */
  const counts = new Float64Array(buckets.length + 1)
  let sum = 0
  return {
    observe: (value) => {
      sum += value
      let at = 0
      while (at < buckets.length && value > (buckets[at] as number)) at++
      counts[at] = (counts[at] as number) + 1
    },
    value: () => sum,
    lines: (name, labels) => {
      let count = 0
      const upTo = [...buckets, Infinity].map((bound, i) => {
        count += counts[i] as number
        return line(`${name}_bucket`, joinLabels(labels, `le="${numberText(bound)}"`), count)
      })
      return [...upTo, line(`${name}_sum`, labels, sum), line(`${name}_count`, labels, count)]
    },
  }
}

function labelText({ labels: names }: Metric, labels: Labels): string {
  return names.map((name) => `${name}="${escapeValue(labels[name] ?? '')}"`).join(',')
}

function escapeValue(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}

function joinLabels(labels: string, label: string): string {
  return labels === '' ? label : `${labels},${label}`
}

function line(name: string, labels: string, value: number): string {
  return `${name}${labels === '' ? '' : `{${labels}}`} ${numberText(value)}`
}

function numberText(value: number): string {
  if (value === Infinity) return '+Inf'
  return value === -Infinity ? '-Inf' : String(value)
}
