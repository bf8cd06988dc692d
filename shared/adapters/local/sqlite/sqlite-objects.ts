import { parseJson } from '../../../model/parse-json.ts'
import type { StatementSync } from 'node:sqlite'
import { describeDamage } from '../../../model/damage.ts'
import { DamagedObjectError, OperatingError } from '../../../model/errors.ts'
import { keyText, type ObjectKey } from '../../../model/object-key.ts'
import type { ApiObject } from '../../../model/object.ts'
import type { StoredObject, Touched } from '../../../model/stored-object.ts'
import { wheelSlot } from '../../../model/wheel.ts'
import type { Quarantine } from './quarantine.ts'
import { createRecentRows, type NumberedRow, type RowPlace } from './recent-rows.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { unlessDamaged } from './sqlite-errors.ts'
import {
  columnsOf,
  isOfPlace,
  rowLengthOf,
  readableState,
  stateColumns,
  readRow,
  type ObjectRow,
  type SummedRow,
} from './sqlite-rows.ts'

/**
 * The rows of objects: one by one, by name or by number. Whoever changes one is inside a write, and says so once it is
 * committed. A state that is written carries its new resourceVersion, under which the log of changes keeps it.
 */
export class SqliteObjects {
  readonly #statements: ReturnType<typeof prepareStatements>
  readonly #quarantine: Quarantine
  readonly #recent = createRecentRows()

  constructor(database: SqliteDatabase, quarantine: Quarantine) {
    this.#statements = prepareStatements(database)
    this.#quarantine = quarantine
  }

