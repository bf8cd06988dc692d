import type { SqliteDatabase } from '../../../shared/adapters/local/sqlite/sqlite-database.ts'
import { OperatingError } from '../../../shared/model/errors.ts'

/**
 * A database of which some commits fail, after all of their writes were made: a write is added that SQLite refuses only
 * in its COMMIT. Whoever shares that commit is told what a full disk tells.
 */
export function withFailingCommits(database: SqliteDatabase, fails: () => boolean): SqliteDatabase {
  database.prepare('CREATE TEMP TABLE parents (id INTEGER PRIMARY KEY)').run()
  database
    .prepare('CREATE TEMP TABLE children (parent INTEGER REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED)')
    .run()
  const spoil = database.prepare('INSERT INTO children VALUES (1)')
  return {
    ...database,
    write: (work, onCommit) => {
      const written = database.write(work, onCommit).catch(tellAsFull)
      if (fails()) database.write(() => spoil.run()).catch(() => {})
      return written
    },
  }
}

function tellAsFull(error: unknown): never {
  if ((error as { readonly errcode?: number }).errcode !== refusedInCommit) throw error
  throw new OperatingError('UNAVAILABLE', 'the commit failed: the disk is full', { cause: error })
}

/** SQLITE_CONSTRAINT_FOREIGNKEY */
const refusedInCommit = 787
