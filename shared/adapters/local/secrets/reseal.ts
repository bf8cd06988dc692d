import { parseObjectText, objectText } from '../../../model/object-text.ts'
import { sumUp } from '../sqlite/sqlite-rows.ts'
import type { SqliteDatabase } from '../sqlite/sqlite-database.ts'
import { isSealed, type Sealing } from './sealing.ts'

const rowsPerCommit = 200

/**
 * Seals what is stored in clear or with another key, in every state of every Secret, old ones too. Then makes the file
 * anew and empties the write-ahead log, so that nothing of before can be read in either: freed pages may hold what was
 * deleted, or what one that was cut off has sealed. Returns how many states it changed; what cannot be opened stays as
 * it is.
 */
export function reseal(database: Pick<SqliteDatabase, 'prepare'>, sealing: Sealing): number {
  const next = database.prepare(`
    SELECT rv, engine, doc FROM changes WHERE rv > ? AND kind = (SELECT id FROM kinds WHERE api_group = '' AND kind = 'Secret')
    ORDER BY rv LIMIT ${rowsPerCommit}`)
  const update = database.prepare('UPDATE changes SET doc = ?, sum = ? WHERE rv = ?')
  const run = (sql: string): unknown => database.prepare(sql).all()
  run('PRAGMA secure_delete = ON')
  let changed = 0
  for (let after = 0; ;) {
    const rows = next.all(after) as unknown as readonly StateRow[]
    run('BEGIN IMMEDIATE')
    for (const row of rows) {
      const doc = sealedAnew(row, sealing)
      if (doc === undefined) continue
      update.run(doc, sumUp({ engine: row.engine, doc }), row.rv)
      changed++
    }
    run('COMMIT')
    const last = rows.at(-1)
    if (last === undefined) break
    after = last.rv
  }
  for (const sql of ['VACUUM', 'PRAGMA wal_checkpoint(TRUNCATE)', 'PRAGMA secure_delete = OFF']) run(sql)
  return changed
}

interface StateRow {
  readonly rv: number
  readonly engine: string | null
  readonly doc: string
}

function sealedAnew({ doc }: StateRow, sealing: Sealing): string | undefined {
  const object = attempt(() => parseObjectText(doc))
  if (object === undefined || isSealed(object, sealing.keyId)) return undefined
  const opened = sealing.open(object)
  return opened && objectText(sealing.seal(opened))
}

function attempt<Result>(work: () => Result): Result | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