  #read({ kindId, key }: RowPlace): NumberedRow | undefined {
    return this.#statements.select.get(kindId, key.namespace, key.name) as unknown as NumberedRow | undefined
  }

  #readState({ kindId, key }: RowPlace): (NumberedRow & SummedRow) | undefined {
    return unlessDamaged(() => this.#statements.selectState.get(kindId, key.namespace, key.name)) as unknown as
      | (NumberedRow & SummedRow)
      | undefined
  }

  /** What is there is not as it was written. */
  #damaged({ key }: RowPlace, { uid, rv }: NumberedRow): DamagedObjectError {
    this.#quarantine.note(key)
    return new DamagedObjectError(describeDamage(key, 'the database'), { uid, resourceVersion: String(rv) })
  }

  #note(place: RowPlace, row: NumberedRow & ObjectRow, stored: StoredObject): StoredObject {
    const { id, uid, rv, owners } = row
    this.#recent.note(place, { id, uid, rv, owners, stored, length: rowLengthOf(row) })
    return stored
  }

  #setOwners(id: number, before: string | null, after: string | null): void {
    if (before === after) return
    for (const uid of uidsOf(before)) this.#statements.deleteOwner.run(uid, id)
    for (const uid of uidsOf(after)) this.#statements.insertOwner.run(uid, id)
  }

  /**
   * The row that a write means. An earlier write of the same commit may have been ahead of what is remembered of it.
   */
  #current(place: RowPlace, before: ApiObject): NumberedRow & { readonly stored?: StoredObject } {
    const remembered = this.#recent.find(place)
    if (remembered !== undefined && isOf(remembered, before)) return remembered
    const row = this.#read(place)
    if (row !== undefined && isOf(row, before)) return row
    throw refusal(place.key, before, row)
  }

  get(place: RowPlace): StoredObject | undefined {
    const remembered = this.#recent.find(place)
    if (remembered !== undefined) return remembered.stored
    const row = this.#readState(place)
    if (row === undefined) {
      // Its state may be gone alone, or its page.
      const left = this.#read(place)
      if (left !== undefined) throw this.#damaged(place, left)
      return undefined
    }
    const stored = readRow(row)
    if (stored === undefined || !isOfPlace(stored, { ...place.key, uid: row.uid })) throw this.#damaged(place, row)
    return this.#note(place, row, stored)
  }

  /** Throws ALREADY_EXISTS. */
  insert({ kindId, key }: RowPlace, stored: StoredObject): WrittenRow {
    const { namespace, name } = key
    const { uid, resourceVersion } = stored.object.metadata
    const rv = Number(resourceVersion)
    const { nextRunAtMs, owners, engine, doc } = columnsOf(stored, ['spec'])
    const done = this.#statements.insert.run(kindId, namespace, name, uid, wheelSlot(uid), owners)
    if (done.changes === 0) throw new OperatingError('ALREADY_EXISTS', `${keyText(key)} exists already`)
    const id = Number(done.lastInsertRowid)
    this.#statements.insertHead.run(id, kindId, rv, nextRunAtMs)
    this.#setOwners(id, null, owners)
    return { id, uid, rv, owners, engine, doc }
  }

  /** Throws NOT_FOUND, VERSION_CONFLICT. */
  update(place: RowPlace, before: ApiObject, { stored, touched }: RowChange): WrittenRow {
    const rv = Number(stored.object.metadata.resourceVersion)
    const { nextRunAtMs, owners, engine, doc } = columnsOf(stored, touched)
    const row = this.#current(place, before)
    const { changes } = this.#statements.updateHead.run(rv, nextRunAtMs, row.id, row.rv)
    if (changes === 0) throw refusal(place.key, before, this.#read(place))
    if (owners !== row.owners) this.#statements.updateOwners.run(owners, row.id)
    this.#setOwners(row.id, row.owners, owners)
    return { id: row.id, uid: row.uid, rv, owners, engine, doc, supersedes: row.rv, before: row.stored }
  }

  /**
   * Throws NOT_FOUND, VERSION_CONFLICT. Returns the row of the last state, which carries the number of the removal.
   */
  delete(place: RowPlace, before: ApiObject, stored: StoredObject): WrittenRow {
    const row = this.#current(place, before)
    if (this.#statements.removeHead.run(row.id, row.rv).changes === 0)
      throw refusal(place.key, before, this.#read(place))
    this.#statements.remove.run(row.id)
    this.#statements.forgetReferences.run(row.id)
    this.#setOwners(row.id, row.owners, null)
    const rv = Number(stored.object.metadata.resourceVersion)
    return { ...row, ...stateColumns(stored), rv, supersedes: row.rv }
  }

  /** What a write of this row gave back is committed. */
  written(place: RowPlace, row: WrittenRow, stored: StoredObject): void {
    this.#note(place, row, readableState(stored, row, row.before))
    this.#quarantine.release(place.key)
  }

  /** The row is gone, and that is committed. */
  removed(place: RowPlace): void {
    this.#recent.forget(place)
    this.#quarantine.release(place.key)
  }
}

function prepareStatements(database: SqliteDatabase) {
  return {
    select: selectRow(database, 'o.id, o.uid, o.owners, h.rv'),
    selectState: selectRow(
      database,
      'o.id, o.uid, o.owners, h.rv, c.engine, c.doc, c.sum',
      'JOIN changes c ON c.rv = h.rv',
    ),
    insert: database.prepare(`
    INSERT INTO objects (kind, namespace, name, uid, slot, owners) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`),
    insertHead: database.prepare('INSERT INTO heads (id, kind, rv, next_run_at_ms) VALUES (?, ?, ?, ?)'),
    updateHead: database.prepare('UPDATE heads SET rv = ?, next_run_at_ms = ? WHERE id = ? AND rv = ?'),
    updateOwners: database.prepare('UPDATE objects SET owners = ? WHERE id = ?'),
    removeHead: database.prepare('DELETE FROM heads WHERE id = ? AND rv = ?'),
    remove: database.prepare('DELETE FROM objects WHERE id = ?'),
    forgetReferences: database.prepare('DELETE FROM refs WHERE referrer_id = ?'),
    insertOwner: database.prepare('INSERT OR IGNORE INTO owners (owner_uid, object_id) VALUES (?, ?)'),
    deleteOwner: database.prepare('DELETE FROM owners WHERE owner_uid = ? AND object_id = ?'),
  }
}

function selectRow(database: SqliteDatabase, columns: string, withState = ''): StatementSync {
  return database.prepare(`
    SELECT ${columns} FROM objects o JOIN heads h ON h.id = o.id ${withState}
    WHERE o.kind = ? AND o.namespace = ? AND o.name = ?`)
}

/** A row as a write leaves it; its state is written by the log of changes. */
export interface WrittenRow extends NumberedRow, ObjectRow {
  /** The resourceVersion of the state before. */
  readonly supersedes?: number
  /** The state before, as it was read, if that is at hand. */
  readonly before?: StoredObject | undefined
}

interface RowChange {
  readonly stored: StoredObject
  readonly touched: Touched
}

/** Whether a row is in the version that an object was read in. */
function isOf({ uid, rv }: NumberedRow, { metadata }: ApiObject): boolean {
  return uid === metadata.uid && String(rv) === metadata.resourceVersion
}

function uidsOf(owners: string | null): readonly string[] {
  return owners === null ? [] : (parseJson(owners) as string[])
}

/** Why a write finds nothing to write on. */
function refusal(key: ObjectKey, { metadata }: ApiObject, there: NumberedRow | undefined): OperatingError {
  if (there === undefined) return keyNotFound(key)
  const difference =
    there.uid === metadata.uid ? `at ${there.rv}, not at ${metadata.resourceVersion}` : 'another object now'
  return new OperatingError('VERSION_CONFLICT', `${keyText(key)} is ${difference}`)
}

/** NOT_FOUND for this key. */
export function keyNotFound(key: ObjectKey): OperatingError {
  return new OperatingError('NOT_FOUND', `${keyText(key)} does not exist`)
}
