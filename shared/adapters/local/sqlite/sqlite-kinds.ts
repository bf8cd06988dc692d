import type { KindName } from '../../../ports/object-index.ts'
import type { SqliteDatabase } from './sqlite-database.ts'

/** Small integers that stand for kinds in rows and indexes. A kind has had objects if it has one. */
export interface SqliteKinds {
  find(name: KindName): number | undefined
  /**
   * The number of a kind, given to it now if it has none. Never inside a write: what is remembered must be committed.
   */
  intern(name: KindName): number
  /** All that have had objects. */
  list(): readonly KindName[]
}

const opened = new WeakMap<SqliteDatabase, SqliteKinds>()

/** Those of one database are the same for all of its adapters, so that each knows what another has interned. */
export function openSqliteKinds(database: SqliteDatabase): SqliteKinds {
  const kinds = opened.get(database) ?? createSqliteKinds(database)
  opened.set(database, kinds)
  return kinds
}

/** Who asks may name any kind, so that no more are remembered that are not there. */
const missesMax = 1_000

function createSqliteKinds(database: SqliteDatabase): SqliteKinds {
  const select = database.prepare('SELECT id FROM kinds WHERE api_group = ? AND kind = ?')
  const all = database.prepare('SELECT api_group AS "group", kind FROM kinds ORDER BY id')
  const insert = database.prepare('INSERT INTO kinds (api_group, kind) VALUES (?, ?)')
  /** By group and kind: the number, or that there is none. */
  const known = new Map<string, Map<string, number | undefined>>()
  let misses = 0

  const look = ({ group, kind }: KindName): number | undefined => {
    const id = database.readNow(() => select.get(group, kind))?.['id'] as number | undefined
    if (id === undefined && ++misses > missesMax) {
      known.clear()
      misses = 1
    }
    const ids = known.get(group) ?? new Map<string, number | undefined>()
    known.set(group, ids.set(kind, id))
    return id
  }

  return {
    find: (name) => {
      const ids = known.get(name.group)
      if (ids?.has(name.kind) !== true) return look(name)
      // A closed database says so, and not that nothing is there.
      return ids.get(name.kind) ?? database.readNow(nothing)
    },
    intern: (name) => {
      const { group, kind } = name
      const id = known.get(group)?.get(kind) ?? look(name)
      if (id !== undefined) return id
      try {
        return Number(database.writeNow(() => insert.run(group, kind)).lastInsertRowid)
      } finally {
        // After a write that failed, the row may be there or not: the table is asked again.
        known.get(group)?.delete(kind)
      }
    },
    list: () => database.readNow(() => all.all()) as unknown as readonly KindName[],
  }
}

function nothing(): undefined {}
