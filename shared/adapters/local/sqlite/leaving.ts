import { existsSync, readlinkSync, realpathSync, renameSync, rmSync, statSync, truncateSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { isHeldByProcess } from './guard/read-only.ts'
import { nameLogFile } from './guard/write-ahead-log.ts'

/** Closes what nothing was to be changed of. */
export type Leave = (connection: DatabaseSync) => void

/**
 * Notes how long the write-ahead log is, for a connection that has the file for itself and has written nothing yet.
 * What is returned closes the connection and leaves both files as they are now, if no checkpoint was made meanwhile.
 *
 * SQLite puts the log into the database when the last connection is closed, unless the database stands elsewhere then
 * (`databaseIsUnmoved` in SQLite's `pager.c`). So it is moved aside for this moment.
 */
export function noteFiles(file: string, hadLog: boolean): Leave {
  const [real, log] = [realpathSync(file), nameLogFile(file)]
  const logBytes = statSync(log, { throwIfNoEntry: false })?.size ?? 0
  return (connection) => {
    const aside = nameAside(real)
    if (!attempt(() => renameSync(real, aside))) return connection.close()
    try {
      if (hadLog) attempt(() => truncateSync(log, logBytes))
      else rmSync(log, { force: true })
      connection.close()
    } finally {
      renameSync(aside, real)
    }
  }
}

/** After a crash in the moment in which the database was moved aside. */
export function putBackLeft(file: string): void {
  if (existsSync(file)) return
  const real = followLinks(file)
  const aside = nameAside(real)
  if (existsSync(aside) && !isHeldByProcess(aside)) renameSync(aside, real)
}

/** As many as Linux follows: of links that lead to each other there is no end. */
const linksMax = 40

/** Where the file would stand, if links lead to it and it does not. */
function followLinks(file: string, most = linksMax): string {
  const target = targetOf(file)
  if (target === undefined || most === 0) return file
  return followLinks(resolve(realpathSync(dirname(file)), target), most - 1)
}

/** Undefined if it is no link. */
function targetOf(file: string): string | undefined {
  try {
    return readlinkSync(file)
  } catch {
    return undefined
  }
}

function nameAside(file: string): string {
  return `${file}.refused`
}

function attempt(work: () => void): boolean {
  try {
    work()
    return true
  } catch {
    return false
  }
}
