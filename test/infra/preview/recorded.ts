/** Numbers that functions wrote to their logs, as CloudWatch would make metrics of them. */
export interface Point {
  readonly atMs: number
  readonly name: string
  readonly dimensions: Readonly<Record<string, string>>
  readonly values: readonly number[]
}

interface EmfLine {
  readonly _aws?: {
    readonly Timestamp: number
    readonly CloudWatchMetrics: readonly {
      readonly Dimensions: readonly (readonly string[])[]
      readonly Metrics: readonly { readonly Name: string }[]
    }[]
  }
  readonly [member: string]: unknown
}

export function pointsOf(log: string): readonly Point[] {
  const lines = log.split('\n').filter((line) => line.startsWith('{"_aws"'))
  return lines.flatMap((line) => {
    const { _aws, ...members } = JSON.parse(line) as EmfLine
    return (_aws?.CloudWatchMetrics ?? []).flatMap(({ Dimensions, Metrics }) =>
      Metrics.map(({ Name }) => ({
        atMs: _aws?.Timestamp ?? 0,
        name: Name,
        dimensions: Object.fromEntries((Dimensions[0] ?? []).map((one) => [one, String(members[one])])),
        values: [members[Name]].flat() as number[],
      })),
    )
  })
}

/** What a line of a widget draws: a metric, perhaps some of its dimensions, and a statistic. */
export interface Line {
  readonly label: string
  readonly name: string
  readonly where: Readonly<Record<string, string>>
  readonly statistic: string
  /** A line for each combination of dimensions, or one for all together. */
  readonly together: boolean
}

/** Of a line as a dashboard's body has it; undefined for metrics of AWS itself, which nobody records here. */
export function lineOf(line: readonly unknown[]): Line | undefined {
  const [first] = line
  const last = line.at(-1) as { readonly label?: string; readonly stat?: string; readonly expression?: string }
  if (typeof first === 'object') return searched(last.expression ?? '', last.label ?? '')
  if (!String(first).startsWith('Setpoint/')) return undefined
  const texts = line.filter((one) => typeof one === 'string').slice(1)
  const pairs = texts.slice(1).flatMap((text, i, all) => (i % 2 === 0 ? [[text, all[i + 1] ?? '']] : []))
  return {
    label: last.label ?? '',
    name: texts[0] ?? '',
    where: Object.fromEntries(pairs) as Record<string, string>,
    statistic: last.stat ?? 'Sum',
    together: true,
  }
}

function searched(expression: string, label: string): Line | undefined {
  const match = /MetricName="(\w+)"(.*)', '(\w+)', 60\)/.exec(expression)
  if (match === null) return undefined
  const [, name = '', conditions = '', statistic = ''] = match
  const where = Object.fromEntries(
    [...conditions.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = '', value = '']) => [key, value]),
  )
  return { label, name, where, statistic, together: expression.startsWith('SUM') }
}

export interface Series {
  readonly label: string
  /** By bucket; undefined where nothing was written. */
  readonly values: readonly (number | undefined)[]
}

export interface Span {
  readonly fromMs: number
  readonly toMs: number
  readonly buckets: number
}

export function seriesOf(line: Line, points: readonly Point[], span: Span): readonly Series[] {
  const { name, where, statistic, together, label } = line
  const found = points.filter(
    (point) => point.name === name && Object.entries(where).every(([key, value]) => point.dimensions[key] === value),
  )
  const groups = Map.groupBy(found, ({ dimensions }) => (together ? label : nameOf(dimensions, where)))
  return [...groups].map(([group, some]) => ({
    label: together || label === '' ? group : `${group} ${label}`,
    values: inBuckets(some, span).map((values) => statisticOf(values, statistic)),
  }))
}

function nameOf(dimensions: Point['dimensions'], where: Line['where']): string {
  const differing = Object.entries(dimensions).filter(([key]) => !(key in where))
  return differing.map(([, value]) => value).join(' ')
}

function inBuckets(points: readonly Point[], { fromMs, toMs, buckets }: Span): readonly (readonly number[])[] {
  const placed = Map.groupBy(points, ({ atMs }) => Math.floor(((atMs - fromMs) / (toMs - fromMs)) * buckets))
  return Array.from({ length: buckets }, (_, i) => (placed.get(i) ?? []).flatMap(({ values }) => values))
}

function statisticOf(values: readonly number[], statistic: string): number | undefined {
  if (values.length === 0) return undefined
  const sorted = values.toSorted((a, b) => a - b)
  if (statistic === 'Sum') return values.reduce((sum, value) => sum + value, 0)
  if (statistic === 'Maximum') return sorted.at(-1)
  const quantile = Number(statistic.slice(1)) / 100
  return sorted[Math.min(sorted.length - 1, Math.floor(quantile * sorted.length))]
}
