import type { Schedule } from './schedule.ts'

/**
 * These facts decide what a CronJob has to do now. The rules are those of Kubernetes' controller
 * (cronjob_controllerv2.go, `syncCronJob`): the last of the missed runs is started late, and only within the starting
 * deadline. The policy Forbid waits for the active run, and then starts the last time that came meanwhile. A deleted
 * Job is not made again.
 */
export interface CronFacts {
  readonly schedule: Schedule
  readonly createdMs: number
  /** The time of the schedule that the last run was for. */
  readonly lastMs: number | undefined
  readonly nowMs: number
  readonly startingDeadlineSeconds?: number | undefined
  readonly concurrencyPolicy: 'Allow' | 'Forbid' | 'Replace'
  readonly suspend: boolean
  readonly jobs: readonly JobFact[]
}

export interface JobFact {
  readonly name: string
  /** The time of the schedule that it was made for; left out of one that somebody made by hand. */
  readonly dueMs?: number
  readonly madeMs: number
  readonly finished: Finished | undefined
  readonly deleting: boolean
}

export interface Finished {
  readonly succeeded: boolean
  readonly atMs: number
}

export interface Plan {
  /** The time of the schedule to start a run for, now. */
  readonly startMs?: number
  /** Names of Jobs that must go for it. */
  readonly replaced: readonly string[]
  /** A time whose run will not be made up for. */
  readonly tooLateMs?: number
  /** How many times passed since the last run. */
  readonly missed: number
  /** When to look again; `undefined` if the schedule has no time left. */
  readonly nextMs: number | undefined
}

export function planRuns(facts: CronFacts): Plan {
  const { schedule, suspend, nowMs, concurrencyPolicy, lastMs, createdMs } = facts
  const idle = { replaced: [], missed: 0, nextMs: schedule.next(nowMs) }
  if (suspend) return idle
  // A time to come is one of a clock that was ahead: nothing is settled by it.
  const settledMs = Math.min(lastMs ?? createdMs, nowMs)
  const due = schedule.latest(Math.max(settledMs, deadlineMs(facts)), nowMs)
  if (due === undefined) return { ...idle, ...tooLate(schedule.latest(settledMs, nowMs)) }
  const seen = { ...idle, missed: due.missed }
  const active = facts.jobs.filter(({ finished }) => finished === undefined)
  // The end of the active run wakes the CronJob.
  if (concurrencyPolicy === 'Forbid' && active.length > 0) return seen
  const replaced = concurrencyPolicy === 'Replace' ? active.filter(({ deleting }) => !deleting) : []
  return { ...seen, startMs: due.atMs, replaced: replaced.map(({ name }) => name) }
}

/** Runs of before this time are too late. */
function deadlineMs({ startingDeadlineSeconds, nowMs }: CronFacts): number {
  return startingDeadlineSeconds === undefined ? -Infinity : nowMs - startingDeadlineSeconds * 1000
}

function tooLate(last: ReturnType<Schedule['latest']>): Pick<Plan, 'tooLateMs'> {
  return last === undefined ? {} : { tooLateMs: last.atMs }
}

/** The finished Jobs that are more than the history is to hold, oldest first. */
export function historyBeyond(
  jobs: readonly JobFact[],
  limits: { readonly successfulJobsHistoryLimit: number; readonly failedJobsHistoryLimit: number },
): readonly JobFact[] {
  const beyond = (succeeded: boolean, limit: number): readonly JobFact[] => {
    const ended = jobs.filter(({ finished, deleting }) => finished?.succeeded === succeeded && !deleting)
    const oldestFirst = ended.toSorted((a, b) => (a.dueMs ?? a.madeMs) - (b.dueMs ?? b.madeMs))
    return oldestFirst.slice(0, Math.max(0, ended.length - limit))
  }
  return [...beyond(true, limits.successfulJobsHistoryLimit), ...beyond(false, limits.failedJobsHistoryLimit)]
}
