import {
  again,
  conditionOf,
  defineReconciler,
  done,
  isCondition,
  reference,
  Secret,
  waiting,
  type Context,
  type Controller,
  type NotReady,
  type ObjectOf,
  type Outcome,
  type StatusOf,
} from '../../../shared/index.ts'
import { secretText } from '../postgres/credentials.ts'
import { PostgresFailure } from '../postgres/failure.ts'
import { PostgresDatabase } from '../postgres/kinds.ts'
import type { Endpoint } from '../postgres/sql/connection.ts'
import { dumpSuffixes, type Archive } from './archive/archive.ts'
import type { withDump } from './dump/dump.ts'
import { Job } from './kinds.ts'
import { timeText } from './time-text.ts'

type JobObject = ObjectOf<typeof Job>
type Status = StatusOf<JobObject>

export interface JobOptions {
  readonly archive: Archive
  readonly dump: typeof withDump
}

/**
 * Dumps the databases of a Job, one in each run, and notes each in the status, so that a crash or a failure repeats one
 * database and not all. One that is not ready waits behind the others, and one that fails for good is noted, too: the
 * Job fails at its end. A dump is one transaction, so one that was interrupted begins anew; one that takes longer than
 * a run may (14 minutes, as on Lambda) fails. A Job that is deleted stops what it is doing, and goes when it has
 * stopped.
 */
export function jobReconciler(options: JobOptions): Controller {
  return defineReconciler(Job, {
    watches: [reference(PostgresDatabase, (job: JobObject) => job.spec.databases)],
    // The login of the database.
    grants: [{ kind: Secret, access: 'read' }],
    concurrency: 2,
    timeout: '14m',

    async reconcile(job, ctx) {
      const { status } = job
      if (status?.completionTime !== undefined) return expire(job, status.completionTime, ctx)
      if (status?.startTime === undefined)
        return again(0, { status: beginStatus(ctx), ready: waiting('Started', 'the job begins') })
      const open = openOf(job)
      if (open.length === 0) return end(job, ctx)
      if (timeLeftMs(job, ctx) <= 0)
        return fail(job, 'DeadlineExceeded', 'the job was active longer than its deadline', ctx)
      const database = await nextOf(open, ctx)
      if (ctx.attempt <= job.spec.backoffLimit) return oneDump(job, database, { ...options, ctx })
      return giveUp(job, { database, reason: 'BackoffLimitExceeded', message: neverEnded(database) }, ctx)
    },

    // Runs after the last run has ended: the object outlives its work.
    cleanup: async () => done(),
  })
}

/** A database that becomes ready wakes the Job. */
const lookAgainMs = 5 * 60_000

/** A Secret that is put back wakes nobody, and the database puts it back within seconds. */
const loginLookAgainMs = 5_000

/** A run that the engine ended had no say any more. */
function neverEnded(database: string): string {
  return `no run had the time to dump ${database} to its end`
}

interface Work extends JobOptions {
  readonly ctx: Context
}

/** What is neither dumped nor given up. */
function openOf(job: JobObject): readonly string[] {
  const over = new Set([...dumpsOf(job), ...failuresOf(job)].map(({ database }) => database))
  return job.spec.databases.map(({ name }) => name).filter((name) => !over.has(name))
}

/**
 * The first that can be dumped now; the first of all if none can. While attempts fail, it is the one that they are for:
 * their number is that of the runs.
 */
async function nextOf(open: readonly string[], ctx: Context): Promise<string> {
  const tried = ctx.notes.get(triedNote)
  if (ctx.attempt > 0 && typeof tried === 'string' && open.includes(tried)) return tried
  for (const database of open) {
    // What cannot be read now is the concern of its own attempt.
    const isReady = await loginOf(database, ctx).then(
      (endpoint) => !('reason' in endpoint),
      () => false,
    )
    if (isReady) return database
  }
  return open[0] ?? ''
}

const triedNote = 'tried'

/** The others are dumped all the same. */
async function giveUp(job: JobObject, failure: Failure, ctx: Context): Promise<Outcome<Status>> {
  const { database, reason, message } = failure
  if (openOf(job).every((name) => name === database) && failuresOf(job).length === 0)
    return fail(job, reason, message, ctx)
  await ctx.event('Warning', reason, message)
  const told = ctx.outside.conceal(message).slice(0, messageLengthMax).toWellFormed()
  const failures = [...failuresOf(job), { database, reason, message: told }]
  return again(restMs(job), { status: { ...statusOf(job), failures }, ready: waiting(reason, message) })
}

