import { describe, expect, it } from 'vitest'
import { doctorReport, type Storage } from '../../../../shared/engine/insight/doctor.ts'
import { metrics, type Labels, type Metric } from '../../../../shared/model/metrics.ts'
import type { Controller } from '../../../../shared/reconciler/controller.ts'

const legend =
  'ok: in order, by what was declared and seen. look: a person should look. unknown: cannot be known from here.\nNumbers are counted since this code was loaded.'

const withStatus = { kind: 'Widget', definition: { spec: { versions: [{}, { subresources: { status: {} } }] } } }
const plain = {
  name: 'widget',
  kind: withStatus,
  owns: [],
  reportsStatus: true,
  resyncMs: 3_600_000,
  timeoutMs: 60_000,
  concurrency: 10,
  rights: new Map(),
} as unknown as Controller

/** By the metric, and the result if it has one. */
type Numbers = Readonly<Record<string, number>>

function reportOf(controller: Partial<Controller>, numbers: Numbers = {}, storage?: Storage): string {
  const read = ({ name }: Metric, labels: Labels = {}): number | undefined => {
    const { result, name: queue, controller: of } = labels as Record<string, string>
    if (queue !== 'widget' || of !== 'widget') return undefined
    return numbers[result === undefined ? name : `${name} ${result}`]
  }
  return doctorReport([{ ...plain, ...controller }], read, storage)
}

/** The verdict and the answer to one question. */
function answer(question: string, report: string): string | undefined {
  const line = report.split('\n').find((one) => one.includes(` ${question} `))
  return line?.replace(` ${question}`, '').trim().replace(/ {2,}/, ' ')
}

it('a report has a legend, and a section for each controller', () => {
  const report = reportOf({})
  expect(report.startsWith(`${legend}\n\nwidget, for Widget\n  `)).toBe(true)
  expect(report.endsWith('\n')).toBe(true)
  expect(report.split('\n').filter((line) => line.startsWith('  '))).toHaveLength(13)
  expect(report).toContain('\n  unknown  idempotent?             no run has seen')
})

const of = (metric: Metric, result?: string): string =>
  result === undefined ? metric.name : `${metric.name} ${result}`
const steady = (result: string): string => of(metrics.steadyRuns, result)
const runs = (result: string): string => of(metrics.reconcileTotal, result)
const owned = (kind: string) => ({ kind: { kind } }) as never

describe('the checklist', () => {
  it.each<[string, Partial<Controller>, Numbers, string]>([
    ['idempotent?', {}, {}, 'unknown no run has seen a converged object yet; wait for a resync'],
    [
      'idempotent?',
      {},
      { [steady('wrote')]: 1, [steady('quiet')]: 4, [steady('requeued')]: 5 },
      'ok 1 of 10 runs of converged objects wrote something',
    ],
    [
      'idempotent?',
      {},
      { [steady('wrote')]: 2, [steady('quiet')]: 7, [steady('requeued')]: 10 },
      'look 2 of 19 runs of converged objects wrote something',
    ],
    ['owners?', {}, {}, 'unknown the controller owns no kind; if it applies children, name them in `owns`'],
    ['owners?', { owns: [owned('A')] }, {}, 'ok children of A wake their owner, and are deleted with it'],
    [
      'owners?',
      { owns: [owned('A'), owned('B')] },
      {},
      'ok children of A, B wake their owner, and are deleted with it',
    ],
    [
      'finalizer?',
      {},
      {},
      'unknown no `cleanup`: correct if the reconciler makes nothing outside of this control plane',
    ],
    ['finalizer?', { finalizer: 'a/b' }, {}, 'ok a/b is held until `cleanup` is done'],
    ['status path?', {}, {}, 'ok status is written separately from spec, and only if it differs'],
    ['status path?', { reportsStatus: false }, {}, 'look the kind has no status: what was observed is not visible'],
    [
      'status path?',
      { kind: { kind: 'Widget' } as never },
      {},
      'look the kind has no status: what was observed is not visible',
    ],
    [
      'status path?',
      { kind: { kind: 'Widget', definition: { spec: { versions: [{ subresources: {} }] } } } as never },
      {},
      'look the kind has no status: what was observed is not visible',
    ],
    ['self-trigger filter?', {}, {}, 'ok a write of the status never wakes its own controller'],
    ['error or not yet?', {}, {}, 'ok 0 failures had the same message as the four before them'],
    [
      'error or not yet?',
      {},
      { [of(metrics.repeatedErrors)]: 1 },
      'look 1 failures had the same message as the four before them: say "not ready yet" with waiting(…)',
    ],
    ['quiet at rest?', {}, {}, 'ok 0 runs asked for another run although the object had converged'],
    [
      'quiet at rest?',
      {},
      { [steady('requeued')]: 1 },
      'look 1 runs asked for another run although the object had converged: a reference, `owns` or the resync (60m) may replace them',
    ],
    ['reads?', {}, {}, 'unknown nothing has run yet'],
    ['reads?', {}, { [runs('success')]: 1, [of(metrics.reads)]: 20 }, 'ok 20.0 in each run'],
    ['reads?', {}, { [runs('error')]: 1, [runs('requeue')]: 1, [of(metrics.reads)]: 41 }, 'look 20.5 in each run'],
    ['reads?', {}, { [runs('requeue_after')]: 2, [of(metrics.reads)]: 1 }, 'ok 0.5 in each run'],
    ['exclusive?', {}, {}, 'ok one run per object; 10 objects at once; one process has the data directory'],
    ['timeouts and retries?', {}, {}, 'ok 60s for a run (0 were too long); retries wait 1 s to 1000 s and never end'],
    [
      'timeouts and retries?',
      {},
      { [runs('success')]: 4, [of(metrics.reconcileSeconds)]: 2, [of(metrics.timeouts)]: 1 },
      'look 60s for a run (1 were too long, 500 ms in the mean); retries wait 1 s to 1000 s and never end',
    ],
    ['drift?', {}, { [of(metrics.driftFound)]: 3 }, 'ok every 60m; 3 children corrected, 0 lost wake-ups repaired'],
    ['drift?', {}, { [of(metrics.repairs)]: 1 }, 'look every 60m; 0 children corrected, 1 lost wake-ups repaired'],
    ['drift?', { resyncMs: 0 }, {}, 'look no resync: changes outside are not found'],
    [
      'least privilege?',
      {
        rights: new Map([
          ['/ConfigMap', { access: 'write' }],
          ['g.org/Thing', { access: 'read' }],
        ]) as never,
      },
      {},
      'ok its runs may write ConfigMap, read g.org/Thing; check which accounts outside the process has',
    ],
    ['runs on?', { runsOn: () => {} }, {}, 'unknown nothing has run yet'],
    ['runs on?', { runsOn: () => ({ what: 'Postgres 18' }) }, {}, 'ok Postgres 18'],
    ['runs on?', { runsOn: () => ({ what: 'Postgres 9', advice: 'upgrade' }) }, {}, 'look Postgres 9; upgrade'],
  ])('%s %j %j: %s', (question, controller, numbers, expected) => {
    expect(answer(question, reportOf(controller, numbers))).toBe(expected)
  })

  it('does not ask on what a controller runs that does not say so', () => {
    expect(answer('runs on?', reportOf({}))).toBeUndefined()
  })
})

