import { humanDuration } from '../../model/human-duration.ts'
import { keyText, type ObjectKey } from '../../model/object-key.ts'
import { metrics, type Labels, type Metric } from '../../model/metrics.ts'
import type { MetricReader } from '../../ports/telemetry.ts'
import type { Controller } from '../../reconciler/controller.ts'
import type { Rights } from '../../reconciler/rights.ts'

/**
 * The checklist before production, for each controller, from its definition and from what its runs have shown since
 * this code was loaded. What cannot be known from either is said to be unknown: it is for people to look at.
 */
export function doctorReport(controllers: readonly Controller[], read: MetricReader, storage?: Storage): string {
  const sections = controllers.map((controller) => {
    const findings = checks.map((check) => check(controller, readingOf(controller, read)))
    return [`${controller.name}, for ${controller.kind.kind}`, ...[...findings, ...runsOn(controller)].map(line)].join(
      '\n',
    )
  })
  return `${[legend, ...sectionOf(storage), ...sections].join('\n\n')}\n`
}

const legend =
  'ok: in order, by what was declared and seen. look: a person should look. unknown: cannot be known from here.\nNumbers are counted since this code was loaded.'

/** What the store says of itself. */
export interface Storage {
  readonly damaged: readonly ObjectKey[]
  /** Whether every object was read since the process began. */
  readonly areAllRead: boolean
  readonly isHeld: boolean
  /** Whether a write is taken now. */
  readonly takesWrites: boolean
  /** Why it is not, where that is known. */
  readonly whyNoWrites?: string | undefined
}

function sectionOf(storage: Storage | undefined): readonly string[] {
  if (storage === undefined) return []
  const { damaged, areAllRead, isHeld, takesWrites, whyNoWrites } = storage
  const copy: Finding = isHeld
    ? {
        verdict: 'look',
        question: 'does it act?',
        answer: 'no: this is a copy, and nothing is reconciled until --resume',
      }
    : { verdict: 'ok', question: 'does it act?', answer: 'this is the original, or it took the place of the original' }
  const named = damaged.slice(0, namedMax).map(keyText).join(', ')
  const more = damaged.length > namedMax ? ` and ${damaged.length - namedMax} more` : ''
  const whole: Finding =
    damaged.length === 0
      ? {
          verdict: areAllRead ? 'ok' : 'unknown',
          question: 'whole?',
          answer: areAllRead
            ? 'every object was read since the start, and none was damaged; npm start -- --check reads the rest, too'
            : 'no object that was read was damaged; not every one was read yet',
        }
      : { verdict: 'look', question: 'whole?', answer: `damaged, and left alone: ${named}${more}` }
  const writes: Finding = takesWrites
    ? { verdict: 'ok', question: 'takes writes?', answer: 'a write was taken just now' }
    : {
        verdict: 'look',
        question: 'takes writes?',
        answer: `no: nothing can be changed or reconciled; ${whyNoWrites ?? 'the log says why, a full disk most often'}`,
      }
  return [['storage', ...[whole, writes, copy].map(line)].join('\n')]
}

const namedMax = 20

interface Finding {
  readonly verdict: 'ok' | 'look' | 'unknown'
  readonly question: string
  readonly answer: string
}

type Check = (controller: Controller, reading: Reading) => Finding

/** What the metrics say of one controller. */
type Reading = (metric: Metric, more?: Labels) => number

function readingOf({ name }: Controller, read: MetricReader): Reading {
  return (metric, more) => read(metric, { name, controller: name, ...more }) ?? 0
}

function line({ verdict, question, answer }: Finding): string {
  return `  ${verdict.padEnd(7)}  ${question.padEnd(22)}  ${answer}`
}

