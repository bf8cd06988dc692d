import type { Controller } from '../../../shared/index.ts'
import type { Archive } from './archive/archive.ts'
import { archiveAt } from './archive/location.ts'
import { cronJobReconciler } from './cron-job.ts'
import { withDump } from './dump/dump.ts'
import { jobReconciler } from './job.ts'
import { policyReconciler } from './policy.ts'

/** BackupPolicy, CronJob and Job, with dumps in a directory or at `s3://bucket/prefix`. */
export function backupReconcilers(location: string): readonly Controller[] {
  return backupReconcilersOver(archiveAt(location), withDump)
}

/** The same, over an archive and a way to dump of the caller's. */
export function backupReconcilersOver(archive: Archive, dump: typeof withDump): readonly Controller[] {
  return [policyReconciler(archive), cronJobReconciler, jobReconciler({ archive, dump })]
}
