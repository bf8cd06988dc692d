import type { KindName } from '../../../ports/object-index.ts'
import type { SqliteDatabase } from './sqlite-database.ts'

/** Small integers that stand for kinds in rows and indexes. A kind has had objects if it has one. */
export interface SqliteKinds {
  find(name: KindName): number | undefined
  /**
   * The number of a kind, given to it now if it has none. Never inside a write: what is remembered must be committed.
   */
  intern(name: KindName): number
}

export function createSqliteKinds(database: SqliteDatabase): SqliteKinds {
  const select = database.prepare('SELECT id FROM kinds WHERE api_group = ? AND kind = ?')
  const insert = database.prepare('INSERT INTO kinds (api_group, kind) VALUES (?, ?)')
  const known = new Map<string, Map<string, number>>()

  const find = ({ group, kind }: KindName): number | undefined => {
    const id = known.get(group)?.get(kind)
    return id ?? look(group, kind)
  }

  const look = (group: string, kind: string): number | undefined => {
    const id = database.readNow(() => select.get(group, kind))?.['id'] as number | undefined
    if (id === undefined) return undefined
    const ids = known.get(group) ?? new Map<string, number>()
    known.set(group, ids.set(kind, id))
    return id
  }

  const intern = (name: KindName): number => {
    return find(name) ?? Number(database.writeNow(() => insert.run(name.group, name.kind)).lastInsertRowid)
  }
  return { find, intern }
}
