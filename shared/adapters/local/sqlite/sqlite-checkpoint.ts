import { crc32 } from 'node:zlib'
import type { Checkpoint } from '../../../ports/checkpoint.ts'
import type { SqliteDatabase } from './sqlite-database.ts'

export interface SqliteCheckpointOptions {
  readonly database: SqliteDatabase
  readonly name: string
  /** Its value is a resourceVersion up to which a reader of the change feed got: what is behind it is not forgotten. */
  readonly keepsChanges?: boolean
}

/** A row of the table of checkpoints. */
export interface CheckpointRow {
  readonly name: string
  readonly value: string
  readonly keeps_changes: number
  /** Null in what an earlier version wrote. */
  readonly sum: number | null
}

export function isWholeCheckpoint(row: CheckpointRow): boolean {
  return row.sum === null || row.sum === sumOf(row)
}

function sumOf({ name, value, keeps_changes: keeps }: Omit<CheckpointRow, 'sum'>): number {
  return crc32(`${name} ${keeps} ${value}`)
}

/**
 * The Checkpoint of this name in the database; saves share the commit of the turn. One that is damaged is as one that
 * was never saved: its reader begins anew.
 */
export function createSqliteCheckpoint({ database, name, keepsChanges = false }: SqliteCheckpointOptions): Checkpoint {
  const select = database.prepare('SELECT name, value, keeps_changes, sum FROM checkpoints WHERE name = ?')
  const upsert = database.prepare(
    'INSERT OR REPLACE INTO checkpoints (name, value, keeps_changes, sum) VALUES (?, ?, ?, ?)',
  )
  const find = (): string | undefined => {
    const row = select.get(name) as unknown as CheckpointRow | undefined
    return row !== undefined && isWholeCheckpoint(row) ? row.value : undefined
  }
  return {
    load: () => database.read(find),
    save: async (value) => {
      const sum = sumOf({ name, value, keeps_changes: Number(keepsChanges) })
      await database.write(() => upsert.run(name, value, Number(keepsChanges), sum))
    },
  }
}
