import { closeSync, fchownSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { OperatingError } from '../../../model/errors.ts'
import { isBusy } from '../sqlite/sqlite-errors.ts'

/**
 * Does a change while nobody else changes the file. The lock is one of the system on an empty file beside it: it ends
 * with the process that has it, however that ends. Throws THROTTLED if somebody else has it for longer than `waitMs`,
 * and UNAVAILABLE if there can be none.
 */
export function changeAlone<Result>(file: string, change: () => Result, waitMs = 10_000): Result {
  const lock = takeLock(file, waitMs)
  try {
    return change()
  } finally {
    // The lock ends with the connection. What was changed is in another file, and stays.
    lock.close()
  }
}

function takeLock(file: string, waitMs: number): DatabaseSync {
  const path = `${file}.lock`
  let lock: DatabaseSync | undefined
  try {
    makeLock(path)
    lock = new DatabaseSync(path)
    lock.exec(`PRAGMA busy_timeout = ${waitMs}; BEGIN EXCLUSIVE`)
    return lock
  } catch (cause) {
    lock?.close()
    if (isBusy(cause))
      throw new OperatingError('THROTTLED', `another command is changing ${file}: try again`, { cause })
    throw new OperatingError('UNAVAILABLE', `cannot lock ${file}: ${explain(path, cause)}`, { cause })
  }
}

/** Ours is an empty file: what else stands there is named. */
function explain(lock: string, cause: unknown): string {
  const { message } = cause as Error
  const stats = statSync(lock, { throwIfNoEntry: false })
  if (stats === undefined || (stats.isFile() && stats.size === 0)) return message
  return `${lock} is no lock, and may be removed: ${message}`
}

/** Root may do so, too: the account of the directory has to open it later. */
function makeLock(lock: string): void {
  const { uid, gid } = statSync(dirname(lock))
  let descriptor
  try {
    descriptor = openSync(lock, 'wx', 0o600)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return
    throw error
  }
  try {
    if (process.getuid?.() === 0) fchownSync(descriptor, uid, gid)
  } finally {
    closeSync(descriptor)
  }
}
