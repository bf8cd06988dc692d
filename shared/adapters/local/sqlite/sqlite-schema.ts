import { DatabaseSync } from 'node:sqlite'
import { OperatingError } from '../../../model/errors.ts'

/** Marks a file as ours in its header, so that another program's database is refused instead of written into. */
export const applicationId = 0x5e7901
const schemaVersion = 5

/**
 * A state is written once, into the log of changes, which is keyed by resourceVersion and only ever appended to. An
 * object points at the row of its present state. What an ordinary write changes of the object itself is a narrow row of
 * its own. Why so, with figures: docs/decisions/0003-sqlite-layout.md
 */
const objectTables = `
  CREATE TABLE objects (
    id INTEGER PRIMARY KEY,
    kind INTEGER NOT NULL,
    namespace TEXT NOT NULL,
    name TEXT NOT NULL,
    uid TEXT NOT NULL,
    slot INTEGER NOT NULL,
    owners TEXT
  ) STRICT;
  CREATE UNIQUE INDEX objects_by_name ON objects (kind, namespace, name);
  CREATE INDEX objects_by_slot ON objects (kind, slot);

  CREATE TABLE heads (
    id INTEGER PRIMARY KEY,
    kind INTEGER NOT NULL,
    rv INTEGER NOT NULL,
    next_run_at_ms INTEGER
  ) STRICT;
  CREATE INDEX heads_by_next_run ON heads (kind, next_run_at_ms) WHERE next_run_at_ms IS NOT NULL;

  CREATE TABLE changes (
    rv INTEGER PRIMARY KEY,
    object_id INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    supersedes INTEGER,
    written INTEGER NOT NULL,
    type TEXT NOT NULL,
    touched TEXT NOT NULL,
    engine TEXT,
    doc TEXT NOT NULL,
    sum INTEGER
  ) STRICT;
`

/** Which database this is, and how often it was opened: one row from the first guarded start on. */
const identityTable = `
  CREATE TABLE identity (database TEXT NOT NULL, starts INTEGER NOT NULL, held INTEGER NOT NULL, key_id TEXT) STRICT;
`

/** Its checkpoints had no checksums: what is written from then on has. */
const fromLayout4 = 'ALTER TABLE checkpoints ADD COLUMN sum INTEGER;'

/** The same of its log. */
const fromLayout3 = `ALTER TABLE changes ADD COLUMN sum INTEGER; ${identityTable} ${fromLayout4}`

const schema = `
  CREATE TABLE kinds (id INTEGER PRIMARY KEY, api_group TEXT NOT NULL, kind TEXT NOT NULL, UNIQUE (api_group, kind)) STRICT;

  CREATE TABLE owners (owner_uid TEXT, object_id INTEGER, PRIMARY KEY (owner_uid, object_id)) STRICT, WITHOUT ROWID;

  CREATE TABLE refs (target TEXT, referrer_id INTEGER, PRIMARY KEY (target, referrer_id)) STRICT, WITHOUT ROWID;
  CREATE INDEX refs_by_referrer ON refs (referrer_id);

  CREATE TABLE horizon (rv INTEGER NOT NULL) STRICT;
  INSERT INTO horizon VALUES (0);
  CREATE TABLE checkpoints (name TEXT PRIMARY KEY, value TEXT NOT NULL, keeps_changes INTEGER NOT NULL, sum INTEGER) STRICT, WITHOUT ROWID;
  ${objectTables}
  ${identityTable}
`

/**
 * Its engine states were flat. The timer stays, what was done once and noted stays; a wait begins anew with the next
 * run.
 */
const engineOfLayout2 = `nullif(json_patch('{}', json_object(
    'wakeAtMs', next_run_at_ms,
    'change', json(json_extract(coalesce(engine, '{}'), '$.change')),
    'memory', json_patch('{}', json_object(
      'once', json(json_extract(coalesce(engine, '{}'), '$.once')),
      'notes', json(json_extract(coalesce(engine, '{}'), '$.notes')),
      'expectations', json(json_extract(coalesce(engine, '{}'), '$.expectations'))))
  )), '{"memory":{}}')`

/**
 * Layout 2 kept the states in the objects. What its log says cannot be told with the states of then, so it is
 * forgotten.
 */
