import { randomUUID } from 'node:crypto'
import { closeSync, openSync } from 'node:fs'
import { OperatingError } from '../../../../model/errors.ts'
import { checkInside, type Checked } from './check.ts'
import { findInOwnLog, findKey, nameMarkFile, unendedRestore } from './findings.ts'
import { look, openGuardedDatabase } from './guarded-database.ts'
import { openMarkFile } from './mark-file.ts'
import { explainUnwritable, isHeldByProcess, readOnly, readSchema } from './read-only.ts'

/** What a backup says of itself, and what speaks against it. */
export interface CheckedBackup {
  readonly checked: readonly Checked[]
  readonly resourceVersion: number
  /** It has Secrets, and they are encrypted with a key that is not in the key file. */
  readonly lacksKey: boolean
}

/** Reads everything of a backup, and changes nothing. Throws BAD_REQUEST if it is none. */
export function checkBackup(file: string, keyFile: string): CheckedBackup {
  const told = look(file)
  if (told === 'in use')
    throw new OperatingError('BAD_REQUEST', `${file} is in use by another process: name a backup (setpoint backup)`)
  const why = explainUnwritable(file, told)
  if (why !== undefined) throw new OperatingError('UNAVAILABLE', `cannot read ${file}: ${why}`, { cause: told })
  if (told === undefined || told instanceof Error)
    throw new OperatingError('BAD_REQUEST', `${file} is no backup of a control plane: setpoint backup writes one`)
  const isKeyThere = findKey(keyFile, told).length === 0
  const inLog = findInOwnLog(file).map(({ says }) => says)
  const log = inLog.length === 0 ? [] : [{ what: 'write-ahead log', problems: inLog }]
  const checked = [...log, ...checkInside(file, isKeyThere ? { keyFile } : undefined)]
  return { checked, resourceVersion: told.resourceVersion, lacksKey: !isKeyThere && hasSecrets(file) }
}

/** What cannot be read counts as having some. */
function hasSecrets(file: string): boolean {
  const found = readOnly(file, (connection) =>
    connection
      .prepare(
        `SELECT count(*) AS count FROM heads h JOIN objects o ON o.id = h.id JOIN kinds k ON k.id = o.kind JOIN changes c ON c.rv = h.rv
          WHERE k.api_group = '' AND k.kind = 'Secret' AND c.doc IS NOT NULL`,
      )
      .get(),
  )
  return found === 'in use' || found instanceof Error || found?.['count'] !== 0
}

/** Copies a database that no process has open, with what is in its log, into an empty file. Throws UNAVAILABLE. */
export function copyDatabase(file: string, copy: string): void {
  const copied = isHeldByProcess(file)
    ? 'in use'
    : readOnly(file, (connection) => void connection.prepare('VACUUM INTO ?').run(copy))
  if (copied === 'in use') throw new OperatingError('UNAVAILABLE', `cannot copy ${file}: another process holds it`)
  if (!(copied instanceof Error)) return
  // What can be read is not why a copy failed.
  const why = explainUnwritable(file, readOnly(file, readSchema)) ?? copied.message
  throw new OperatingError('UNAVAILABLE', `cannot copy ${file}: ${why}`, { cause: copied })
}

export interface Restore {
  readonly backup: string
  /** Where the database is to stand, and nothing does. */
  readonly file: string
  readonly keyFile: string
  readonly nowMs: number
  /** Its original may go on: nothing is reconciled here. */
  readonly asCopy: boolean
}

/**
 * Puts a backup in the place of a database, with what is in its log, should it be the database of a process that was
 * killed, and with a mark of its own beside it: it is another database from now on, and clients of the one before it
 * list everything anew. A crash in the middle leaves what a start refuses.
 */
export function restoreDatabase({ backup, file, keyFile, nowMs, asCopy }: Restore): void {
  markAsUnfinished(file)
  closeSync(openSync(file, 'wx', 0o600))
  copyDatabase(backup, file)
  openGuardedDatabase(file, {
    consent: asCopy ? 'as-copy' : 'accept-loss',
    secrets: { keyFile },
    restoredAtMs: nowMs,
  }).close()
}

/** Until another mark is in its place, a start is refused. */
function markAsUnfinished(file: string): void {
  const marks = openMarkFile(nameMarkFile(file))
  marks.write({ database: randomUUID(), ...unendedRestore })
  marks.close()
}