/** Until the next database. A hundred runs without a pause would count as a loop, and be slowed down. */
function restMs(job: JobObject): number {
  return dumpsOf(job).length + failuresOf(job).length < atOnceMax ? 0 : 1_000
}

const atOnceMax = 50

/** The status has room for those of many databases. */
const messageLengthMax = 500

function end(job: JobObject, ctx: Context): Promise<Outcome<Status>> | Outcome<Status> {
  const [failure] = failuresOf(job)
  return failure === undefined ? finish(job, ctx) : fail(job, failure.reason, failure.message, ctx)
}

async function oneDump(job: JobObject, database: string, work: Work): Promise<Outcome<Status>> {
  const { ctx } = work
  if (ctx.notes.get(triedNote) !== database) {
    ctx.notes.set(triedNote, database)
    await ctx.notes.keep()
  }
  try {
    const endpoint = await loginOf(database, ctx)
    if ('reason' in endpoint) {
      const lookAgain = endpoint.reason === loginNotFound ? loginLookAgainMs : lookAgainMs
      // The deadline may have passed while the login was read.
      const resyncAfter = Math.max(0, Math.min(lookAgain, timeLeftMs(job, ctx)))
      return done({ status: statusOf(job), ready: endpoint, resyncAfter })
    }
    const dumped = await untilDeleted(job, ctx, (signal) => store(job, { ...work, database, endpoint, signal }))
    await ctx.event(
      'Normal',
      'Dumped',
      `stored ${dumped.name}, ${dumped.sizeBytes} bytes${formatMaker(dumped.madeBy)}${formatLeftOut(dumped.leftOut)}`,
    )
    const status = { ...statusOf(job), dumps: [...dumpsOf(job), dumped] }
    return again(restMs(job), {
      status,
      ready: waiting('Dumping', `${status.dumps.length} of ${job.spec.databases.length} are dumped`),
    })
  } catch (error) {
    if (error instanceof CalledOffError) return again(0, { ready: waiting('CalledOff', error.message) })
    if (ctx.signal.aborted) throw error
    if (timeLeftMs(job, ctx) <= 0)
      return fail(job, 'DeadlineExceeded', `database ${database} was not dumped in time`, ctx)
    const isTerminal = error instanceof PostgresFailure && error.kind === 'terminal'
    if (!isTerminal && ctx.attempt < job.spec.backoffLimit) throw error
    const message = error instanceof Error ? error.message : String(error)
    const reason = error instanceof PostgresFailure && isTerminal ? error.reason : 'BackoffLimitExceeded'
    return giveUp(job, { database, reason, message }, ctx)
  }
}

interface OneDump extends Work {
  readonly database: string
  readonly endpoint: Endpoint
  readonly signal: AbortSignal
}

/** Named after the time when the Job began: a dump that is repeated takes the place of what a crash may have left. */
async function store(job: JobObject, { archive, dump, database, endpoint, signal, ctx }: OneDump) {
  const time = new Date(job.status?.startTime ?? '').toISOString().replaceAll(/[-:]|\.\d+/g, '')
  const place = `${job.metadata.namespace}/${job.spec.folder}/${database}/${time}-${job.metadata.uid.slice(0, 8)}`
  return dump({ endpoint, takenMs: ctx.now(), signal }, async ({ content, leftOut, madeBy }) => {
    const name = `${place}${madeBy === undefined ? dumpSuffixes.script : dumpSuffixes.pgDump}`
    const { sizeBytes, sha256 } = await archive.write(name, content, signal)
    return { database, name, sizeBytes, sha256, leftOut: [...leftOut], ...(madeBy === undefined ? {} : { madeBy }) }
  })
}

/** Deleted while it worked. */
class CalledOffError extends Error {
  override readonly name = 'CalledOffError'
}

/** Runs `work` with a signal that fires when the run's or the Job's time is over, or the Job is being deleted. */
async function untilDeleted<T>(job: JobObject, ctx: Context, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const over = new AbortController()
  const watching = watchFor(job, ctx, over)
  try {
    return await work(AbortSignal.any([ctx.signal, over.signal]))
  } finally {
    over.abort()
    await watching
  }
}

