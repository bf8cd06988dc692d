import { keyText, parseKeyText, type ObjectKey } from '../../../model/object-key.ts'
import type { DueTimer, ObjectIndex } from '../../../ports/object-index.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { openSqliteKinds } from './sqlite-kinds.ts'

/** The ObjectIndex on SQLite: part of the same commits as the objects, so it never lags. */
export function createSqliteIndex(database: SqliteDatabase): ObjectIndex {
  const kinds = openSqliteKinds(database)
  const objects = 'SELECT k.api_group, k.kind, o.namespace, o.name FROM objects o JOIN kinds k ON k.id = o.kind'
  const children = database.prepare(`${objects} JOIN owners w ON w.object_id = o.id WHERE w.owner_uid = ? LIMIT ?`)
  const referring = database.prepare(`${objects} JOIN refs r ON r.referrer_id = o.id WHERE r.target = ?`)
  const referred = database.prepare(
    'SELECT r.target FROM refs r JOIN objects o ON o.id = r.referrer_id WHERE o.kind = ? AND o.namespace = ? AND o.name = ?',
  )
  const timers = database.prepare(`
    SELECT k.api_group, k.kind, o.namespace, o.name, h.next_run_at_ms
    FROM heads h JOIN objects o ON o.id = h.id JOIN kinds k ON k.id = h.kind
    WHERE h.kind = ? AND h.next_run_at_ms BETWEEN ? AND ? ORDER BY h.next_run_at_ms LIMIT ?`)
  const slots = database.prepare(`${objects} WHERE o.kind = ? AND o.slot >= ? AND o.slot < ?`)

  return {
    childrenOf: (uid, limit = noLimit) => database.read(() => children.all(uid, limit).map(keyOfRow)),
    referrers: (target) => database.read(() => referring.all(keyText(target)).map(keyOfRow)),
    references: (referrer) =>
      database.read(() =>
        referred
          .all(kinds.find(referrer) ?? null, referrer.namespace, referrer.name)
          .map((row) => parseKeyText(String(row['target']))),
      ),
    setReferences: createSetReferences(database),
    due: (kind, untilMs, limit, fromMs = 0) =>
      database.read(() => timers.all(kinds.find(kind) ?? null, fromMs, untilMs, limit).map(timerOfRow)),
    onWheel: (kind, from, to) =>
      database.read(() => {
        const id = kinds.find(kind)
        return id === undefined ? [] : slots.all(id, from, to).map(keyOfRow)
      }),
  }
}

/** As SQLite says it. */
const noLimit = -1

/** Writes the difference only; no difference, no commit. A referrer that is not there refers to nothing. */
function createSetReferences(database: SqliteDatabase): ObjectIndex['setReferences'] {
  const kinds = openSqliteKinds(database)
  const find = database.prepare('SELECT id FROM objects WHERE kind = ? AND namespace = ? AND name = ?')
  const select = database.prepare('SELECT target FROM refs WHERE referrer_id = ?')
  const insert = database.prepare('INSERT OR IGNORE INTO refs (target, referrer_id) VALUES (?, ?)')
  const remove = database.prepare('DELETE FROM refs WHERE target = ? AND referrer_id = ?')

  const difference = (referrer: ObjectKey, targets: ReadonlySet<string>): Difference | undefined => {
    const id = find.get(kinds.find(referrer) ?? null, referrer.namespace, referrer.name)?.['id'] as number | undefined
    if (id === undefined) return undefined
    const recorded = new Set(select.all(id).map((row) => String(row['target'])))
    const added = [...targets].filter((target) => !recorded.has(target))
    const gone = [...recorded].filter((target) => !targets.has(target))
    return added.length + gone.length === 0 ? undefined : { id, added, gone }
  }

  return async (referrer, targets) => {
    const wanted = new Set(targets.map(keyText))
    if ((await database.read(() => difference(referrer, wanted))) === undefined) return
    await database.write(() => {
      const change = difference(referrer, wanted)
      if (change === undefined) return
      for (const target of change.gone) remove.run(target, change.id)
      for (const target of change.added) insert.run(target, change.id)
    })
  }
}

interface Difference {
  readonly id: number
  readonly added: readonly string[]
  readonly gone: readonly string[]
}

type Row = Readonly<Record<string, unknown>>

function keyOfRow(row: Row): ObjectKey {
  return parseKeyText(
    `${String(row['api_group'])}/${String(row['kind'])}/${String(row['namespace'])}/${String(row['name'])}`,
  )
}

function timerOfRow(row: Row): DueTimer {
  return { key: keyOfRow(row), dueAtMs: Number(row['next_run_at_ms']) }
}
