import { parseJson } from '../../../model/parse-json.ts'
import { crc32 } from 'node:zlib'
import { isJson } from '../../../model/json.ts'
import { objectText, parseObjectText } from '../../../model/object-text.ts'
import { bytesMax, checkSize } from '../../../model/size-limit.ts'
import { dueAtMs, type EngineState } from '../../../model/engine-state.ts'
import type { StoredObject, Touched } from '../../../model/stored-object.ts'

/** The columns that hold an object's state. */
export interface ObjectRow {
  readonly engine: string | null
  readonly doc: string
}

/** A state as it is read: with what its text summed up to when it was written, if that was noted then. */
export interface SummedRow extends ObjectRow {
  readonly sum: number | null
}

/** What of a state stands in columns of its own, by which objects are found. */
export interface IndexedColumns {
  readonly nextRunAtMs: number | null
  /** The owners' uids, a JSON array in order, or null if it has none. */
  readonly owners: string | null
}

/** What the columns of an object say besides its place and its numbers. */
export type ObjectColumns = ObjectRow & IndexedColumns

/** Throws TOO_LARGE. */
export function columnsOf(stored: StoredObject, touched: Touched): ObjectColumns {
  const { object } = stored
  const state = stateColumns(stored)
  // A character is three bytes at the most, and to count them takes longer than it is worth.
  if (rowLengthOf(state) * 3 > bytesMax)
    checkSize(object, { object: Buffer.byteLength(state.doc), engine: Buffer.byteLength(state.engine ?? '') }, touched)
  return { ...state, ...indexedOf(stored) }
}

export function indexedOf({ object, engine }: StoredObject): IndexedColumns {
  const owners = [...new Set(object.metadata.ownerReferences?.map((owner) => owner.uid))]
  return {
    nextRunAtMs: dueAtMs(engine) ?? null,
    owners: owners.length === 0 ? null : JSON.stringify(owners.toSorted()),
  }
}

/** The state in its columns. */
export function stateColumns({ object, engine }: StoredObject): ObjectRow {
  const state = JSON.stringify(engine)
  return { doc: objectText(object), engine: state === '{}' ? null : state }
}

/** Whether a state is of the object that it was found under. Another says that an index or a number is damaged. */
export function isOfPlace({ object: { metadata } }: StoredObject, { namespace, name, uid }: StatePlace): boolean {
  return metadata.uid === uid && metadata.name === name && (metadata.namespace ?? '') === namespace
}

export interface StatePlace {
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

/** In characters. */
export function rowLengthOf({ doc, engine }: ObjectRow): number {
  return doc.length + (engine?.length ?? 0)
}

/** Finds what came of a disk or a cable, and no forgery: half a microsecond for a kilobyte. */
export function sumUp({ engine, doc }: ObjectRow): number {
  return crc32(engine ?? '', crc32(doc))
}

/** Undefined if the row is damaged. */
export function readRow(row: SummedRow): StoredObject | undefined {
  if (row.sum !== null && row.sum !== sumUp(row)) return undefined
  try {
    return parseRow(row)
  } catch {
    return undefined
  }
}

function parseRow({ engine, doc }: ObjectRow): StoredObject {
  return { object: parseObjectText(doc), engine: engine === null ? atRest : (parseJson(engine) as EngineState) }
}

const atRest: EngineState = {}

/**
 * The state that was written as these columns, as a reader of them gets it: parsed anew only if it holds what JSON does
 * not. `before` was read: the parts that it has too are not looked at.
 */
export function readableState(stored: StoredObject, row: ObjectRow, before?: StoredObject): StoredObject {
  return isReadable(stored, before) ? stored : parseRow(row)
}

function isReadable({ object, engine }: StoredObject, before: StoredObject | undefined): boolean {
  if (!isJson(engine) || !isJson(object.metadata)) return false
  for (const field in object) {
    if (field === 'metadata') continue
    const part = object[field]
    const isKnown = part !== undefined && part === before?.object[field]
    if (!isKnown && !isJson(part)) return false
  }
  return true
}