const checks: readonly Check[] = [
  (_, value) => {
    const question = 'idempotent?'
    const wrote = value(metrics.steadyRuns, { result: 'wrote' })
    const all =
      wrote + value(metrics.steadyRuns, { result: 'quiet' }) + value(metrics.steadyRuns, { result: 'requeued' })
    if (all === 0)
      return { verdict: 'unknown', question, answer: 'no run has seen a converged object yet; wait for a resync' }
    const answer = `${wrote} of ${all} runs of converged objects wrote something`
    return { verdict: wrote * 10 > all ? 'look' : 'ok', question, answer }
  },
  ({ owns }) => {
    const kinds = owns.map(({ kind }) => kind.kind).join(', ')
    return owns.length > 0
      ? { verdict: 'ok', question: 'owners?', answer: `children of ${kinds} wake their owner, and are deleted with it` }
      : {
          verdict: 'unknown',
          question: 'owners?',
          answer: 'the controller owns no kind; if it applies children, name them in `owns`',
        }
  },
  ({ finalizer }) =>
    finalizer === undefined
      ? {
          verdict: 'unknown',
          question: 'finalizer?',
          answer: 'no `cleanup`: correct if the reconciler makes nothing outside of this control plane',
        }
      : { verdict: 'ok', question: 'finalizer?', answer: `${finalizer} is held until \`cleanup\` is done` },
  ({ kind, reportsStatus }) => {
    const hasStatus = kind.definition?.spec.versions.some(({ subresources }) => subresources?.status !== undefined)
    return hasStatus === true && reportsStatus
      ? {
          verdict: 'ok',
          question: 'status path?',
          answer: 'status is written separately from spec, and only if it differs',
        }
      : {
          verdict: 'look',
          question: 'status path?',
          answer: 'the kind has no status: what was observed is not visible',
        }
  },
  () => ({
    verdict: 'ok',
    question: 'self-trigger filter?',
    answer: 'a write of the status never wakes its own controller',
  }),
  (_, value) => {
    const repeated = value(metrics.repeatedErrors)
    const answer = `${repeated} failures had the same message as the four before them`
    return repeated === 0
      ? { verdict: 'ok', question: 'error or not yet?', answer }
      : { verdict: 'look', question: 'error or not yet?', answer: `${answer}: say "not ready yet" with waiting(…)` }
  },
  ({ resyncMs }, value) => {
    const requeued = value(metrics.steadyRuns, { result: 'requeued' })
    const answer = `${requeued} runs asked for another run although the object had converged`
    return requeued === 0
      ? { verdict: 'ok', question: 'quiet at rest?', answer }
      : {
          verdict: 'look',
          question: 'quiet at rest?',
          answer: `${answer}: a reference, \`owns\` or the resync (${humanDuration(resyncMs)}) may replace them`,
        }
  },
  (_, value) => {
    const runs = runsOf(value)
    if (runs === 0) return { verdict: 'unknown', question: 'reads?', answer: 'nothing has run yet' }
    const perRun = value(metrics.reads) / runs
    return { verdict: perRun > 20 ? 'look' : 'ok', question: 'reads?', answer: `${perRun.toFixed(1)} in each run` }
  },
  () => ({
    verdict: 'ok',
    question: 'metrics and logs?',
    answer: 'each run is counted, timed and logged with its reasons: /metrics, SETPOINT_LOG=debug',
  }),
  ({ concurrency }) => ({
    verdict: 'ok',
    question: 'exclusive?',
    answer: `one run per object; ${concurrency} objects at once; one process has the data directory`,
  }),
  ({ timeoutMs }, value) => {
    const timeouts = value(metrics.timeouts)
    const runs = runsOf(value)
    const mean = runs === 0 ? '' : `, ${((value(metrics.reconcileSeconds) / runs) * 1_000).toFixed(0)} ms in the mean`
    const answer = `${humanDuration(timeoutMs)} for a run (${timeouts} were too long${mean}); retries wait 1 s to 1000 s and never end`
    return { verdict: timeouts === 0 ? 'ok' : 'look', question: 'timeouts and retries?', answer }
  },
  ({ resyncMs }, value) => {
    const repairs = value(metrics.repairs)
    const answer =
      resyncMs === 0
        ? 'no resync: changes outside are not found'
        : `every ${humanDuration(resyncMs)}; ${value(metrics.driftFound)} children corrected, ${repairs} lost wake-ups repaired`
    return { verdict: resyncMs === 0 || repairs > 0 ? 'look' : 'ok', question: 'drift?', answer }
  },
  ({ rights }) => ({
    verdict: 'ok',
    question: 'least privilege?',
    answer: `its runs may ${listRights(rights)}; check which accounts outside the process has`,
  }),
]

/** Only of a controller that says on what it runs. */
function runsOn({ runsOn: find }: Controller): readonly Finding[] {
  if (find === undefined) return []
  const question = 'runs on?'
  const found = find()
  if (found === undefined) return [{ verdict: 'unknown', question, answer: 'nothing has run yet' }]
  const { what, advice } = found
  return [
    advice === undefined
      ? { verdict: 'ok', question, answer: what }
      : { verdict: 'look', question, answer: `${what}; ${advice}` },
  ]
}

function listRights(rights: Rights): string {
  return [...rights].map(([kind, { access }]) => `${access} ${kind.replace(/^\//, '')}`).join(', ')
}

function runsOf(value: Reading): number {
  const results = ['success', 'error', 'requeue', 'requeue_after']
  return results.reduce((sum, result) => sum + value(metrics.reconcileTotal, { result }), 0)
}
