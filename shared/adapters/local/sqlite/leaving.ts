import { existsSync, realpathSync, renameSync, rmSync, statSync, truncateSync } from 'node:fs'
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
  const aside = nameAside(file)
  if (!existsSync(file) && existsSync(aside) && !isHeldByProcess(aside)) renameSync(aside, file)
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
