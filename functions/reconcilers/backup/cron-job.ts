import {
  again,
  conditionOf,
  defineReconciler,
  done,
  hasCode,
  waiting,
  type Context,
  type Controller,
  type ObjectOf,
  type Outcome,
} from '../../../shared/index.ts'
import { historyBeyond, planRuns, type Finished, type JobFact, type Plan } from './cron-plan.ts'
import { CronJob, Job } from './kinds.ts'
import { timeText } from './time-text.ts'

type Cron = ObjectOf<typeof CronJob>
type JobObject = ObjectOf<typeof Job>
type Status = NonNullable<Cron['status']>

/** When the Job was due, as Kubernetes' CronJob writes it. */
const scheduledAnnotation = 'batch.setpoint.dev/cronjob-scheduled-timestamp'

/**
 * Makes a Job at each time of a schedule. What to do is decided from the spec, the Jobs that are there and the time
 * alone (`cron-plan.ts`); a Job is named after its time, so that none is made twice, whatever was lost.
 */
export const cronJobReconciler: Controller = defineReconciler(CronJob, {
  owns: [Job],
  grants: [],

  async reconcile(cron, ctx) {
    // Imported with the first run: the functions that only know of the reconciler start without croner.
    const { readSchedule, missedMax } = await import('./schedule.ts')
    const schedule = readSchedule(cron.spec)
    const jobs = (await ctx.children(Job)).map(factOf)
    const { isRecorded, ...times } = timesOf(cron, jobs, ctx.now())
    const beyond = historyBeyond(jobs, cron.spec)
    // A Job whose time the status does not tell yet is all that tells it.
    const deletable = beyond.filter(({ dueMs }) => isRecorded || dueMs !== times.lastMs)
    for (const { name } of deletable) await ctx.delete(Job, name)
    const plan = planRuns({ ...times, ...cron.spec, jobs, schedule, nowMs: ctx.now() })
    await tell(plan, missedMax, ctx)
    for (const name of plan.replaced) await ctx.delete(Job, name)
    const started = plan.startMs === undefined ? undefined : await start(cron, plan.startMs, ctx)
    return report(cron, { ...times, plan, jobs, started, isLeft: deletable.length < beyond.length, nowMs: ctx.now() })
  },
})

interface Times {
  readonly createdMs: number
  /** The time of the last run, by the status and by the Jobs: what a run was to report may be lost. */
  readonly lastMs: number | undefined
}

function timesOf({ metadata, status }: Cron, jobs: readonly JobFact[], nowMs: number) {
  const recordedMs = Date.parse(status?.lastScheduleTime ?? '')
  const known = [recordedMs, ...jobs.map(({ dueMs = NaN }) => (dueMs > nowMs + clockErrorMsMax ? NaN : dueMs))]
  const times = known.filter((ms) => !Number.isNaN(ms))
  const lastMs = times.length === 0 ? undefined : Math.max(...times)
  const isRecorded = lastMs === undefined || lastMs === recordedMs
  return { createdMs: Date.parse(metadata.creationTimestamp ?? ''), lastMs, isRecorded }
}

function factOf(job: JobObject): JobFact {
  const { metadata } = job
  const due = metadata.annotations?.[scheduledAnnotation]
  return {
    name: metadata.name,
    ...(due === undefined ? {} : { dueMs: Date.parse(due) }),
    madeMs: Date.parse(metadata.creationTimestamp ?? ''),
    finished: finishedOf(job),
    deleting: metadata.deletionTimestamp !== undefined,
  }
}

function finishedOf(job: JobObject): Finished | undefined {
  const { completionTime } = job.status ?? {}
  if (completionTime === undefined) return undefined
  return { succeeded: conditionOf(job, 'Complete')?.status === 'True', atMs: Date.parse(completionTime) }
}

