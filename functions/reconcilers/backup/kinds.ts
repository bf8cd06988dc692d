import * as z from 'zod'
import { defineKind } from '../../../shared/index.ts'

/**
 * Fields and their meaning are those of Kubernetes' batch/v1, and of the BackupPolicy that the acceptance table lists.
 */

const schedule = z
  .string()
  .regex(/^(@(yearly|annually|monthly|weekly|daily|midnight|hourly)|([0-9A-Za-z*,/?-]+ +){4}[0-9A-Za-z*,/?-]+)$/)
  .describe('Five fields of cron (minute, hour, day of month, month, day of week), or @hourly, @daily, @weekly …')

const timeZone = z
  .string()
  .min(1)
  .optional()
  .describe('A name of the time zone database, such as Europe/Vienna. Default: UTC.')

const startingDeadlineSeconds = z
  .number()
  .int()
  .min(0)
  .optional()
  .describe('How late a run may start at most. Left out: the last one that was missed is made up for, however late.')

const databaseName = z.object({ name: z.string().min(1).describe('A PostgresDatabase of this namespace.') })

const jobSpec = z.object({
  databases: z.array(databaseName).min(1).describe('What is dumped, one after the other.'),
  folder: z
    .string()
    .regex(/^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$/)
    .describe("Where the dumps go: a folder below that of the namespace in the control plane's archive."),
  backoffLimit: z
    .number()
    .int()
    .min(0)
    .default(6)
    .describe('Failures in a row, of one database, before it is given up.'),
  activeDeadlineSeconds: z.number().int().min(1).optional().describe('The job fails when it has not ended by then.'),
  ttlSecondsAfterFinished: z
    .number()
    .int()
    .min(0)
    .max(2_147_483_647)
    .optional()
    .describe('It is deleted so long after its end.'),
})

export const Job = defineKind({
  group: 'batch.setpoint.dev',
  version: 'v1alpha1',
  kind: 'Job',
  categories: ['backup'],
  description: 'Dumps databases, once. It is not made again when it is deleted: that is how it is called off.',
  spec: jobSpec,
  status: z.object({
    startTime: z.string(),
    completionTime: z.string(),
    active: z.number().int().describe('1 until it has ended.'),
    dumps: z.array(
      z.object({
        database: z.string(),
        name: z.string().describe('In the archive.'),
        sizeBytes: z.number().int(),
        sha256: z.string().describe('Of the file.'),
        leftOut: z.array(z.string()).describe('What the database has and the dump has not, in words.'),
        madeBy: z
          .string()
          .optional()
          .describe(
            '`pg_dump` and its version, where the database has what only pg_dump holds. The restore needs pg_restore then.',
          ),
      }),
    ),
    failures: z
      .array(z.object({ database: z.string(), reason: z.string(), message: z.string() }))
      .optional()
      .describe('The databases that are given up, and why. The others are dumped all the same.'),
  }),
  columns: [
    { name: 'Complete', type: 'string', jsonPath: '.status.conditions[?(@.type=="Complete")].status' },
    { name: 'Completed', type: 'date', jsonPath: '.status.completionTime' },
  ],
})

export const CronJob = defineKind({
  group: 'batch.setpoint.dev',
  version: 'v1alpha1',
  kind: 'CronJob',
  categories: ['backup'],
  description: "Makes a Job at each time of a schedule, by the rules of Kubernetes' CronJob.",
  spec: z.object({
    schedule,
    timeZone,
    startingDeadlineSeconds,
    concurrencyPolicy: z
      .enum(['Allow', 'Forbid', 'Replace'])
      .default('Allow')
      .describe(
        'When a run is due while one is active: Allow both, Forbid the new one until then, Replace the old one.',
      ),
    suspend: z.boolean().default(false).describe('No new runs; those that are active go on.'),
    successfulJobsHistoryLimit: z.number().int().min(0).default(3),
    failedJobsHistoryLimit: z.number().int().min(0).default(1),
    jobTemplate: z.object({
      metadata: z.object({ labels: z.record(z.string(), z.string()).optional() }).optional(),
      spec: jobSpec,
    }),
  }),
  status: z.object({
    active: z.array(z.object({ name: z.string() })),
    lastScheduleTime: z.string(),
    lastSuccessfulTime: z.string(),
  }),
  columns: [
    { name: 'Schedule', type: 'string', jsonPath: '.spec.schedule' },
    { name: 'Timezone', type: 'string', jsonPath: '.spec.timeZone' },
    { name: 'Suspend', type: 'boolean', jsonPath: '.spec.suspend' },
    { name: 'Last Schedule', type: 'date', jsonPath: '.status.lastScheduleTime' },
  ],
})

export const BackupPolicy = defineKind({
  group: 'storage.setpoint.dev',
  version: 'v1alpha1',
  kind: 'BackupPolicy',
  plural: 'backuppolicies',
  shortNames: ['bp'],
  categories: ['all', 'backup'],
  description: 'Dumps databases on a schedule, and removes dumps that are old.',
  spec: z.object({
    schedule,
    timeZone,
    startingDeadlineSeconds,
    retentionDays: z
      .number()
      .int()
      .min(1)
      .describe('Dumps older than this are removed, but never the newest of a database.'),
    targets: z.array(databaseName).min(1),
    suspended: z.boolean().default(false).describe('No new dumps. Old ones stay until their time is over.'),
    deletionPolicy: z
      .enum(['Delete', 'Retain'])
      .default('Retain')
      .describe('What becomes of the dumps when the policy is deleted.'),
  }),
  status: z.object({
    cronJob: z.string(),
    lastScheduleTime: z.string().nullable(),
    lastSuccessfulTime: z.string().nullable(),
    dumps: z.number().int().describe('How many are kept.'),
  }),
  columns: [
    { name: 'Schedule', type: 'string', jsonPath: '.spec.schedule' },
    { name: 'Suspended', type: 'boolean', jsonPath: '.spec.suspended' },
    { name: 'Last Success', type: 'date', jsonPath: '.status.lastSuccessfulTime' },
    { name: 'Dumps', type: 'integer', jsonPath: '.status.dumps' },
  ],
})
