import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { writeAtomically } from '../../adapters/node/atomic-file.ts'
import { systemClock } from '../../adapters/node/system-clock.ts'
import { checkBackup, restoreDatabase } from '../../adapters/local/sqlite/guard/backup.ts'
import { OperatingError } from '../../model/errors.ts'
import { summarizeCheck, type CheckSummary } from './check.ts'
import { makeDataDirectory } from './data-directory.ts'
import { filesIn } from './files.ts'

export interface RestoreOptions {
  readonly backup: string
  /** A data directory that is empty, or not there. */
  readonly directory: string
  /** A directory that has the keys, such as the data directory that was backed up. */
  readonly keys?: string | undefined
  /** The original may go on: nothing is reconciled here until `--resume`. */
  readonly asCopy: boolean
  /** Goes on without the key: the Secrets are lost. */
  readonly acceptLoss: boolean
}

/** What makes a data directory known to its clients and its Secrets readable; the database has none of it. */
const keyNames = ['secrets.key', 'service-accounts.key', 'authority.pem', 'token', 'users']

/**
 * Makes a data directory from a backup, whose next start asks nothing. What is damaged is told, and then nothing is
 * made. Throws BAD_REQUEST for what a person can mend, and UNAVAILABLE if the files cannot be written.
 */
export function restore({ backup, directory, keys, asCopy, acceptLoss }: RestoreOptions): CheckSummary {
  if (!existsSync(backup)) throw new OperatingError('BAD_REQUEST', `${backup} is not there: name a backup`)
  if (namesIn(directory).length > 0)
    throw new OperatingError('BAD_REQUEST', `${directory} is not empty: move it away, or name another (--data-dir)`)
  if (keys !== undefined && !keyNames.some((name) => existsSync(join(keys, name))))
    throw new OperatingError('BAD_REQUEST', `${keys} has no keys: name the directory that has secrets.key (--keys)`)
  const keyAtHand = join(keys ?? directory, 'secrets.key')
  const { checked, lacksKey } = checkBackup(resolve(backup), keyAtHand)
  const summary = summarizeCheck(checked)
  if (!summary.isWhole) return summary
  if (lacksKey && !acceptLoss) throw new OperatingError('BAD_REQUEST', `${backup}: ${adviseOnKey(keyAtHand)}`)
  makeDataDirectory(resolve(directory), 0o711)
  const { file, keyFile } = filesIn(directory)
  try {
    if (keys !== undefined) copyKeys(keys, directory)
    restoreDatabase({ backup: resolve(backup), file, keyFile, nowMs: systemClock.nowMs(), asCopy })
  } catch (cause) {
    for (const name of readdirSync(directory)) rmSync(join(directory, name), { recursive: true })
    if (cause instanceof OperatingError) throw cause
    throw new OperatingError('UNAVAILABLE', `cannot restore into ${directory}: ${(cause as Error).message}`, { cause })
  }
  return summary
}

function adviseOnKey(keyFile: string): string {
  return existsSync(keyFile)
    ? `its Secrets are encrypted with another key than ${keyFile} has: name the directory that has the key of then (--keys DIRECTORY), or go on without the Secrets (--accept-loss)`
    : 'its Secrets are encrypted with a key that is kept apart: name the directory that has secrets.key (--keys DIRECTORY), or go on without the Secrets (--accept-loss)'
}

function namesIn(directory: string): readonly string[] {
  if (!existsSync(directory)) return []
  try {
    return readdirSync(directory)
  } catch (cause) {
    const why = (cause as Error).message
    throw new OperatingError('BAD_REQUEST', `cannot restore into ${directory}: ${why}: name another (--data-dir)`, {
      cause,
    })
  }
}

function copyKeys(from: string, directory: string): void {
  for (const name of keyNames.filter((one) => existsSync(join(from, one)))) {
    writeAtomically(join(directory, name), readFileSync(join(from, name)))
  }
}
