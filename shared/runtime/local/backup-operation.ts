import { createReadStream, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { PlaneOperation } from '../../api/call.ts'
import { OperatingError } from '../../model/errors.ts'

/** How a client asks for a backup: by a POST. */
export const backupPath = 'backup'

export interface BackupOptions {
  /** Where the copy is made before it is sent. */
  readonly directory: string
  copyTo(file: string): Promise<void>
}

/**
 * Answers with a copy of the database as it is at the end of the copying, one at a time. Everything goes on meanwhile.
 * What a killed process left of a copy goes with the next start.
 */
export function createBackupOperation({ directory, copyTo }: BackupOptions): PlaneOperation {
  const copy = join(directory, 'backup.tmp')
  let isBusy = false
  removeCopy(copy)

  return async () => {
    if (isBusy) throw new OperatingError('THROTTLED', 'another backup is being made: try again when it has ended')
    isBusy = true
    try {
      await copyTo(copy)
      const body = createReadStream(copy)
      // The stream has it from then on; nobody else needs its name.
      await new Promise((resolve, reject) => body.once('open', resolve).once('error', reject))
      return { status: 200, headers: { 'content-type': 'application/vnd.sqlite3' }, body }
    } finally {
      isBusy = false
      removeCopy(copy)
    }
  }
}

/** With what SQLite has beside it, as where the disk is full. Throws UNAVAILABLE where a directory has such a name. */
export function removeCopy(copy: string): void {
  for (const file of [copy, `${copy}-journal`, `${copy}-wal`, `${copy}-shm`]) {
    try {
      rmSync(file, { force: true })
    } catch (cause) {
      throw new OperatingError('UNAVAILABLE', `cannot remove ${file}: ${(cause as Error).message}`, { cause })
    }
  }
}
