import { OperatingError } from '../../model/errors.ts'
import { keyText, type ObjectKey } from '../../model/object-key.ts'
import type { ApiObject } from '../../model/object.ts'
import type { StoredObject } from '../../model/stored-object.ts'
import { wheelSlot } from '../../model/wheel.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { storedOf, type ObjectColumns, type ObjectRow } from './sqlite-rows.ts'

interface CurrentRow {
  readonly id: number
  readonly owners: string | null
}

interface NewRow {
  readonly kindId: number
  readonly key: ObjectKey
  readonly rv: number
  readonly uid: string
}

/** The rows of objects: one by one, by name or by number. Whoever changes one is inside a write. */
export function createSqliteObjects(database: SqliteDatabase) {
  const select = database.prepare('SELECT engine, doc FROM objects WHERE kind = ? AND namespace = ? AND name = ?')
  const selectVersion = database.prepare(
    'SELECT id, owners FROM objects WHERE kind = ? AND namespace = ? AND name = ? AND uid = ? AND rv = ?',
  )
  const selectAny = database.prepare('SELECT uid, rv FROM objects WHERE kind = ? AND namespace = ? AND name = ?')
  const insert = database.prepare(`
    INSERT INTO objects (kind, namespace, name, uid, rv, created_rv, slot, next_run_at_ms, owners, engine, doc)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`)
  const update = database.prepare('UPDATE objects SET rv = ?, next_run_at_ms = ?, engine = ?, doc = ? WHERE id = ?')
  const updateOwners = database.prepare('UPDATE objects SET owners = ? WHERE id = ?')
  const remove = database.prepare('DELETE FROM objects WHERE id = ?')
  const forgetReferences = database.prepare('DELETE FROM refs WHERE referrer_id = ?')
  const insertOwner = database.prepare('INSERT OR IGNORE INTO owners (owner_uid, object_id) VALUES (?, ?)')
  const deleteOwner = database.prepare('DELETE FROM owners WHERE owner_uid = ? AND object_id = ?')

  const setOwners = (id: number, before: string | null, after: string | null): void => {
    for (const uid of uidsOf(before)) deleteOwner.run(uid, id)
    for (const uid of uidsOf(after)) insertOwner.run(uid, id)
  }

  return {
    get: (kindId: number, { namespace, name }: ObjectKey): StoredObject | undefined => {
      const row = select.get(kindId, namespace, name) as unknown as ObjectRow | undefined
      return row === undefined ? undefined : storedOf(row)
    },

    /** The row that a write means. Throws NOT_FOUND, VERSION_CONFLICT. */
    current: (kindId: number, key: ObjectKey, { object }: StoredObject): CurrentRow => {
      const { uid, resourceVersion } = object.metadata
      const row = selectVersion.get(kindId, key.namespace, key.name, uid, Number(resourceVersion))
      if (row === undefined) throw refusal(key, object, selectAny.get(kindId, key.namespace, key.name))
      return row as unknown as CurrentRow
    },

    /** Throws ALREADY_EXISTS. */
    insert: ({ kindId, key, rv, uid }: NewRow, { nextRunAtMs, owners, engine, doc }: ObjectColumns): number => {
      const done = insert.run(
        kindId,
        key.namespace,
        key.name,
        uid,
        rv,
        rv,
        wheelSlot(uid),
        nextRunAtMs,
        owners,
        engine,
        doc,
      )
      if (done.changes === 0) throw new OperatingError('ALREADY_EXISTS', `${keyText(key)} exists already`)
      const id = Number(done.lastInsertRowid)
      setOwners(id, null, owners)
      return id
    },

    update: (before: CurrentRow, rv: number, { nextRunAtMs, owners, engine, doc }: ObjectColumns): void => {
      update.run(rv, nextRunAtMs, engine, doc, before.id)
      if (owners === before.owners) return
      updateOwners.run(owners, before.id)
      setOwners(before.id, before.owners, owners)
    },

    delete: ({ id, owners }: CurrentRow): void => {
      remove.run(id)
      forgetReferences.run(id)
      setOwners(id, owners, null)
    },
  }
}

function uidsOf(owners: string | null): readonly string[] {
  return owners === null ? [] : (JSON.parse(owners) as string[])
}

/** Why a write finds nothing to write on. */
function refusal(key: ObjectKey, { metadata }: ApiObject, there: Record<string, unknown> | undefined): OperatingError {
  if (there === undefined) return notFound(key)
  const difference =
    there['uid'] === metadata.uid
      ? `at ${String(there['rv'])}, not at ${metadata.resourceVersion}`
      : 'another object now'
  return new OperatingError('VERSION_CONFLICT', `${keyText(key)} is ${difference}`)
}

/** NOT_FOUND for this key. */
export function notFound(key: ObjectKey): OperatingError {
  return new OperatingError('NOT_FOUND', `${keyText(key)} does not exist`)
}
