import type { Controller } from '../../../shared/index.ts'
import type { Archive } from './archive/archive.ts'
import { archiveAt } from './archive/location.ts'
import { cronJobReconciler } from './cron-job.ts'
import type { withDump as dumpWith } from './dump/dump.ts'
import { jobReconciler } from './job.ts'
import { policyReconciler } from './policy.ts'

/**
 * BackupPolicy, CronJob and Job, with dumps where BACKUP_ARCHIVE says (a directory, or `s3://bucket/prefix`), or else
 * in this directory.
 */
export function backupReconcilers(directory?: string): readonly Controller[] {
  return backupReconcilersOver(archiveAt(process.env['BACKUP_ARCHIVE'] || directory), withDump)
}

/** Imported with the first dump, and with it the driver of PostgreSQL: few functions and no start need them. */
const withDump: typeof dumpWith = async (request, use) => (await import('./dump/dump.ts')).withDump(request, use)

/** The same, over an archive and a way to dump of the caller's. */
export function backupReconcilersOver(archive: Archive, dump: typeof dumpWith): readonly Controller[] {
  return [policyReconciler(archive), cronJobReconciler, jobReconciler({ archive, dump })]
}
