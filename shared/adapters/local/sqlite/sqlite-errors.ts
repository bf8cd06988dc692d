import { OperatingError } from '../../../model/errors.ts'

/**
 * Primary result codes, https://www.sqlite.org/rescode.html: the disk, the file or its lock, never the one statement.
 */
const diskFull = 13
const ioError = 10
/** SQLITE_IOERR_READ and SQLITE_IOERR_SHORT_READ */
const unreadable = [ioError | (1 << 8), ioError | (2 << 8)]
/** SQLITE_IOERR_WRITE */
const refusedWrite = ioError | (3 << 8)
const damages = [11, 26]
/** SQLITE_READONLY and SQLITE_CANTOPEN */
const unwritable = [8, 14]
const storageFailures = new Set([5, 6, 7, 8, ioError, diskFull, 14, 15, ...damages])

/** The primary result code of an error raised by SQLite, or `undefined` for any other error. */
function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return undefined
  return error.errcode & 0xff
}

/** Whether the storage beneath failed (full, unreadable, locked), so that no statement would fare better just now. */
export function isStorageFailure(error: unknown): boolean {
  const code = resultCode(error)
  return code !== undefined && storageFailures.has(code)
}

/** Whether the database is held by another connection. */
export function isBusy(error: unknown): boolean {
  return resultCode(error) === 5
}

/** Whether SQLite may not make or write a file. It makes one to read a log: the index. */
export function isUnwritable(error: unknown): boolean {
  return unwritable.includes(resultCode(error) ?? 0)
}

/** Whether Node told an error where SQLite has none. */
export function isNoError(error: unknown): boolean {
  return resultCode(error) === 0
}

/** Whether the file is not what SQLite wrote. */
export function isDamaged(error: unknown): boolean {
  return damages.includes(resultCode(error) ?? 0)
}

/** What is read; undefined if it stands where the file is damaged. */
export function unlessDamaged<Found>(read: () => Found): Found | undefined {
  try {
    return read()
  } catch (error) {
    if (isDamaged(error)) return undefined
    throw error
  }
}

/** Whether one place of the file is damaged, or cannot be read: a statement that looks elsewhere may fare better. */
export function isOfOnePlace(error: unknown): boolean {
  return isDamaged(error) || unreadable.includes((error as { readonly errcode: number }).errcode)
}

/**
 * Whether a commit that failed with this error may come back after a crash: its frames may have reached the disk. A
 * write that was refused, as on a file system that went read-only, leaves it without its last frame, and a log is read
 * up to the last commit that is whole.
 */
export function leavesFateOpen(error: unknown): boolean {
  return resultCode(error) === ioError && (error as { readonly errcode: number }).errcode !== refusedWrite
}

/** UNAVAILABLE for a storage failure; every other error as it is. */
export function translateError(error: unknown, attempted: string): unknown {
  if (!isStorageFailure(error)) return error
  return new OperatingError('UNAVAILABLE', `cannot ${attempted}: ${(error as Error).message}`, { cause: error })
}
