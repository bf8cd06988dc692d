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

/** All that one run counts, with its labels. */
function allCountedFor(run: Partial<RunRecord>): readonly string[] {
  const counted: string[] = []
  const add = ({ name }: { readonly name: string }, labels: object) => {
    const { controller: _, name: __, ...more } = labels as Record<string, string>
    const text = [name, ...Object.values(more)].join(' ')
    return (by = 1) => void counted.push(`${text} ${by}`)
  }
  createRunMetrics('widget', { counter: add, histogram: add, read: () => {} })({ ...quiet, ...run })
  return counted
}

const failed = { kind: 'failed', reason: 'R', message: 'm', quiet: false } as const
const took = `${metrics.reconcileSeconds.name} 0.02`
const came = (result: string): string => `${metrics.reconcileTotal.name} ${result} 1`
const steady = (result: string): string => `${metrics.steadyRuns.name} ${result} 1`
const one = ({ name }: { readonly name: string }): string => `${name} 1`
const written = { created: 1, updated: 2, unchanged: 4, deleted: 3 }
const none = quiet.effects.written

it.each<[string, Partial<RunRecord>, readonly string[]]>([
  ['that is done', {}, [came('success')]],
  ['that asks for another', { verdict: { kind: 'again', afterMs: 1 } }, [came('requeue_after')]],
  ['that asks for a time', { verdict: { kind: 'retryAfter', afterMs: 1, message: 'm' } }, [came('requeue_after')]],
  ['that failed', { verdict: failed }, [came('error'), one(metrics.retries), one(metrics.reconcileErrors)]],
  ['that met a conflict', { verdict: { ...failed, quiet: true } }, [came('requeue'), one(metrics.retries)]],
  [
    'that took too long',
    { verdict: { ...failed, reason: 'DeadlineExceeded' } },
    [came('error'), one(metrics.retries), one(metrics.reconcileErrors), one(metrics.timeouts)],
  ],
  [
    'that was stopped',
    { verdict: { kind: 'stopped', reason: 'DeadlineExceeded', message: 'm' } },
    [came('error'), one(metrics.terminalErrors), one(metrics.reconcileErrors)],
  ],
  [
    'that wrote',
    { effects: { ...quiet.effects, written } },
    [
      came('success'),
      `${metrics.writes.name} created 1`,
      `${metrics.writes.name} updated 2`,
      `${metrics.writes.name} unchanged 4`,
      `${metrics.writes.name} deleted 3`,
    ],
  ],
  [
    'that called outside',
    { effects: { ...quiet.effects, outside: new Map([['find error', 2] as const, ['create success', 1] as const]) } },
    [came('success'), `${metrics.outsideCalls.name} find error 2`, `${metrics.outsideCalls.name} create success 1`],
  ],
  ['that observed a change', { convergedMs: 0 }, [came('success'), `${metrics.timeToConverge.name} 0`]],
  ['that observed it late', { convergedMs: 1_500 }, [came('success'), `${metrics.timeToConverge.name} 1.5`]],
  ['that mended', { isRepair: true }, [came('success'), one(metrics.repairs)]],
  ['that failed as before', { isRepeated: true }, [came('success'), one(metrics.repeatedErrors)]],
  ['that had nothing to do', { wasSteady: true }, [came('success'), steady('quiet')]],
  [
    'that had nothing to do, and asks for another',
    { wasSteady: true, verdict: { kind: 'again', afterMs: 1 } },
    [came('requeue_after'), steady('requeued')],
  ],
  [
    'that is ready, and asks for another',
    { wasSteady: true, verdict: { kind: 'again', afterMs: 1, ready: true } },
    [came('requeue_after'), steady('requeued')],
  ],
  [
    'that waits',
    { wasSteady: true, verdict: { kind: 'again', afterMs: 1, ready: { reason: 'R', message: 'm' } } },
    [came('requeue_after'), steady('quiet')],
  ],
  ...(['created', 'updated', 'deleted'] as const).map((how): [string, Partial<RunRecord>, readonly string[]] => [
    `that had nothing to do, and has ${how}`,
    { wasSteady: true, effects: { ...quiet.effects, written: { ...none, [how]: 1 } } },
    [came('success'), `${metrics.writes.name} ${how} 1`, steady('wrote')],
  ]),
  [
    'that had nothing to do, and wrote what was there',
    { wasSteady: true, effects: { ...quiet.effects, written: { ...none, unchanged: 1 } } },
    [came('success'), `${metrics.writes.name} unchanged 1`, steady('quiet')],
  ],
])('a run %s counts', (_what, run, counted) => {
  expect(allCountedFor(run)).toEqual([took, ...counted])
})
