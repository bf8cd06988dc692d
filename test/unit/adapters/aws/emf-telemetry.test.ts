import { beforeEach, describe, expect, it } from 'vitest'
import { emfMetrics, emfNamespace } from '../../../../shared/adapters/aws/emf-metrics.ts'
import { createEmfTelemetry, type EmfTelemetry } from '../../../../shared/adapters/aws/emf-telemetry.ts'
import { metrics, type Metric } from '../../../../shared/model/metrics.ts'
import { createVirtualClock } from '../../../../shared/testing/virtual-clock.ts'

interface Line {
  readonly _aws?: {
    readonly Timestamp: number
    readonly CloudWatchMetrics: readonly {
      readonly Namespace: string
      readonly Dimensions: readonly (readonly string[])[]
      readonly Metrics: readonly { readonly Name: string; readonly Unit: string }[]
    }[]
  }
  readonly [member: string]: unknown
}

let telemetry: EmfTelemetry
let lines: Line[]

/** Every line that is written is held against the rules of the format. */
beforeEach(() => {
  lines = []
  const write = (line: string): void => {
    expect(line).toMatch(/^[^\n]+\n$/)
    const parsed = JSON.parse(line) as Line
    checkRules(parsed)
    lines.push(parsed)
  }
  telemetry = createEmfTelemetry({ write, clock: createVirtualClock(1_700_000_000_000) })
})

