import { createQuarantine, type Quarantine } from '../../adapters/local/sqlite/quarantine.ts'
import { createSqliteChangeFeed } from '../../adapters/local/sqlite/sqlite-change-feed.ts'
import { createSqliteChangeLog, type SqliteChangeLog } from '../../adapters/local/sqlite/sqlite-change-log.ts'
import { createSqliteCheckpoint } from '../../adapters/local/sqlite/sqlite-checkpoint.ts'
import { openGuardedDatabase, type GuardOptions } from '../../adapters/local/sqlite/guard/guarded-database.ts'
import type { FileNews } from '../../adapters/local/sqlite/guard/watched-files.ts'
import { openFeed, sealStore } from '../../adapters/local/secrets/sealed-ports.ts'
import { createSoonestTimers, type CanBeDue } from '../../adapters/local/sqlite/soonest-timers.ts'
import { openSqliteDatabase, type SqliteDatabase } from '../../adapters/local/sqlite/sqlite-database.ts'
import { createSqliteIndex } from '../../adapters/local/sqlite/sqlite-index.ts'
import { openSqliteKinds } from '../../adapters/local/sqlite/sqlite-kinds.ts'
import { createSqliteStore } from '../../adapters/local/sqlite/sqlite-store.ts'
import type { ObjectKey } from '../../model/object-key.ts'
import type { ChangeFeed } from '../../ports/change-feed.ts'
import type { Checkpoint } from '../../ports/checkpoint.ts'
import type { Clock } from '../../ports/clock.ts'
import type { KindName, ObjectIndex } from '../../ports/object-index.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { Checkpoints } from '../../engine/wake/saving.ts'

/** What is kept in one SQLite file. */
export interface LocalPorts extends Checkpoints {
  readonly store: ObjectStore
  readonly feed: ChangeFeed
  readonly index: ObjectIndex
  /** Left out, everything can be due. */
  readonly canBeDue?: CanBeDue
  /** Saved to find out whether writes are taken. */
  readonly probe?: Checkpoint
  /** Objects that were found damaged. */
  readonly quarantine?: Quarantine
  /** Whether every object was read since the file was opened: what is damaged is known then. Left out, it is not. */
  readonly areAllRead?: () => boolean
  /** It is a copy of another control plane, and must not act. */
  readonly isHeld?: boolean
  /** Why no writes are taken, where that is known; undefined if they may be. */
  readonly whyNoWrites?: () => string | undefined
  close(): void
}

/**
 * Opens the file, or makes it; ":memory:" keeps everything in memory. Throws UNAVAILABLE if another process has the
 * file.
 */
export function openLocalPorts(file: string, clock: Clock): LocalPorts {
  const database = openSqliteDatabase(file)
  return assemblePorts(database, createSqliteChangeLog({ database, clock }))
}

/** The same with a mark beside the file, which tells what was lost of it or whether it is a copy. */
export interface GuardedPorts extends LocalPorts {
  /** It is a copy, and must not act. */
  readonly isHeld: boolean
  /** What was damaged beside the states of objects, and was made anew from them. */
  readonly foundDamage: readonly string[]
  /** What speaks against the files, and a person said to go on. */
  readonly accepted: readonly string[]
  /** All kinds that have had objects. */
  readonly kinds: () => readonly KindName[]
  /** Copies what is committed into another file while everything goes on. Rejects with UNAVAILABLE. */
  copyTo(file: string): Promise<void>
  /** Is told of files that are taken away while they are open. */
  listen(listener: (news: FileNews) => void): void
}

/** Throws UNAVAILABLE, too, if something was lost, and nobody said to go on. */
export function openGuardedPorts(file: string, clock: Clock, options: GuardOptions): GuardedPorts {
  const { database, isHeld, sealing, foundDamage, accepted, follow, listen, close } = openGuardedDatabase(file, options)
  const changeLog = createSqliteChangeLog({ database, clock })
  const ports = assemblePorts(database, changeLog)
  follow(changeLog.latest)
  const kinds = openSqliteKinds(database).list
  const copyTo = (copy: string): Promise<void> => database.copyTo(copy)
  const guarded = { isHeld, foundDamage, accepted, kinds, listen, close, copyTo }
  if (sealing === undefined) return { ...ports, ...guarded }
  const { store, feed, quarantine } = ports
  const sealed = { sealing, onUnreadable: (key: ObjectKey) => quarantine?.note(key) }
  return { ...ports, store: sealStore(store, sealed), feed: openFeed(feed, sealing), ...guarded }
}

/** The ports on a database that is open. */
export function assemblePorts(database: SqliteDatabase, changeLog: SqliteChangeLog): LocalPorts {
  const quarantine = createQuarantine()
  return {
    store: createSqliteStore({ database, changeLog, quarantine }),
    quarantine,
    feed: createSqliteChangeFeed({ database, changeLog }),
    index: createSqliteIndex(database),
    canBeDue: createSoonestTimers({ database, changeLog }),
    relayed: createSqliteCheckpoint({ database, name: 'relayed', keepsChanges: true }),
    turned: createSqliteCheckpoint({ database, name: 'turned' }),
    introduced: createSqliteCheckpoint({ database, name: 'introduced' }),
    probe: createSqliteCheckpoint({ database, name: 'probe' }),
    whyNoWrites: database.whyRefused,
    close: () => database.close(),
  }
}
