import type { Checkpoint } from '../../../ports/checkpoint.ts'
import type { SqliteDatabase } from './sqlite-database.ts'

export interface SqliteCheckpointOptions {
  readonly database: SqliteDatabase
  readonly name: string
  /** Its value is a resourceVersion up to which a reader of the change feed got: what is behind it is not forgotten. */
  readonly keepsChanges?: boolean
}

/** The Checkpoint of this name in the database; saves share the commit of the turn. */
export function createSqliteCheckpoint({ database, name, keepsChanges = false }: SqliteCheckpointOptions): Checkpoint {
  const select = database.prepare('SELECT value FROM checkpoints WHERE name = ?')
  const upsert = database.prepare('INSERT OR REPLACE INTO checkpoints (name, value, keeps_changes) VALUES (?, ?, ?)')
  return {
    load: () => database.read(() => select.get(name)?.['value'] as string | undefined),
    save: async (value) => {
      await database.write(() => upsert.run(name, value, Number(keepsChanges)))
    },
  }
}
