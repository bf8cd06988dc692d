import { accessSync, constants, existsSync, rmSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { OperatingError } from '../../../../model/errors.ts'
import { isBusy, isUnwritable } from '../sqlite-errors.ts'
import { nameMarkFile } from './findings.ts'
import { nameIndexFile, nameLogFile } from './write-ahead-log.ts'

/** A look that changes no file. The error if it cannot be read. */
export function readOnly<Result>(file: string, look: (connection: DatabaseSync) => Result): Result | 'in use' | Error {
  return readAt(file, locationOf(file), look)
}

function readAt<Result>(
  file: string,
  location: URL,
  look: (connection: DatabaseSync) => Result,
): Result | 'in use' | Error {
  const index = nameIndexFile(file)
  const hadIndex = existsSync(index)
  const connection = new DatabaseSync(location, { readOnly: true, open: false })
  try {
    refusePipe(file)
    connection.open()
    return look(connection)
  } catch (error) {
    return isBusy(error) ? 'in use' : (error as Error)
  } finally {
    if (connection.isOpen) connection.close()
    if (!hadIndex) rmSync(index, { force: true })
  }
}

/** To open a pipe waits for somebody to write into it. */
function refusePipe(file: string): void {
  if (statSync(file, { throwIfNoEntry: false })?.isFile() === false)
    throw new OperatingError('UNAVAILABLE', `cannot open ${file}: it is no file`)
}

/** Why a database cannot be read that may be whole; undefined if the error is another. */
export function explainUnwritable(file: string, error: unknown): string | undefined {
  if (!isUnwritable(error) || !isReadable(file)) return undefined
  const name = basename(file)
  const files = `${name}, ${name}-wal and ${basename(nameMarkFile(file))}`
  return `SQLite cannot read it where nothing may be written: copy ${files} elsewhere, and look there`
}

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK)
    return true
  } catch {
    return false
  }
}

/** Where there is no log, SQLite would make an empty one to read the database. It takes no lock then. */
function locationOf(file: string): URL {
  const location = pathToFileURL(file)
  if (!existsSync(nameLogFile(file))) location.searchParams.set('immutable', '1')
  return location
}

/** Whether a process has the database. Its lock tells this, even where its log was taken away. */
export function isHeldByProcess(file: string): boolean {
  if (!existsSync(file)) return false
  const log = nameLogFile(file)
  const hadLog = existsSync(log)
  const seen = readAt(file, pathToFileURL(file), (connection) => {
    readSchema(connection)
    // The connection has a lock now: no process can have begun to use the log that SQLite made for this look.
    if (!hadLog) removeEmpty(log)
  })
  return seen === 'in use'
}

/** The least that takes a lock and reads a page. */
export function readSchema(connection: DatabaseSync): void {
  connection.prepare('SELECT 1 FROM sqlite_schema').get()
}

function removeEmpty(log: string): void {
  if (statSync(log, { throwIfNoEntry: false })?.size === 0) rmSync(log, { force: true })
}
