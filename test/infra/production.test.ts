import { parser } from '@prometheus-io/lezer-promql'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { metrics, type Metric } from '../../shared/model/metrics.ts'
import { root } from '../support/control-plane-process.ts'
import { runProgram } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const folder = join(root, 'infra/production')
const read = (name: string): string => readFileSync(join(folder, name), 'utf8')
const byName = new Map<string, Metric>(Object.values(metrics).map((metric) => [metric.name, metric]))

/** Labels that Prometheus adds itself, and the bucket of a histogram. */
const everywhere = ['job', 'instance', 'le']

/** What an expression names that no control plane has: metrics, and labels of a metric. */
function findUnknown(expression: string): readonly string[] {
  const series = expression.matchAll(/\b([a-z]+_[a-z_]+|up)\s*(?:\{([^}]*)\})?/g)
  return [...series].flatMap(([, name = '', selectors = '']) => {
    if (functions.includes(name)) return []
    const metric = byName.get(name) ?? byName.get(name.replace(/_(bucket|sum|count)$/, ''))
    const isPart = metric?.type === 'histogram' && metric.name !== name
    if (name !== 'up' && (metric === undefined || (metric.type === 'histogram' && !isPart))) return [name]
    const labels = [...selectors.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label)
    const known: readonly string[] = [...(metric?.labels ?? []), ...everywhere]
    return labels.filter((label) => !known.includes(label)).map((label) => `${name}{${label}}`)
  })
}

const functions = ['histogram_quantile', 'label_values']

/** Labels by which an expression groups; the series that it reads must have them. */
function findUngrouped(expression: string): readonly string[] {
  const names = [...expression.matchAll(/\b([a-z]+_[a-z_]+)\{/g)].map(([, name = '']) => name)
  const labels = names.flatMap((name) => {
    const metric = byName.get(name) ?? byName.get(name.replace(/_(bucket|sum|count)$/, ''))
    return metric?.labels ?? []
  })
  const groups = [...expression.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) =>
    list.split(',').map((one) => one.trim()),
  )
  return groups.filter((label) => !labels.includes(label) && !everywhere.includes(label))
}

/** What Prometheus' own grammar cannot read in an expression. Grafana puts a time in the place of its interval. */
function findUnreadable(expression: string): readonly string[] {
  const text = expression.replaceAll('$__rate_interval', '5m')
  const unreadable: string[] = []
  parser.parse(text).iterate({
    enter: ({ type, from, to }) => void (type.isError && unreadable.push(`${text}: at ${text.slice(from, to + 10)}`)),
  })
  return unreadable
}

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string; readonly description: string }
}

describe('the alert rules', () => {
  const { groups } = parse(read('alerts.yaml')) as { groups: readonly { rules: readonly Rule[] }[] }
  const rules = groups.flatMap((group) => group.rules)

  it.each(rules)('$alert reads what there is, and says what to do', ({ expr, labels, annotations }) => {
    expect([...findUnreadable(expr), ...findUnknown(expr), ...findUngrouped(expr)]).toEqual([])
    expect(expr).toContain('job="setpoint"')
    expect(['info', 'warning', 'critical']).toContain(labels.severity)
    expect(annotations.summary).toMatch(/\.$/)
    expect(annotations.description).toMatch(/\.$/)
  })

  it('would not pass with a metric or a label that is gone', () => {
    expect(findUnreadable('rate(up[5m]')).toHaveLength(1)
    expect(findUnknown('rate(setpoint_gone_total[5m])')).toEqual(['setpoint_gone_total'])
    expect(findUnknown('workqueue_depth{object="a"}')).toEqual(['workqueue_depth{object}'])
    expect(findUnknown('setpoint_time_to_converge_seconds{job="a"}')).toEqual(['setpoint_time_to_converge_seconds'])
    expect(findUngrouped('sum by (object) (workqueue_depth{job="a"})')).toEqual(['object'])
  })
})

interface Panel {
  readonly id: number
  readonly title: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly targets?: readonly { readonly expr: string }[]
}

describe("Grafana's dashboard", () => {
  const { panels, templating } = JSON.parse(read('dashboard.json')) as {
    panels: readonly Panel[]
    templating: { list: readonly { name: string; query: unknown }[] }
  }

  it('draws what there is', () => {
    const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
    expect(expressions.length).toBeGreaterThan(15)
    expect(expressions.flatMap((one) => [...findUnreadable(one), ...findUnknown(one), ...findUngrouped(one)])).toEqual(
      [],
    )
    const queries = templating.list.map(({ query }) => JSON.stringify(query).replaceAll('\\"', '"'))
    expect(queries.filter((one) => one.includes('label_values')).flatMap(findUnknown)).toEqual([])
  })

  it('has panels of their own number and place', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, i) => `${x + (i % w)},${y + Math.floor(i / w)}`),
    )
    expect(new Set(cells).size).toBe(cells.length)
    expect(panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true)
  })
})

describe('the unit of systemd', () => {
  const unit = read('setpoint.service')
  const analyze = '/usr/bin/systemd-analyze'

  it('runs the command that the package has', () => {
    const [, program = ''] =
      /^ExecStart=\/usr\/bin\/env node --max-semi-space-size=8 node_modules\/setpoint\/(\S+)\.js start /m.exec(unit) ??
      []
    expect(existsSync(join(root, `${program}.ts`))).toBe(true)
    expect(read('setpoint.sysusers')).toMatch(/^u setpoint /m)
  })

  it('gives Node the options that npm start and the image give it', () => {
    const optionsIn = (text: string): readonly string[] => text.match(/--max-[\w-]+=\d+/g) ?? []
    const start = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts.start
    const image = readFileSync(join(root, 'functions/command/image/write-image.ts'), 'utf8')
    expect(optionsIn(start)).toHaveLength(1)
    expect([optionsIn(unit), optionsIn(image)]).toEqual([optionsIn(start), optionsIn(start)])
  })

  it.skipIf(!existsSync(analyze))(
    'passes systemd-analyze verify',
    { meta: { skipped: 'no systemd-analyze' } },
    async () => {
      using scratch = temporaryDirectory('unit')
      const { writeFileSync } = await import('node:fs')
      const file = join(scratch.path, 'setpoint.service')
      writeFileSync(file, unit)
      const { code, stdout, stderr } = await runProgram(analyze, ['verify', '--man=no', file])
      expect({ code, said: (stdout + stderr).split('\n').filter((line) => line.includes('setpoint.service')) }).toEqual(
        {
          code: 0,
          said: [],
        },
      )
    },
  )
})