async function watchFor(job: JobObject, ctx: Context, over: AbortController): Promise<void> {
  const ended = new Promise<void>((resolve) => over.signal.addEventListener('abort', () => resolve(), { once: true }))
  while (!over.signal.aborted) {
    // A failure to look is no reason to stop: the next look is soon.
    const live = await ctx.get(Job, job.metadata.name).catch(() => job)
    if (live?.metadata.deletionTimestamp !== undefined || live === undefined)
      return over.abort(new CalledOffError(`job ${job.metadata.name} is being deleted`))
    if (timeLeftMs(job, ctx) <= 0) return over.abort(new Error('the deadline of the job has passed'))
    await Promise.race([ctx.sleep(Math.min(2_000, timeLeftMs(job, ctx))).catch(() => over.abort()), ended])
  }
}

const loginNotFound = 'LoginNotFound'

/** How the database is reached, by the Secret of its PostgresDatabase; or why it cannot be yet. */
async function loginOf(name: string, ctx: Context): Promise<Endpoint | NotReady> {
  const database = await ctx.get(PostgresDatabase, name)
  if (database === undefined) return waiting('DatabaseNotFound', `PostgresDatabase ${name} does not exist`)
  const ref = database.status?.secretRef
  if (!isCondition(database, 'Ready') || ref === undefined)
    return waiting('DatabaseNotReady', `PostgresDatabase ${name} is not ready`)
  const secret = await ctx.get(Secret, ref.name)
  if (secret === undefined)
    return waiting(loginNotFound, `Secret ${ref.name} of PostgresDatabase ${name} does not exist`)
  return {
    host: secretText(secret, 'host'),
    port: Number(secretText(secret, 'port')),
    user: secretText(secret, 'username'),
    password: secretText(secret, 'password'),
    database: secretText(secret, 'database'),
  }
}

function beginStatus(ctx: Context): Status {
  return { startTime: timeText(ctx.now()), active: 1, dumps: [] }
}

function finish(job: JobObject, ctx: Context): Outcome<Status> {
  const complete = { status: 'True', reason: 'CompletionsReached' } as const
  return conclude(job, { conditions: { Complete: complete, Failed: null } }, ctx)
}

async function fail(job: JobObject, reason: string, message: string, ctx: Context): Promise<Outcome<Status>> {
  await ctx.event('Warning', reason, message)
  const failed = { status: 'True', reason, message } as const
  return conclude(job, { conditions: { Failed: failed, Complete: null }, ready: { reason, message } }, ctx)
}

/** The clock is asked once, and its answer kept: the end of a Job never moves. */
function conclude(
  job: JobObject,
  report: Omit<Outcome<Status>, 'kind' | 'status' | 'afterMs'>,
  ctx: Context,
): Outcome<Status> {
  const status = { ...statusOf(job), active: 0, completionTime: timeText(ctx.now()) }
  const { ttlSecondsAfterFinished: ttl } = job.spec
  return ttl === undefined ? done({ ...report, status }) : again(ttl * 1000, { ready: true, ...report, status })
}

async function expire(job: JobObject, completionTime: string, ctx: Context): Promise<Outcome<Status>> {
  const { ttlSecondsAfterFinished: ttl } = job.spec
  const report = { ready: failureOf(job) ?? true } as const
  if (ttl === undefined) return done(report)
  const left = Date.parse(completionTime) + ttl * 1000 - ctx.now()
  if (left > 0) return again(left, report)
  await ctx.delete(Job, job.metadata.name)
  return done(report)
}

function failureOf(job: JobObject): NotReady | undefined {
  const failed = conditionOf(job, 'Failed')
  return failed?.status === 'True' ? { reason: failed.reason, message: failed.message } : undefined
}

function statusOf(job: JobObject): Status {
  const { conditions: _, observedGeneration: __, ...own } = job.status ?? {}
  return own
}

function dumpsOf(job: JobObject): Status['dumps'] & readonly unknown[] {
  return job.status?.dumps ?? []
}

type Failure = NonNullable<Status['failures']>[number]

function failuresOf(job: JobObject): readonly Failure[] {
  return job.status?.failures ?? []
}

function timeLeftMs({ spec, status }: JobObject, ctx: Context): number {
  const { activeDeadlineSeconds } = spec
  if (activeDeadlineSeconds === undefined || status?.startTime === undefined) return Infinity
  return Date.parse(status.startTime) + activeDeadlineSeconds * 1000 - ctx.now()
}

function formatMaker(madeBy = ''): string {
  return madeBy === '' ? '' : `, made by ${madeBy}`
}

function formatLeftOut(leftOut: readonly string[]): string {
  return leftOut.length === 0 ? '' : `, without ${leftOut.join(', ')}`
}
