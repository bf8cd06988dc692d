import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSqliteChangeFeed } from '../../shared/adapters/local/sqlite/sqlite-change-feed.ts'
import { createSqliteChangeLog } from '../../shared/adapters/local/sqlite/sqlite-change-log.ts'
import { openSqliteDatabase, type SqliteDatabase } from '../../shared/adapters/local/sqlite/sqlite-database.ts'
import { createSqliteIndex } from '../../shared/adapters/local/sqlite/sqlite-index.ts'
import type { RetentionOptions } from '../../shared/adapters/local/sqlite/sqlite-log-retention.ts'
import { createSqliteStore } from '../../shared/adapters/local/sqlite/sqlite-store.ts'
import { systemClock } from '../../shared/adapters/node/system-clock.ts'
import type { ChangeFeed } from '../../shared/ports/change-feed.ts'
import type { Clock } from '../../shared/ports/clock.ts'
import type { ObjectIndex } from '../../shared/ports/object-index.ts'
import type { ObjectStore } from '../../shared/ports/object-store.ts'

/** All that one database file gives. */
export interface OpenSqlite {
  readonly database: SqliteDatabase
  readonly store: ObjectStore
  readonly feed: ChangeFeed
  readonly index: ObjectIndex
  close(): void
}

export function openSqlite(file: string, clock: Clock = systemClock, retention: RetentionOptions = {}): OpenSqlite {
  const database = openSqliteDatabase(file)
  const changeLog = createSqliteChangeLog({ database, clock, ...retention })
  return {
    database,
    store: createSqliteStore({ database, changeLog }),
    feed: createSqliteChangeFeed({ database, changeLog }),
    index: createSqliteIndex(database),
    close: database.close,
  }
}

/** The same in a directory that goes when it is closed. */
export function openSqliteFile(clock?: Clock): OpenSqlite {
  const { file, remove } = temporaryFile()
  const opened = openSqlite(file, clock)
  const close = (): void => {
    opened.close()
    remove()
  }
  return { ...opened, close }
}

export function temporaryFile(): { readonly file: string; remove(): void } {
  const directory = mkdtempSync(join(tmpdir(), 'setpoint-'))
  return { file: join(directory, 'setpoint.db'), remove: () => rmSync(directory, { recursive: true }) }
}
