import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createPrometheusTelemetry } from '../../../../shared/adapters/local/prometheus-telemetry.ts'
import { readProcess } from '../../../../shared/adapters/node/process-metrics.ts'
import type { Metric } from '../../../../shared/model/metrics.ts'

const runs: Metric<'counter', 'controller' | 'result'> = {
  name: 'runs_total',
  type: 'counter',
  help: 'Runs.',
  labels: ['controller', 'result'],
}
const depth: Metric<'gauge', 'name'> = { name: 'depth', type: 'gauge', help: 'Depth.', labels: ['name'] }
const seconds: Metric<'histogram', 'name'> = {
  name: 'run_seconds',
  type: 'histogram',
  help: 'How long.',
  labels: ['name'],
  buckets: [0.1, 1, 10],
}

describe('the exposition text', () => {
  it('shows a counter at 0 as soon as somebody asks for it', () => {
    const telemetry = createPrometheusTelemetry()
    telemetry.counter(runs, { controller: 'a', result: 'success' })
    expect(telemetry.exposition()).toBe(
      '# HELP runs_total Runs.\n# TYPE runs_total counter\nruns_total{controller="a",result="success"} 0\n',
    )
  })

  it('keeps a family together, whatever the order in which its series were asked for', () => {
    const telemetry = createPrometheusTelemetry()
    telemetry.counter(runs, { controller: 'a', result: 'success' })(2)
    telemetry.read(depth, { name: 'a' }, () => 7)
    telemetry.counter(runs, { controller: 'a', result: 'error' })()
    expect(telemetry.exposition().split('\n')).toEqual([
      '# HELP runs_total Runs.',
      '# TYPE runs_total counter',
      'runs_total{controller="a",result="success"} 2',
      'runs_total{controller="a",result="error"} 1',
      '# HELP depth Depth.',
      '# TYPE depth gauge',
      'depth{name="a"} 7',
      '',
    ])
  })

  it('writes labels in the order of the metric, and escapes what would end them', () => {
    const telemetry = createPrometheusTelemetry()
    telemetry.counter(runs, { result: 'a"b\\c\nd', controller: 'x' })
    expect(telemetry.exposition()).toContain('runs_total{controller="x",result="a\\"b\\\\c\\nd"} 0\n')
  })

  it('escapes what would end a help line', () => {
    const telemetry = createPrometheusTelemetry()
    telemetry.counter({ ...runs, help: 'one\\two\nthree' }, { controller: 'x', result: 'y' })
    expect(telemetry.exposition()).toContain('# HELP runs_total one\\\\two\\nthree\n')
  })

  it('counts an observation in every bucket whose bound it does not exceed', () => {
    const telemetry = createPrometheusTelemetry()
    const observe = telemetry.histogram(seconds, { name: 'a' })
    for (const value of [0.05, 0.1, 0.5, 100]) observe(value)
    expect(telemetry.exposition().split('\n').slice(2)).toEqual([
      'run_seconds_bucket{name="a",le="0.1"} 2',
      'run_seconds_bucket{name="a",le="1"} 3',
      'run_seconds_bucket{name="a",le="10"} 3',
      'run_seconds_bucket{name="a",le="+Inf"} 4',
      'run_seconds_sum{name="a"} 100.65',
      'run_seconds_count{name="a"} 4',
      '',
    ])
  })

  it('has buckets that never fall and end at the count, whatever was observed', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ noNaN: true, min: 0, max: 1e6 })), (values) => {
        const telemetry = createPrometheusTelemetry()
        const observe = telemetry.histogram(seconds, { name: 'a' })
        for (const value of values) observe(value)
        const shown = [...telemetry.exposition().matchAll(/le="(.+?)"} (\d+)/g)].map(([, le, count]) => ({
          bound: le === '+Inf' ? Infinity : Number(le),
          count: Number(count),
        }))
        for (const { bound, count } of shown) expect(count).toBe(values.filter((value) => value <= bound).length)
      }),
    )
  })

  it('writes a metric without labels without braces', () => {
    const telemetry = createPrometheusTelemetry()
    telemetry.histogram({ ...seconds, labels: [], buckets: [] }, {})(2)
    expect(telemetry.exposition()).toMatch(/\nrun_seconds_bucket\{le="\+Inf"\} 1\nrun_seconds_sum 2\n/)
  })

  it.each([
    [Infinity, '+Inf'],
    [-Infinity, '-Inf'],
    [NaN, 'NaN'],
    [1e21, '1e+21'],
  ])('writes %d as its readers do', (value, text) => {
    const telemetry = createPrometheusTelemetry()
    telemetry.read({ ...depth, labels: [] }, {}, () => value)
    expect(telemetry.exposition()).toContain(`\ndepth ${text}\n`)
  })
})

describe('series', () => {
  it('are the same for the same labels', () => {
    const telemetry = createPrometheusTelemetry()
    telemetry.counter(runs, { controller: 'a', result: 'b' })(1)
    telemetry.counter(runs, { controller: 'a', result: 'b' })(2)
    expect(telemetry.valueOf(runs, { controller: 'a', result: 'b' })).toBe(3)
  })

  it('say nothing that nobody asked for', () => {
    const telemetry = createPrometheusTelemetry()
    expect(telemetry.valueOf(runs, { controller: 'a', result: 'b' })).toBeUndefined()
  })

  it('are read when somebody looks', () => {
    const telemetry = createPrometheusTelemetry()
    let waiting = 1
    telemetry.read(depth, { name: 'a' }, () => waiting)
    waiting = 5
    expect(telemetry.valueOf(depth, { name: 'a' })).toBe(5)
  })
})

it('the process tells its CPU time, memory and start', () => {
  const telemetry = createPrometheusTelemetry()
  readProcess(telemetry)
  const value = (name: string): number => Number(new RegExp(`^${name} (.+)$`, 'm').exec(telemetry.exposition())?.[1])
  expect(value('process_cpu_seconds_total')).toBeGreaterThan(0)
  expect(value('process_resident_memory_bytes')).toBeGreaterThan(1e6)
  expect(value('process_start_time_seconds')).toBeLessThanOrEqual(Date.now() / 1_000)
  expect(value('nodejs_heap_size_used_bytes')).toBeGreaterThan(1e6)
})