/** The rules of "Embedded metric format specification" in the CloudWatch User Guide. */
function checkRules({ _aws, ...members }: Line): void {
  if (_aws === undefined) return
  expect(_aws.Timestamp).toBe(1_700_000_000_000)
  expect(_aws.CloudWatchMetrics.length).toBeGreaterThan(0)
  for (const { Namespace, Dimensions, Metrics } of _aws.CloudWatchMetrics) {
    expect(Namespace).toMatch(/^(?!AWS\/)[\w./#:-]{1,255}$/)
    expect(Metrics.length).toBeGreaterThan(0)
    expect(Metrics.length).toBeLessThanOrEqual(100)
    for (const name of Dimensions.flat()) expect(members[name]).toMatch(/^[ -~]{1,1024}$/)
    for (const set of Dimensions) expect(set.length).toBeLessThanOrEqual(30)
    for (const { Name, Unit } of Metrics) {
      const values = [members[Name]].flat()
      expect(values.length).toBeGreaterThan(0)
      expect(values.length).toBeLessThanOrEqual(100)
      for (const value of values) expect(Number.isFinite(value)).toBe(true)
      expect(['Count', 'Seconds', 'Bytes']).toContain(Unit)
    }
  }
}

const widgets = { controller: 'widgets' }

describe('emf telemetry', () => {
  it('writes what has happened since the last flush in one line per set of labels', () => {
    const failed = telemetry.counter(metrics.reconcileErrors, widgets)
    const took = telemetry.histogram(metrics.reconcileSeconds, widgets)
    const success = telemetry.counter(metrics.reconcileTotal, { ...widgets, result: 'success' })
    failed()
    failed(2)
    took(0.5)
    took(1.5)
    success()
    telemetry.flush()
    expect(lines).toEqual([
      {
        _aws: {
          Timestamp: 1_700_000_000_000,
          CloudWatchMetrics: [
            {
              Namespace: 'Setpoint',
              Dimensions: [['controller']],
              Metrics: [
                { Name: 'controller_runtime_reconcile_errors_total', Unit: 'Count' },
                { Name: 'controller_runtime_reconcile_time_seconds', Unit: 'Seconds' },
              ],
            },
          ],
        },
        controller: 'widgets',
        controller_runtime_reconcile_errors_total: 3,
        controller_runtime_reconcile_time_seconds: [0.5, 1.5],
      },
      {
        _aws: {
          Timestamp: 1_700_000_000_000,
          CloudWatchMetrics: [
            {
              Namespace: 'Setpoint',
              Dimensions: [['controller', 'result']],
              Metrics: [{ Name: 'controller_runtime_reconcile_total', Unit: 'Count' }],
            },
          ],
        },
        controller: 'widgets',
        result: 'success',
        controller_runtime_reconcile_total: 1,
      },
    ])
  })

  it('writes nothing when nothing has happened', () => {
    const failed = telemetry.counter(metrics.reconcileErrors, widgets)
    telemetry.histogram(metrics.reconcileSeconds, widgets)
    telemetry.flush()
    failed()
    telemetry.flush()
    telemetry.flush()
    expect(lines).toHaveLength(1)
  })

  it('adds to one series from all who asked for it', () => {
    telemetry.counter(metrics.repairs, widgets)()
    telemetry.counter(metrics.repairs, widgets)()
    telemetry.flush()
    expect(lines).toMatchObject([{ setpoint_repairs_total: 2 }])
  })

  it('loses no observation when there are more than fit into a line', () => {
    const took = telemetry.histogram(metrics.reconcileSeconds, widgets)
    const values = Array.from({ length: 250 }, (_, i) => i)
    for (const value of values) took(value)
    telemetry.counter(metrics.repairs, widgets)()
    telemetry.flush()
    expect(lines).toHaveLength(3)
    expect(lines.flatMap((line) => line['controller_runtime_reconcile_time_seconds'])).toEqual(values)
    expect(lines.filter((line) => 'setpoint_repairs_total' in line)).toHaveLength(1)
  })

  it('keeps an observation of 0, which is one', () => {
    telemetry.histogram(metrics.timeToConverge, widgets)(0)
    telemetry.flush()
    expect(lines).toMatchObject([{ setpoint_time_to_converge_seconds: 0 }])
  })

  it('reads gauges when it flushes, and counters that are read by how much they grew', () => {
    let seconds = 5
    telemetry.read(metrics.oldestUnconverged, widgets, () => seconds)
    telemetry.read(metrics.repairs, widgets, () => seconds * 2)
    telemetry.flush()
    seconds = 7
    telemetry.flush()
    seconds = 0
    telemetry.flush()
    const told = lines.map((line) => [line['setpoint_oldest_unconverged_seconds'], line['setpoint_repairs_total']])
    expect(told.slice(0, 2)).toEqual([
      [5, 10],
      [7, 4],
    ])
    expect(lines.slice(2).map((line) => line['setpoint_oldest_unconverged_seconds'])).toEqual([undefined])
  })

  it('has labels that are no dimensions in the line, for the log', () => {
    const labels = { verb: 'get', group: 'apps', resource: 'widgets', subresource: '' }
    telemetry.counter(metrics.requests, { ...labels, code: '200' })()
    telemetry.flush()
    const metric = { Dimensions: [['verb', 'code']], Metrics: [{ Name: 'apiserver_request_total', Unit: 'Count' }] }
    const own = { ...labels, code: '200', apiserver_request_total: 1 }
    expect(lines).toMatchObject([{ ...own, _aws: { CloudWatchMetrics: [metric] } }])
  })

  it('writes to the log what is no custom metric, and leaves out the states of one process', () => {
    telemetry.counter(metrics.reads, widgets)(4)
    telemetry.read(metrics.activeWorkers, widgets, () => 3)
    telemetry.flush()
    expect(lines).toEqual([{ controller: 'widgets', setpoint_reads_total: 4 }])
  })
})

describe('the list of metrics', () => {
  /** A number in every series the code could ask for, of a controller and a request. */
  function useEverything(): void {
    const values = { controller: 'c', name: 'c', result: 'success', advice: 'FanOut', verb: 'get', code: '200' }
    for (const metric of Object.values<Metric>(metrics)) {
      const labels = Object.fromEntries(
        metric.labels.map((name) => [name, (values as Record<string, string>)[name] ?? 'x']),
      )
      if (metric.type === 'gauge') telemetry.read(metric as Metric<'gauge'>, labels, () => 1)
      if (metric.type === 'counter') telemetry.counter(metric as Metric<'counter'>, labels)()
      if (metric.type === 'histogram') telemetry.histogram(metric as Metric<'histogram'>, labels)(1)
    }
  }

  it('is what is written when everything happens', () => {
    useEverything()
    telemetry.flush()
    const written = lines.flatMap(({ _aws: { CloudWatchMetrics: directives } = { CloudWatchMetrics: [] } }) =>
      directives.flatMap(({ Namespace, Dimensions, Metrics }) =>
        Metrics.flatMap(({ Name, Unit }) =>
          Dimensions.map((dimensions) => `${Namespace} ${Name} ${Unit} ${dimensions.join()}`),
        ),
      ),
    )
    const listed = emfMetrics().map(
      ({ name, unit, dimensions }) => `${emfNamespace} ${name} ${unit} ${dimensions.join()}`,
    )
    expect(written.toSorted()).toEqual(listed.toSorted())
  })

  it('goes to the namespace of its deployment', () => {
    const written: string[] = []
    const clock = createVirtualClock(0)
    const own = createEmfTelemetry({ write: (line) => void written.push(line), clock, namespace: 'Setpoint/prod' })
    own.counter(metrics.repairs, widgets)()
    own.flush()
    expect(written.join()).toContain('"Namespace":"Setpoint/prod"')
  })

  it('has dimensions of closed sets only: never the name or the namespace of an object', () => {
    const dimensions = new Set(emfMetrics().flatMap((metric) => metric.dimensions))
    expect([...dimensions].toSorted()).toEqual(['advice', 'code', 'controller', 'result', 'verb'])
  })

  it('names only labels that the metric has', () => {
    const labels = new Map(Object.values<Metric>(metrics).map((metric) => [metric.name, metric.labels]))
    for (const { name, dimensions } of emfMetrics())
      expect(labels.get(name)).toEqual(expect.arrayContaining([...dimensions]))
  })
})