async function tell({ missed, tooLateMs }: Plan, missedMax: number, ctx: Context): Promise<void> {
  if (missed > missedMax)
    await ctx.event(
      'Warning',
      'TooManyMissedTimes',
      `more than ${missedMax} runs were missed; the last of them is made up for. Set startingDeadlineSeconds, or look at the clock`,
    )
  if (tooLateMs !== undefined)
    await ctx.event(
      'Warning',
      'MissSchedule',
      `the run of ${timeText(tooLateMs)} was missed, and it is too late for it`,
    )
}

/** The Job of this time; one that is there already is a run of before a crash, unless it is somebody else's. */
async function start(cron: Cron, startMs: number, ctx: Context): Promise<string | undefined> {
  const { spec, metadata } = cron.spec.jobTemplate
  const name = `${cron.metadata.name}-${startMs / 60_000}`
  const annotations = { [scheduledAnnotation]: timeText(startMs) }
  const labels = metadata?.labels ?? {}
  try {
    await ctx.create(Job, { metadata: { name, annotations, labels }, spec })
    await ctx.event('Normal', 'SuccessfulCreate', `created job ${name}`)
    return name
  } catch (error) {
    if (!hasCode(error, 'ALREADY_EXISTS')) throw error
    const job = await ctx.get(Job, name)
    if (job?.metadata.ownerReferences?.some(({ uid }) => uid === cron.metadata.uid) === true) return name
    await ctx.event(
      'Warning',
      'JobNameTaken',
      `job ${name} exists and is not of this CronJob: there is no run at this time`,
    )
    return undefined
  }
}

interface Run extends Times {
  readonly plan: Plan
  readonly jobs: readonly JobFact[]
  readonly started: string | undefined
  /** Ended Jobs are to go once the status tells their times. */
  readonly isLeft: boolean
  readonly nowMs: number
}

/** Clocks that are right differ by less. */
const clockErrorMsMax = 60_000

function report(cron: Cron, { plan, jobs, started, isLeft, createdMs, lastMs, nowMs }: Run): Outcome<StatusReport> {
  const names = jobs.filter(({ name, finished }) => finished === undefined && !plan.replaced.includes(name))
  const active = [...new Set([...names.map(({ name }) => name), ...(started === undefined ? [] : [started])])]
  // One long to come is of a clock that was ahead: from now on this one counts, or no time would be due before then.
  const keptMs = (lastMs ?? createdMs) > nowMs + clockErrorMsMax ? nowMs : lastMs
  const settledMs = plan.startMs ?? keptMs
  const lastScheduleTime = settledMs === undefined ? undefined : timeText(settledMs)
  const lastSuccessfulTime = lastSuccess(cron.status, jobs)
  const status = {
    active: active.sort().map((name) => ({ name })),
    ...(lastScheduleTime === undefined ? {} : { lastScheduleTime }),
    ...(lastSuccessfulTime === undefined ? {} : { lastSuccessfulTime }),
  }
  const conditions = { Suspended: cron.spec.suspend ? ({ status: 'True', reason: 'Suspended' } as const) : null }
  if (isLeft) return again(0, { status, conditions })
  if (cron.spec.suspend) return done({ status, conditions })
  if (plan.nextMs === undefined)
    return done({
      status,
      conditions,
      ready: waiting('NeverDue', `schedule "${cron.spec.schedule}" names no time to come`),
    })
  // Nothing is left to do until then: the time is no question that is asked again and again.
  return done({ status, conditions, resyncAfter: Math.max(0, plan.nextMs - nowMs) })
}

type StatusReport = Omit<Status, 'conditions' | 'observedGeneration'>

function lastSuccess(status: Cron['status'], jobs: readonly JobFact[]): string | undefined {
  const ended = jobs.flatMap(({ finished }) => (finished?.succeeded === true ? [timeText(finished.atMs)] : []))
  return [...ended, ...(status?.lastSuccessfulTime === undefined ? [] : [status.lastSuccessfulTime])].sort().at(-1)
}
