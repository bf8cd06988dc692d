import { OperatingError } from '../../model/errors.ts'
import type { ApiObject } from '../../model/object.ts'
import { objectText, parseObjectText } from '../../model/object-text.ts'
import { dueAtMs, type EngineState, type StoredObject } from '../../model/stored-object.ts'

/** The columns that hold an object's state. */
export interface ObjectRow {
  readonly engine: string | null
  readonly doc: string
}

/** What the columns of an object say besides its place and its numbers. */
export interface ObjectColumns {
  readonly doc: string
  readonly engine: string | null
  readonly nextRunAtMs: number | null
  /** The owners' uids, a JSON array in order, or null if it has none. */
  readonly owners: string | null
}

const bytesMax = 350 * 1024

/** Throws TOO_LARGE above 350 KiB. */
export function columnsOf({ object, engine }: StoredObject): ObjectColumns {
  const doc = objectText(object)
  const state = JSON.stringify(engine)
  checkSize(doc, state, object)
  const owners = object.metadata.ownerReferences?.map((owner) => owner.uid) ?? []
  return {
    doc,
    engine: state === '{}' ? null : state,
    nextRunAtMs: dueAtMs(engine) ?? null,
    owners: owners.length === 0 ? null : JSON.stringify(owners.toSorted()),
  }
}

/** Throws UNAVAILABLE if the row is damaged. */
export function storedOf({ engine, doc }: ObjectRow): StoredObject {
  try {
    return { object: parseObjectText(doc), engine: engine === null ? atRest : (JSON.parse(engine) as EngineState) }
  } catch {
    // What the parser says would quote it.
    throw new OperatingError('UNAVAILABLE', damaged)
  }
}

const damaged = 'the database is damaged: an object in it cannot be read; put back a copy of the file'

const atRest: EngineState = {}

export function withVersion({ object, engine }: StoredObject, rv: number): StoredObject {
  return { object: { ...object, metadata: { ...object.metadata, resourceVersion: String(rv) } }, engine }
}

function checkSize(doc: string, engine: string, { kind, metadata }: ApiObject): void {
  if ((doc.length + engine.length) * 3 <= bytesMax) return
  const bytes = Buffer.byteLength(doc) + Buffer.byteLength(engine)
  if (bytes <= bytesMax) return
  throw new OperatingError('TOO_LARGE', `${kind} ${metadata.name} would take ${bytes} bytes, the limit is ${bytesMax}`)
}
