import type { StoredObject } from '../../../model/stored-object.ts'
import type { ListQuery, ObjectStore } from '../../../ports/object-store.ts'
import type { SqliteChangeLog } from './sqlite-change-log.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import type { SqliteKinds } from './sqlite-kinds.ts'
import { storedOf, type ObjectRow } from './sqlite-rows.ts'

interface SqliteListOptions {
  readonly database: SqliteDatabase
  readonly changeLog: SqliteChangeLog
  readonly kinds: SqliteKinds
}

interface Place {
  readonly namespace: string
  readonly name: string
}

type PlacedRow = ObjectRow & Place

/** Bounds the pause that one list can cause: some five milliseconds. */
const rowsPerTurn = 500

/** Lists by walking the index of names. The resourceVersion is that of the first look, so nothing later is missed by a watch from there. */
export function createSqliteList({ database, changeLog, kinds }: SqliteListOptions): ObjectStore['list'] {
  const select = selectRows(database)

  return async (query) => {
    const resourceVersion = String(changeLog.latest())
    const kindId = kinds.find(query)
    const items: StoredObject[] = []
    if (kindId === undefined) return { items, resourceVersion, more: false }
    const { limit = Infinity } = query
    let after = query.after ?? start
    for (;;) {
      const wanted = Math.min(limit - items.length, rowsPerTurn)
      const rows = database.readNow(() => select(kindId, { ...query, after }, wanted + 1))
      for (const row of rows.slice(0, wanted)) items.push(storedOf(row))
      const more = rows.length > wanted
      if (!more || items.length >= limit) return { items, resourceVersion, more }
      after = rows[wanted - 1] ?? after
      await nextTurn()
    }
  }
}

/** Before everything: no name is empty. */
const start: Place = { namespace: '', name: '' }

function selectRows(
  database: SqliteDatabase,
): (kindId: number, query: ListQuery & { readonly after: Place }, count: number) => PlacedRow[] {
  const columns = `
    SELECT o.namespace, o.name, c.engine, c.doc
    FROM objects o CROSS JOIN heads h ON h.id = o.id CROSS JOIN changes c ON c.rv = h.rv WHERE o.kind = ?`
  const everywhere = database.prepare(
    `${columns} AND (o.namespace, o.name) > (?, ?) ORDER BY o.namespace, o.name LIMIT ?`,
  )
  const inNamespace = database.prepare(`${columns} AND o.namespace = ? AND o.name > ? ORDER BY o.name LIMIT ?`)
  return (kindId, { namespace, after }, count) => {
    if (namespace === undefined)
      return everywhere.all(kindId, after.namespace, after.name, count) as unknown as PlacedRow[]
    if (after.namespace > namespace) return []
    const name = after.namespace === namespace ? after.name : ''
    return inNamespace.all(kindId, namespace, name, count) as unknown as PlacedRow[]
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
