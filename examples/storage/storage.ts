import * as z from 'zod'
import { defineKind, defineReconciler, done, type Controller } from 'setpoint'

const containerSchema = z.object({
  name: z.string(),
  image: z.string(),
  args: z.array(z.string()),
  env: z.array(z.object({ name: z.string(), value: z.string() })),
})

/** The CronJob of batch/v1, as far as a policy declares it. Nothing here runs containers. */
export const CronJob = defineKind({
  group: 'batch',
  version: 'v1',
  kind: 'CronJob',
  spec: z.object({
    schedule: z.string(),
    suspend: z.boolean().default(false),
    jobTemplate: z.object({
      spec: z.object({
        template: z.object({
          spec: z.object({
            restartPolicy: z.enum(['Never', 'OnFailure']),
            containers: z.array(containerSchema),
          }),
        }),
      }),
    }),
  }),
  status: z.object({ lastScheduleTime: z.string() }).partial(),
  columns: [
    { name: 'Schedule', type: 'string', jsonPath: '.spec.schedule' },
    { name: 'Suspend', type: 'boolean', jsonPath: '.spec.suspend' },
  ],
})

export const BackupPolicy = defineKind({
  group: 'storage.example.com',
  version: 'v1alpha1',
  kind: 'BackupPolicy',
  plural: 'backuppolicies',
  spec: z.object({
    schedule: z.string(),
    retentionDays: z.number().int().min(1).max(365).default(30),
    suspended: z.boolean().default(false),
    targets: z.array(z.object({ namespace: z.string() })).min(1),
  }),
  status: z.object({ lastScheduleTime: z.string().nullable() }),
  columns: [{ name: 'Schedule', type: 'string', jsonPath: '.spec.schedule' }],
})

export const backupPolicies: Controller = defineReconciler(BackupPolicy, {
  owns: [CronJob],
  async reconcile({ metadata, spec }, ctx) {
    const container = {
      name: 'backup',
      image: 'example.com/backup:1',
      args: [`--retention=${spec.retentionDays}`],
      env: [{ name: 'NAMESPACES', value: spec.targets.map(({ namespace }) => namespace).join(',') }],
    }
    const cronJob = await ctx.apply(CronJob, {
      metadata: { name: `${metadata.name}-backup` },
      spec: {
        schedule: spec.schedule,
        suspend: spec.suspended,
        jobTemplate: { spec: { template: { spec: { restartPolicy: 'OnFailure', containers: [container] } } } },
      },
    })
    const reason = spec.suspended ? 'Suspended' : 'CronJobCreated'
    const lastScheduleTime = cronJob.status?.lastScheduleTime ?? null
    return done({ status: { lastScheduleTime }, conditions: { Ready: { status: 'True', reason } } })
  },
})