const fromLayout2 = `
  UPDATE horizon SET rv = max(rv, coalesce((SELECT max(rv) FROM changes), 0));
  DROP TABLE changes;
  DROP INDEX objects_by_name;
  DROP INDEX objects_by_slot;
  DROP INDEX objects_by_next_run;
  ALTER TABLE objects RENAME TO old_objects;
  ${objectTables}
  INSERT INTO objects SELECT id, kind, namespace, name, uid, slot, owners FROM old_objects;
  INSERT INTO heads SELECT id, kind, rv, next_run_at_ms FROM old_objects;
  INSERT INTO changes SELECT rv, id, kind, 0, NULL, 0, 'modified', 'engine', ${engineOfLayout2}, doc, NULL FROM old_objects;
  DROP TABLE old_objects;
  ${identityTable}
  ${fromLayout4}
`

/** By the layout: what makes this one of it. */
const earlier: ReadonlyMap<number, string> = new Map([
  [2, fromLayout2],
  [3, fromLayout3],
  [4, fromLayout4],
])

/**
 * Makes a new database ours, and brings one of ours to this layout. Throws UNAVAILABLE for another program's or a newer
 * version's.
 */
export function prepareSchema(connection: DatabaseSync, file: string): void {
  if (isNew(connection)) return execute(connection, `${schema} PRAGMA application_id = ${applicationId};`)
  refuseStrange(connection, file)
  const statements = earlier.get(layoutOf(connection))
  if (statements !== undefined) execute(connection, statements)
}

/** The same refusal, of a look that changes nothing. */
export function refuseStrange(connection: DatabaseSync, file: string): void {
  if (isNew(connection)) return
  if (pragma(connection, 'application_id') !== applicationId) {
    const isOurs = connection.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'objects_by_name'").get() !== undefined
    const why = isOurs ? 'is damaged in its head: put back a copy of it, or' : "is another program's database:"
    throw new OperatingError('UNAVAILABLE', `${file} ${why} choose another file`)
  }
  const version = layoutOf(connection)
  if (earlier.has(version) || version === schemaVersion) return
  const advice = version > schemaVersion ? 'start a newer version' : 'choose another file'
  throw new OperatingError('UNAVAILABLE', `${file} has ${strangeLayout(version)}: ${advice}`)
}

function isNew(connection: DatabaseSync): boolean {
  const tables = connection.prepare('SELECT count(*) AS count FROM sqlite_schema').get()?.['count']
  return layoutOf(connection) === 0 && tables === 0
}

function layoutOf(connection: DatabaseSync): number {
  return Number(pragma(connection, 'user_version'))
}

function strangeLayout(version: number): string {
  return `layout ${version}, this version knows layout ${schemaVersion}`
}

/** What a database of ours has instead of the tables of this version, and whether a start makes them of it. */
export function findOtherLayout(
  connection: DatabaseSync,
): { readonly says: string; readonly isEarlier: boolean } | undefined {
  const version = layoutOf(connection)
  if (version === schemaVersion || pragma(connection, 'application_id') !== applicationId) return undefined
  return earlier.has(version)
    ? { says: `layout ${version}, of an earlier version: start once, and check again`, isEarlier: true }
    : { says: strangeLayout(version), isEarlier: false }
}

/** Whether the tables and their indexes have the columns that we gave them, by what the file itself says of them. */
export function hasOurColumns(connection: DatabaseSync): boolean {
  return columnsIn(connection) === (ourColumns ??= columnsOfNew())
}

let ourColumns: string | undefined

function columnsOfNew(): string {
  using fresh = new DatabaseSync(':memory:')
  execute(fresh, schema)
  return columnsIn(fresh)
}

function columnsIn(connection: DatabaseSync): string {
  const ofTables = `SELECT t.name, c.cid, c.name AS has, c.type, c."notnull", c.pk FROM sqlite_schema t, pragma_table_info(t.name) c`
  const ofIndexes = `SELECT i.name, c.seqno, c.cid, c.name AS has FROM sqlite_schema i, pragma_index_info(i.name) c WHERE i.type = 'index'`
  const rows = [ofTables, ofIndexes].map((sql) => connection.prepare(`${sql} ORDER BY 1, 2`).all())
  return JSON.stringify(rows)
}

function execute(connection: DatabaseSync, statements: string): void {
  connection.exec(`BEGIN; ${statements} PRAGMA user_version = ${schemaVersion}; COMMIT`)
}

function pragma(connection: DatabaseSync, name: string): unknown {
  return connection.prepare(`PRAGMA ${name}`).get()?.[name]
}
