import type { DatabaseSync } from 'node:sqlite'
import { OperatingError } from '../../../model/errors.ts'

/** Marks a file as ours in its header, so that another program's database is refused instead of written into. */
const applicationId = 0x5e7901
const schemaVersion = 2

/**
 * Objects are addressed by a small integer and updated in place; no index holds a column that an ordinary write changes.
 * What changed is told by a table of its own that is only ever appended to and trimmed at its head.
 * Why so, with figures: docs/decisions/0003-sqlite-layout.md
 */
const schema = `
  CREATE TABLE kinds (id INTEGER PRIMARY KEY, api_group TEXT NOT NULL, kind TEXT NOT NULL, UNIQUE (api_group, kind)) STRICT;

  CREATE TABLE objects (
    id INTEGER PRIMARY KEY,
    kind INTEGER NOT NULL,
    namespace TEXT NOT NULL,
    name TEXT NOT NULL,
    uid TEXT NOT NULL,
    rv INTEGER NOT NULL,
    created_rv INTEGER NOT NULL,
    slot INTEGER NOT NULL,
    next_run_at_ms INTEGER,
    owners TEXT,
    engine TEXT,
    doc TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX objects_by_name ON objects (kind, namespace, name);
  CREATE INDEX objects_by_slot ON objects (kind, slot);
  CREATE INDEX objects_by_next_run ON objects (kind, next_run_at_ms) WHERE next_run_at_ms IS NOT NULL;

  CREATE TABLE owners (owner_uid TEXT, object_id INTEGER, PRIMARY KEY (owner_uid, object_id)) STRICT, WITHOUT ROWID;

  CREATE TABLE refs (target TEXT, referrer_id INTEGER, PRIMARY KEY (target, referrer_id)) STRICT, WITHOUT ROWID;
  CREATE INDEX refs_by_referrer ON refs (referrer_id);

  CREATE TABLE changes (
    rv INTEGER PRIMARY KEY,
    object_id INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    touched TEXT NOT NULL,
    removed TEXT
  ) STRICT;
  CREATE TABLE horizon (rv INTEGER NOT NULL) STRICT;
  INSERT INTO horizon VALUES (0);
  CREATE TABLE checkpoints (name TEXT PRIMARY KEY, value TEXT NOT NULL, keeps_changes INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`

/** Makes a new database ours, and accepts one of ours. Throws UNAVAILABLE for another program's or a newer version's. */
export function prepareSchema(connection: DatabaseSync, file: string): void {
  const version = Number(pragma(connection, 'user_version'))
  const tables = connection.prepare('SELECT count(*) AS count FROM sqlite_schema').get()?.['count']
  if (version === 0 && tables === 0) return create(connection)
  if (pragma(connection, 'application_id') !== applicationId) {
    throw new OperatingError('UNAVAILABLE', `${file} is another program's database: choose another file`)
  }
  if (version !== schemaVersion) {
    throw new OperatingError(
      'UNAVAILABLE',
      `${file} has layout ${version}, this version knows layout ${schemaVersion}: ${version > schemaVersion ? 'start a newer version' : 'choose another file'}`,
    )
  }
}

function create(connection: DatabaseSync): void {
  connection.exec(
    `BEGIN; ${schema} PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${schemaVersion}; COMMIT`,
  )
}

function pragma(connection: DatabaseSync, name: string): unknown {
  return connection.prepare(`PRAGMA ${name}`).get()?.[name]
}
