import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gadgetText } from './gadget.ts'

/**
 * The least that SQLite does for a change: its two rows, spec and status, on disk. Nothing else runs, nobody waits for
 * a reply.
 */
export interface SqliteWrites {
  /** Changes per second with so many rows in each commit, for about so long. */
  measure(rowsPerCommit: number, durationMs: number): number
  close(): void
}

const keys = 1_000

/** The same rows as the store writes, over 1,000 keys: the document in place, and one row in the log of changes. */
export function openSqliteWrites(directory: string): SqliteWrites {
  const connection = new DatabaseSync(join(directory, 'bare.db'))
  connection.exec(`
    PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -16384;
    PRAGMA wal_autocheckpoint = 4000;
    CREATE TABLE objects (id INTEGER PRIMARY KEY, rv INTEGER NOT NULL, doc TEXT NOT NULL) STRICT;
    CREATE TABLE changes (rv INTEGER PRIMARY KEY, object_id INTEGER NOT NULL, at_ms INTEGER NOT NULL) STRICT;
  `)
  const put = connection.prepare(
    'INSERT INTO objects VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET rv = excluded.rv, doc = excluded.doc',
  )
  const log = connection.prepare('INSERT INTO changes VALUES (?, ?, ?)')
  const documents = Array.from({ length: keys }, (_, i) => document(i))
  let version = 0

  const commit = (rows: number): void => {
    connection.exec('BEGIN IMMEDIATE')
    for (let i = 0; i < rows; i++) {
      const id = ++version % keys
      put.run(id, version, documents[id] as string)
      log.run(version, id, 0)
    }
    connection.exec('COMMIT')
  }
  commit(keys)

  return {
    measure: (rowsPerCommit, durationMs) => {
      const before = version
      const startMs = performance.now()
      while (performance.now() < startMs + durationMs) commit(rowsPerCommit)
      return (version - before) / 2 / ((performance.now() - startMs) / 1000)
    },
    close: () => connection.close(),
  }
}

/** A gadget as it is stored, metadata and status included. */
function document(number: number): string {
  const { head, tail } = gadgetText(`bare-${number}`, number)
  return `${head}1000000000${tail.slice(0, -1)},"status":${JSON.stringify(status)}}`
}

const status = {
  revision: 1_000_000_000,
  openPorts: 4,
  conditions: [
    {
      type: 'Ready',
      status: 'True',
      reason: 'Reconciled',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
      observedGeneration: 1,
    },
  ],
  observedGeneration: 1,
}
