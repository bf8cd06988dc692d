import { expect, it } from 'vitest'
import type { RunEffects } from '../../../../shared/engine/insight/run-effects.ts'
import { createRunMetrics, type RunRecord } from '../../../../shared/engine/insight/run-metrics.ts'
import { metrics } from '../../../../shared/model/metrics.ts'
import type { Telemetry } from '../../../../shared/ports/telemetry.ts'

const quiet: RunRecord = {
  verdict: { kind: 'done' },
  ms: 20,
  effects: { reads: 0, drift: 0, written: { created: 0, updated: 0, unchanged: 0, deleted: 0 } },
  wasSteady: false,
  convergedMs: undefined,
  isRepair: false,
  isRepeated: false,
}

/** What one run counts, but for what each run does. */
function countedFor(effects: Partial<RunEffects>): readonly string[] {
  const counted: string[] = []
  const telemetry: Telemetry = {
    counter:
      ({ name }) =>
      (by = 1) =>
        void counted.push(`${name} ${by}`),
    histogram: () => () => {},
    read: () => {},
  }
  createRunMetrics('widget', telemetry)({ ...quiet, effects: { ...quiet.effects, ...effects } })
  return counted.filter((one) => !one.startsWith(metrics.reconcileTotal.name))
}

it.each([
  [{}, []],
  [{ reads: 1 }, [`${metrics.reads.name} 1`]],
  [{ drift: 1 }, [`${metrics.driftFound.name} 1`]],
  [{ written: { ...quiet.effects.written, updated: 1 } }, [`${metrics.writes.name} 1`]],
])('%j is counted from the first on, and nothing else', (effects, counted) => {
  expect(countedFor(effects)).toEqual(counted)
})