describe('what is said of the storage', () => {
  const damagedOf = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ group: '', kind: 'K', namespace: 'n', name: `o${i}` }))

  it.each<[Storage, string, string]>([
    [
      { damaged: [], areAllRead: true, isHeld: false, takesWrites: true },
      'does it act?',
      'ok this is the original, or it took the place of the original',
    ],
    [
      { damaged: [], areAllRead: true, isHeld: true, takesWrites: true },
      'does it act?',
      'look no: this is a copy, and nothing is reconciled until --resume',
    ],
    [
      { damaged: [], areAllRead: true, isHeld: false, takesWrites: true },
      'whole?',
      'ok every object was read since the start, and none was damaged; npm start -- --check reads the rest, too',
    ],
    [
      { damaged: [], areAllRead: false, isHeld: false, takesWrites: true },
      'whole?',
      'unknown no object that was read was damaged; not every one was read yet',
    ],
    [
      { damaged: damagedOf(1), areAllRead: true, isHeld: false, takesWrites: true },
      'whole?',
      'look damaged, and left alone: /K/n/o0',
    ],
    [
      { damaged: [], areAllRead: true, isHeld: false, takesWrites: true },
      'takes writes?',
      'ok a write was taken just now',
    ],
    [
      { damaged: [], areAllRead: true, isHeld: false, takesWrites: false },
      'takes writes?',
      'look no: nothing can be changed or reconciled; the log says why, a full disk most often',
    ],
    [
      { damaged: [], areAllRead: true, isHeld: false, takesWrites: false, whyNoWrites: 'a.db is away' },
      'takes writes?',
      'look no: nothing can be changed or reconciled; a.db is away',
    ],
  ])('%j %s %s', (storage, question, expected) => {
    const report = reportOf({}, {}, storage)
    expect(report).toContain('\n\nstorage\n  ')
    expect(answer(question, report)).toBe(expected)
  })

  it('is nothing where there is no store of its own', () => {
    expect(reportOf({})).not.toContain('storage')
  })

  it.each([
    [20, 20, ''],
    [21, 20, ' and 1 more'],
    [25, 20, ' and 5 more'],
  ])('names of %d damaged objects %d%s', (count, named, more) => {
    const told =
      answer(
        'whole?',
        reportOf({}, {}, { damaged: damagedOf(count), areAllRead: true, isHeld: false, takesWrites: true }),
      ) ?? ''
    expect([told.match(/o\d+/g)?.length, /( and \d+ more)?$/.exec(told)?.[0]]).toEqual([named, more])
  })
})
