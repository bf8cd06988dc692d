import {
  again,
  defineReconciler,
  done,
  mapped,
  reference,
  stop,
  waiting,
  type ConditionPatch,
  type Context,
  type Controller,
  type ObjectOf,
} from '../../../shared/index.ts'
import { PostgresDatabase } from '../postgres/kinds.ts'
import type { Archive } from './archive/archive.ts'
import { BackupPolicy, CronJob, Job } from './kinds.ts'
import { findExpired } from './retention.ts'

type Policy = ObjectOf<typeof BackupPolicy>

const policyLabel = 'storage.setpoint.dev/backup-policy'

/** A run of several databases ends, well or not, before most schedules come round again. */
const activeDeadlineSeconds = 3600

/** Keeps a CronJob for a policy, and only the dumps that it wants. */
export function policyReconciler(archive: Archive): Controller {
  return defineReconciler(BackupPolicy, {
    owns: [CronJob],
    watches: [
      reference(PostgresDatabase, (policy: Policy) => policy.spec.targets),
      // A dump that was made by hand counts, too.
      mapped(Job, (job) => ({ name: job.spec.folder })),
    ],
    grants: [],
    resync: '1h',

    async reconcile(policy, ctx) {
      // What is not valid is told here, and not by the CronJob only.
      // Imported with the first run: the functions that only know of the reconciler start without croner.
      const { readSchedule } = await import('./schedule.ts')
      readSchedule(policy.spec)
      if ((await findCronJob(policy, ctx)) === 'taken')
        throw stop('NameTaken', `CronJob ${nameOf(policy)} exists and is not of this policy`)
      const cronJob = await ctx.apply(CronJob, cronJobOf(policy))
      const dumps = await retain(policy, archive, ctx)
      return done({
        status: {
          cronJob: cronJob.metadata.name,
          lastScheduleTime: cronJob.status?.lastScheduleTime ?? null,
          lastSuccessfulTime: cronJob.status?.lastSuccessfulTime ?? null,
          dumps,
        },
        conditions: { ...conditionsOf(policy), TargetsFound: await targetsFound(policy, ctx) },
      })
    },

    async cleanup(policy, ctx) {
      if (policy.spec.deletionPolicy === 'Retain') return done()
      // No job may store a dump behind our back.
      if ((await findCronJob(policy, ctx)) === 'own') await ctx.delete(CronJob, nameOf(policy))
      const running = await findRunning(policy, ctx)
      if (running.length > 0) return again('1s', { ready: waiting('JobsRunning', `waits for ${formatNames(running)}`) })
      for (const { name } of await archive.list(folderOf(policy), ctx.signal)) await archive.remove(name, ctx.signal)
      return done()
    },
  })
}

/** One that an earlier policy of this name left without an owner has the policy's label, and is taken over. */
async function findCronJob(policy: Policy, ctx: Context): Promise<'none' | 'own' | 'taken'> {
  const found = await ctx.get(CronJob, nameOf(policy))
  if (found === undefined) return 'none'
  const { ownerReferences = [], labels } = found.metadata
  const isOwned = ownerReferences.some(({ uid }) => uid === policy.metadata.uid)
  return isOwned || labels?.[policyLabel] === labelsOf(policy)[policyLabel] ? 'own' : 'taken'
}

/** The Jobs that may still store a dump in the policy's folder. People may have made some of them. */
async function findRunning({ metadata: { name: folder } }: Policy, ctx: Context): Promise<readonly string[]> {
  const jobs = await ctx.list(Job)
  const running = jobs.filter(({ spec, status }) => spec.folder === folder && status?.completionTime === undefined)
  return running.map(({ metadata }) => metadata.name).sort()
}

const namesMax = 5

function formatNames(names: readonly string[]): string {
  const more = names.length - namesMax
  return `job ${names.slice(0, namesMax).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

function cronJobOf(policy: Policy) {
  const { schedule, timeZone, startingDeadlineSeconds, suspended, targets } = policy.spec
  const { name } = policy.metadata
  return {
    metadata: { name: nameOf(policy), labels: labelsOf(policy) },
    spec: {
      schedule,
      ...(timeZone === undefined ? {} : { timeZone }),
      ...(startingDeadlineSeconds === undefined ? {} : { startingDeadlineSeconds }),
      suspend: suspended,
      concurrencyPolicy: 'Forbid' as const,
      jobTemplate: {
        metadata: { labels: labelsOf(policy) },
        spec: { databases: targets, folder: name, activeDeadlineSeconds },
      },
    },
  }
}

/** Ready is True with the reason that the source document gives it. */
function conditionsOf({ spec }: Policy): Readonly<Record<string, ConditionPatch | null>> {
  const created: ConditionPatch = { status: 'True', reason: 'CronJobCreated' }
  if (!spec.suspended) return { CronJobCreated: created, Suspended: null, Ready: created }
  const suspended: ConditionPatch = { status: 'True', reason: 'Suspended' }
  return { CronJobCreated: created, Suspended: suspended, Ready: suspended }
}

async function targetsFound({ spec }: Policy, ctx: Context): Promise<ConditionPatch> {
  const found = await Promise.all(spec.targets.map(({ name }) => ctx.get(PostgresDatabase, name)))
  const missing = spec.targets.filter((_, i) => found[i] === undefined).map(({ name }) => name)
  if (missing.length === 0) return { status: 'True', reason: 'Found' }
  return { status: 'False', reason: 'NotFound', message: `there is no PostgresDatabase ${missing.join(', ')}` }
}

/** Removes dumps that are old; how many are left. */
async function retain(policy: Policy, archive: Archive, ctx: Context): Promise<number> {
  const dumps = await archive.list(folderOf(policy), ctx.signal)
  const old = findExpired(dumps, ctx.now() - policy.spec.retentionDays * dayMs)
  for (const { name } of old) await archive.remove(name, ctx.signal)
  if (old.length > 0) await ctx.event('Normal', 'DumpsRemoved', `removed ${old.length} dumps of before the retention`)
  return dumps.length - old.length
}

const dayMs = 24 * 3_600_000

function nameOf({ metadata }: Policy): string {
  return `${metadata.name}-backup`
}

/** A label has 63 characters at most; the name of a policy may have more. */
function labelsOf({ metadata: { name, uid } }: Policy): Readonly<Record<string, string>> {
  return { [policyLabel]: name.length <= 63 ? name : uid }
}

function folderOf({ metadata }: Policy): string {
  return `${metadata.namespace}/${metadata.name}`
}
