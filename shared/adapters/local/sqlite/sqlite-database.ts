import { accessSync, closeSync, constants, existsSync, openSync } from 'node:fs'
import { backup, DatabaseSync, type StatementSync } from 'node:sqlite'
import type { Eventual } from '../../../model/eventual.ts'
import { OperatingError } from '../../../model/errors.ts'
import { createGroupCommit, type GroupCommit } from './group-commit.ts'
import { nameLogFile } from './guard/write-ahead-log.ts'
import { noteFiles, type Leave } from './leaving.ts'
import { rebuildTables } from './rebuilding.ts'
import { isBusy, isDamaged, isNoError, isStorageFailure, translateError } from './sqlite-errors.ts'
import { hasOurColumns, prepareSchema } from './sqlite-schema.ts'

/** One SQLite file, held by one process. The local adapters share it, each with its own statements. */
export interface SqliteDatabase extends Pick<GroupCommit, 'write'> {
  /** What was damaged beside the states when it was opened, and was made anew from them. */
  readonly foundDamage: readonly string[]

  /** Compiles a statement; callers keep it. */
  prepare(sql: string): StatementSync

  /**
   * A look at committed rows, at once. Rejects with what `look` throws, and UNAVAILABLE when the file cannot be read.
   */
  read<Result>(look: () => Result): Promise<Result>

  /** The same, with what was found at once. Only a failure is a promise, which rejects. */
  find<Result>(look: () => Result): Eventual<Result>

  /** The same, for who cannot wait. */
  readNow<Result>(look: () => Result): Result

  /** A write with a commit of its own: for what comes once in a lifetime. Never inside `write`. */
  writeNow<Result>(work: () => Result): Result

  /**
   * Copies the committed data into another file of mode 0600, in small portions. Reads and writes go on between the
   * portions, and the copy has these writes, too. Rejects with UNAVAILABLE.
   */
  copyTo(file: string): Promise<void>

  /** From now on each write is refused, UNAVAILABLE, with this; with undefined writes are taken again. */
  refuseWrites(why: string | undefined): void

  /** Why writes are refused; undefined if they are not. */
  whyRefused(): string | undefined

  /** Commits what waits, at once. */
  flush(): void

  /** The same, and lets the file go. */
  close(): void

  /** Lets the file go, and both it and its log as they were when it was opened: only before the first write. */
  leave(): void
}

/** SQLite cannot read the file, or it is not what we wrote: nothing but another file helps. */
export class DamagedDatabaseError extends OperatingError {
  readonly says: string

  constructor(file: string, says: string, cause: unknown) {
    super('UNAVAILABLE', `cannot open ${file}: ${says}: put back a copy of it, or choose another file`, { cause })
    this.says = says
  }
}

/**
 * Opens the file, or makes it (mode 0600: it holds secrets); ":memory:" keeps everything in memory.
 *
 * One process at a time: SQLite's exclusive locking mode holds a lock of the operating system on the file, which dies
 * with the process and leaves nothing behind. Throws UNAVAILABLE if another process holds it, or if the file is not
 * ours or damaged. Durable: write-ahead log with synchronous=FULL, so a commit returns after its fsync.
 */
export function openSqliteDatabase(file: string): SqliteDatabase {
  const { connection, foundDamage, leave } = connect(file)
  const { write, flush } = createGroupCommit(connection, file)
  let open = true
  let refusedFor: string | undefined

  const closed = (): OperatingError => new OperatingError('UNAVAILABLE', `${file} is closed`)

  /** Undefined where writes are taken. */
  const refusal = (): OperatingError | undefined => {
    if (!open) return closed()
    if (refusedFor === undefined) return undefined
    return new OperatingError('UNAVAILABLE', `cannot write to ${file}: ${refusedFor}`)
  }

  const guarded = <Result>(work: () => Result, attempted: string): Result => {
    if (!open) throw closed()
    try {
      return work()
    } catch (error) {
      throw translateError(error, `${attempted} ${file}`)
    }
  }

  return {
    foundDamage,
    prepare: (sql) => connection.prepare(sql),
    read: (look) => new Promise((resolve) => resolve(guarded(look, 'read'))),
    find: (look) => {
      try {
        return guarded(look, 'read')
      } catch (error) {
        return rejectWith(error)
      }
    },
    readNow: (look) => guarded(look, 'read'),
    writeNow: (work) => {
      const refused = refusal()
      if (refused !== undefined) throw refused
      return guarded(work, 'write to')
    },
    write: (work, onCommit) => {
      const refused = refusal()
      return refused === undefined ? write(work, onCommit) : Promise.reject(refused)
    },
    copyTo: async (copy) => {
      if (!open) throw closed()
      await copyInto(copy, connection, file)
    },
    refuseWrites: (why) => {
      if (why !== refusedFor) connection.exec(`PRAGMA query_only = ${why === undefined ? 'OFF' : 'ON'}`)
      refusedFor = why
    },
    whyRefused: () => refusedFor,
    flush,
    close: () => {
      if (!open) return
      // Those who are told of it look into the file.
      flush()
      open = false
      connection.close()
    },
    leave: () => {
      if (open) leave(connection)
      open = false
    },
  }
}

