import { parseJson } from '../../../model/parse-json.ts'
import { chmodSync, closeSync, existsSync, openSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { OperatingError } from '../../../model/errors.ts'
import { keptRuns, type PastRun, type RunHistory } from '../../../ports/run-history.ts'
import { createQuietRuns } from '../../node/quiet-runs.ts'

export interface SqliteRunHistory extends RunHistory {
  /** Writes what waits. */
  flush(): void
  /** The same, and lets the file go. */
  close(): void
}

export interface SqliteRunHistoryOptions {
  readonly file: string
  /** Told once of each time that runs are lost, until they can be written again. */
  readonly report: (error: unknown) => void
  /** Between two writes. Default 1 s. */
  readonly flushMs?: number
  /** Above this the oldest go. Default 64 MiB. */
  readonly bytesMax?: number
}

/** More in one write are not kept: it holds the process for some milliseconds. */
const waitingMax = 1_000

/**
 * The history in a file of its own. Runs are written together once a second, without waiting for the disk: a killed
 * process loses those of its last second, and the database of the objects has no part in it. A file that cannot be
 * read is begun anew.
 */
export function openSqliteRunHistory(options: SqliteRunHistoryOptions): SqliteRunHistory {
  const { file, report, flushMs = 1_000, bytesMax = 64 * 1024 * 1024 } = options
  const database = openOrReplace(file)
  const select = database.prepare('SELECT doc FROM runs WHERE uid = ? ORDER BY id DESC LIMIT ?')
  const writeAll = createWriter(database, bytesMax)
  const quiet = createQuietRuns()
  let waiting: Waiting[] = []
  let isLosing = false

  const flush = (): void => {
    if (waiting.length === 0) return
    const runs = waiting
    waiting = []
    try {
      writeAll(runs)
      isLosing = false
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK')
      if (!isLosing) report(error)
      isLosing = true
    }
  }

  const timer = setInterval(flush, flushMs).unref()
  return {
    note: (uid, run) => {
      if (waiting.length >= waitingMax) return
      const before = quiet.take(uid)
      if (before !== undefined) waiting.push({ uid, run: before })
      waiting.push({ uid, run })
    },
    noteQuiet: quiet.count,
    read: async (uid) => {
      flush()
      const last = quiet.read(uid)
      const runs = readRows(() => select.all(uid, keptRuns), file).toReversed()
      return (last === undefined ? runs : [...runs, last]).slice(-keptRuns)
    },
    flush,
    close: () => {
      clearInterval(timer)
      flush()
      database.close()
    },
  }
}

interface Waiting {
  readonly uid: string
  readonly run: PastRun
}

function openOrReplace(file: string): DatabaseSync {
  try {
    return open(file)
  } catch {
    // It holds nothing that anything depends on.
    for (const name of [file, `${file}-wal`, `${file}-shm`]) rmSync(name, { force: true })
    return open(file)
  }
}

function open(file: string): DatabaseSync {
  keepPrivate(file)
  const database = new DatabaseSync(file)
  try {
    database.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = NORMAL;
      PRAGMA journal_size_limit = 4194304;
      CREATE TABLE IF NOT EXISTS runs (id INTEGER PRIMARY KEY, uid TEXT NOT NULL, doc TEXT NOT NULL) STRICT;
      CREATE INDEX IF NOT EXISTS runs_by_object ON runs (uid, id);
    `)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** What runs said is for nobody else of the machine. SQLite gives the files beside it the same mode. */
function keepPrivate(file: string): void {
  closeSync(openSync(file, 'a', 0o600))
  for (const name of [file, `${file}-wal`, `${file}-shm`]) if (existsSync(name)) chmodSync(name, 0o600)
}

function createWriter(database: DatabaseSync, bytesMax: number): (runs: readonly Waiting[]) => void {
  const insert = database.prepare('INSERT INTO runs (uid, doc) VALUES (?, ?)')
  // Node 22.18 binds no values to parameters with numbers.
  const trim = database.prepare(
    'DELETE FROM runs WHERE uid = ? AND id <= (SELECT id FROM runs WHERE uid = ? ORDER BY id DESC LIMIT 1 OFFSET ?)',
  )
  const size = database.prepare(
    'SELECT (page_count - freelist_count) * page_size AS bytes FROM pragma_page_count, pragma_freelist_count, pragma_page_size',
  )
  const shrink = database.prepare('DELETE FROM runs WHERE id IN (SELECT id FROM runs ORDER BY id LIMIT ?)')
  return (runs) => {
    database.exec('BEGIN')
    for (const { uid, run } of runs) insert.run(uid, JSON.stringify(run))
    for (const uid of new Set(runs.map((one) => one.uid))) trim.run(uid, uid, keptRuns)
    if (Number(size.get()?.['bytes']) > bytesMax) shrink.run(2 * waitingMax)
    database.exec('COMMIT')
  }
}

function readRows(all: () => unknown, file: string): readonly PastRun[] {
  try {
    return (all() as readonly { readonly doc: string }[]).map(({ doc }) => parseJson(doc) as PastRun)
  } catch (cause) {
    const why = (cause as Error).message
    throw new OperatingError('UNAVAILABLE', `cannot read ${file}: ${why}; it may be deleted`, { cause })
  }
}
