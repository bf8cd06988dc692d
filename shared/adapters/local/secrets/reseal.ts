import { objectText } from '../../../model/object-text.ts'
import type { ApiObject } from '../../../model/object.ts'
import { readRow, sumUp, type SummedRow } from '../sqlite/sqlite-rows.ts'
import type { SqliteDatabase } from '../sqlite/sqlite-database.ts'
import { isOfOnePlace } from '../sqlite/sqlite-errors.ts'
import { isSealed, startOfSealed, type Sealing } from './sealing.ts'

const rowsPerCommit = 200
const ofSecrets = "kind = (SELECT id FROM kinds WHERE api_group = '' AND kind = 'Secret')"

/** How many states there were of each. */
export interface Resealed {
  readonly changed: number
  /** They are damaged, or no key opens them: they stay as they are. */
  readonly left: number
}

/**
 * Seals what is stored in clear or with another key, in every state of every Secret, old ones too. Then makes the file
 * anew and empties the write-ahead log, so that nothing of before can be read in either: freed pages may hold what was
 * deleted, or what one that was cut off has sealed. A damaged state stays as it is: sealed anew it would
 * have a right sum.
 */
export function reseal(database: Pick<SqliteDatabase, 'prepare'>, sealing: Sealing): Resealed {
  const next = database.prepare(`
    SELECT rv, engine, doc, sum FROM changes WHERE rv > ? AND ${ofSecrets} ORDER BY rv LIMIT ${rowsPerCommit}`)
  const update = database.prepare('UPDATE changes SET doc = ?, sum = ? WHERE rv = ?')
  const run = (sql: string): unknown => database.prepare(sql).all()
  run('PRAGMA secure_delete = ON')
  let [changed, left] = [0, 0]
  for (let after = 0; ;) {
    const rows = next.all(after) as unknown as readonly StateRow[]
    run('BEGIN IMMEDIATE')
    for (const row of rows) {
      const object = readRow(row)?.object
      if (object !== undefined && isSealed(object, sealing.keyId)) continue
      const doc = object && sealedAnew(object, sealing)
      if (doc === undefined) left++
      else {
        update.run(doc, sumUp({ engine: row.engine, doc }), row.rv)
        changed++
      }
    }
    run('COMMIT')
    const last = rows.at(-1)
    if (last === undefined) break
    after = last.rv
  }
  for (const sql of ['VACUUM', 'PRAGMA wal_checkpoint(TRUNCATE)', 'PRAGMA secure_delete = OFF']) run(sql)
  return { changed, left }
}

interface StateRow extends SummedRow {
  readonly rv: number
}

function sealedAnew(object: ApiObject, sealing: Sealing): string | undefined {
  const opened = sealing.open(object)
  return opened && objectText(sealing.seal(opened))
}

/** Whether a state is sealed with this key, as one that was left may be. What cannot be read may be so. */
export function isKeyNeeded(database: Pick<SqliteDatabase, 'prepare'>, keyId: string): boolean {
  const sealedWith = database.prepare(`SELECT 1 FROM changes WHERE ${ofSecrets} AND instr(doc, ?) > 0 LIMIT 1`)
  try {
    return sealedWith.get(startOfSealed(keyId)) !== undefined
  } catch (error) {
    if (isOfOnePlace(error)) return true
    throw error
  }
}