/** Commits end with the turn of the event loop that began them, so an attempt or two find a pause between two. */
const copyAttemptsMax = 100

/**
 * The copying runs on another thread. SQLite refuses it while this one is inside a transaction, and if that is so when
 * it begins, Node rejects with "not an error", whose code is 0 (`BackupJob` in Node's `node_sqlite.cc`).
 */
async function copyBetweenWrites(connection: DatabaseSync, copy: string): Promise<void> {
  for (let attempt = 1; attempt <= copyAttemptsMax; attempt++) {
    try {
      await backup(connection, copy)
      return
    } catch (error) {
      if (!isNoError(error)) throw error
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
  throw new OperatingError('UNAVAILABLE', `cannot copy to ${copy}: writes leave no pause: try again`)
}

async function copyInto(copy: string, connection: DatabaseSync, file: string): Promise<void> {
  try {
    makePrivate(copy)
    await copyBetweenWrites(connection, copy)
  } catch (error) {
    throw translateError(error, `copy ${file} to ${copy}`)
  }
}

/** A file that SQLite makes may be read by everybody. */
function makePrivate(file: string): void {
  try {
    closeSync(openSync(file, 'a', 0o600))
  } catch {
    // It hinders SQLite, too, which says so.
  }
}

async function rejectWith(error: unknown): Promise<never> {
  throw error
}

interface Connected {
  readonly connection: DatabaseSync
  readonly foundDamage: readonly string[]
  readonly leave: Leave
}

function connect(file: string): Connected {
  try {
    if (file !== ':memory:') makeWritable(file)
    const hadLog = existsSync(nameLogFile(file))
    return configured(new DatabaseSync(file), file, hadLog)
  } catch (error) {
    throw explainRefusal(error, file)
  }
}

/** Where SQLite may not write, what it says of that depends on which of its files it was about to use. */
function makeWritable(file: string): void {
  // Closed again, a file that exists would lose the locks of this process.
  if (existsSync(file)) accessSync(file, constants.R_OK | constants.W_OK)
  else closeSync(openSync(file, 'ax', 0o600))
}

function configured(connection: DatabaseSync, file: string, hadLog: boolean): Connected {
  const leave = take(connection, file, hadLog)
  try {
    prepareSchema(connection, file)
    if (!hasOurColumns(connection)) throw damagedFile(file, 'a table has other columns')
    const isShort = isSmall(connection)
    const foundDamage = rebuild(connection, file, isShort)
    if (isShort) refuseDamaged(connection, file)
    connection.exec('PRAGMA wal_autocheckpoint = 4000')
    return { connection, foundDamage, leave }
  } catch (error) {
    leave(connection)
    throw error
  }
}

/** Has the file for itself from then on. Until it is known to be ours and whole, the log is not put into it. */
function take(connection: DatabaseSync, file: string, hadLog: boolean): Leave {
  const note = (): Leave => (file === ':memory:' ? (one) => one.close() : noteFiles(file, hadLog))
  try {
    // The locking mode comes first: it decides how the write-ahead log is opened. The empty transaction takes the lock.
    connection.exec(`
      PRAGMA locking_mode = EXCLUSIVE;
      PRAGMA wal_autocheckpoint = 0;
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA cache_size = -16384;
      PRAGMA journal_size_limit = 67108864;
      BEGIN IMMEDIATE; COMMIT;
    `)
    return note()
  } catch (error) {
    // Of another process nothing is moved.
    if (isDamaged(error)) note()(connection)
    else connection.close()
    throw error
  }
}

/** What too much is damaged to be made anew is refused. */
function rebuild(connection: DatabaseSync, file: string, isShort: boolean): readonly string[] {
  try {
    return rebuildTables(connection, { isShort })
  } catch (cause) {
    if (isStorageFailure(cause) && !isDamaged(cause)) throw cause
    throw damagedFile(file, cause)
  }
}

/** A look at every page takes less than a millisecond for a megabyte. In a larger file damage is met where it is. */
const checkedBytesMax = 100_000_000

function isSmall(connection: DatabaseSync): boolean {
  const size = connection
    .prepare('SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size')
    .get()
  return Number(size?.['bytes']) <= checkedBytesMax
}

function refuseDamaged(connection: DatabaseSync, file: string): void {
  const cause = connection.prepare('PRAGMA quick_check(1)').get()?.['quick_check']
  if (cause === 'ok') return
  throw damagedFile(file, cause)
}

function damagedFile(file: string, cause: unknown): OperatingError {
  return new DamagedDatabaseError(file, 'it is damaged', cause)
}

/** With what a person can do. */
export function explainRefusal(error: unknown, file: string): unknown {
  if (error instanceof OperatingError) return error
  if (isDamaged(error)) return new DamagedDatabaseError(file, (error as Error).message, error)
  return new OperatingError('UNAVAILABLE', `cannot open ${file}: ${adviceOn(error)}`, { cause: error })
}

function adviceOn(error: unknown): string {
  if (isBusy(error)) return 'another process holds it: stop that process, or choose another directory (--data-dir)'
  return (error as Error).message
}
