import { parseJson } from '../../../model/parse-json.ts'
import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { describeDamage } from '../../../model/damage.ts'
import { DamagedObjectError, hasCode } from '../../../model/errors.ts'
import { isObject, textOf } from '../../../model/json.ts'
import { keyOf } from '../../../model/object-key.ts'
import type { ApiObject } from '../../../model/object.ts'
import { objectText, parseObjectText } from '../../../model/object-text.ts'
import { dueAtMs, nettedMs, type EngineState } from '../../../model/engine-state.ts'
import type { Part, StoredObject, Touched } from '../../../model/stored-object.ts'
import { wheelSlot } from '../../../model/wheel.ts'
import type { Clock } from '../../../ports/clock.ts'
import { packTexts, unpackTexts, type PackedTexts } from './dynamodb-packing.ts'
import { objectItemKey, objectKeyOf, type Item } from './dynamodb-keys.ts'
import type { FeedEntry } from './dynamodb-recordings.ts'

/** resourceVersions are microseconds since the epoch. */
export function versionAt(ms: number): number {
  return Math.floor(ms * 1_000)
}

/** As long as tombstones are kept for sure: nobody follows, or lists on, from further back. */
export const reachMs = 3_600_000

/** Of an object that was last written in another version. Grows whatever the clock does. */
export function nextVersion(clock: Clock, previous: number): number {
  return Math.max(versionAt(clock.nowMs()), previous + 1)
}

export function versionOf({ metadata }: ApiObject): number {
  return /^\d+$/.test(metadata.resourceVersion) ? Number(metadata.resourceVersion) : 0
}

/** What a write leaves beside the state. */
export interface WriteMarks {
  /** How the one who writes it knows it again. */
  readonly token: string
  readonly entry: FeedEntry
}

/** The item of a new object. */
export function newItem(stored: StoredObject, { token, entry }: WriteMarks): Item {
  const { metadata } = stored.object
  return present({
    ...objectItemKey(keyOf(stored.object)),
    uid: { S: metadata.uid },
    rv: { N: metadata.resourceVersion },
    born: { N: metadata.resourceVersion },
    slot: { N: String(wheelSlot(metadata.uid)) },
    write: { S: token },
    touched: { S: 'spec' },
    [partAttribute('spec')]: { N: metadata.resourceVersion },
    ...stateAttributes(stored, entry),
  })
}

/** What an item says of an object's state; `undefined` for attributes that it does not have. */
interface StateAttributes extends PackedTexts {
  /** Sparse, so that an index holds only objects with a timer. */
  readonly due: AttributeValue | undefined
  /** A timer of the safety net: in the index `feed`, in place of `due`. */
  readonly net: AttributeValue | undefined
  /** Of a kind that is recorded, or with a timer of the safety net. */
  readonly feed: AttributeValue | undefined
  readonly owners: AttributeValue | undefined
}

export function stateAttributes({ object, engine }: StoredObject, entry: FeedEntry): StateAttributes {
  const state = JSON.stringify(engine)
  const net = nettedMs(engine, versionOf(object) / 1_000)
  const due = net === undefined ? dueAtMs(engine) : undefined
  const owners = ownerUidsOf(object)
  return {
    ...packTexts({ doc: objectText(object), engine: state === '{}' ? '' : state }),
    due: due === undefined ? undefined : { N: String(due) },
    net: net === undefined ? undefined : { N: String(net) },
    feed: entry.isRecorded || net !== undefined ? { S: entry.partition } : undefined,
    owners: owners.length === 0 ? undefined : { SS: [...owners] },
  }
}

/** The uids of the owners, each once. */
export function ownerUidsOf({ metadata }: ApiObject): readonly string[] {
  return [...new Set(metadata.ownerReferences?.map(({ uid }) => uid))]
}

/** When a part was last written: so that a look at the item tells all that was touched since another look. */
export function partAttribute(part: Part): string {
  return `at_${part}`
}

/** From what an object is woken by to what concerns nobody but the engine: a write is known by its first part. */
const parts = Object.keys({
  spec: true,
  delete: true,
  control: true,
  meta: true,
  labels: true,
  annotations: true,
  fields: true,
  status: true,
  references: true,
  timer: true,
  engine: true,
} satisfies Record<Part, true>) as readonly Part[]

export function formatTouched(touched: Touched): string {
  return parts.filter((part) => touched.includes(part)).join()
}

export function parseTouched(text: string): Touched {
  return text.split(',') as Part[]
}

/** The parts that were written after a version. */
export function findTouchedSince(item: Item, version: number): Touched {
  return parts.filter((part) => Number(item[partAttribute(part)]?.N ?? 0) > version)
}

/**
 * The state that an item holds: of an object that is live, removed or buried. Throws DAMAGED for what no version of
 * ours has written so, such as an item that was edited by hand.
 */
export function readItem(item: Item): StoredObject {
  const resourceVersion = item['rv']?.N ?? ''
  try {
    const { doc, engine } = unpackTexts(item)
    return { object: objectOf(doc, resourceVersion), engine: engine === '' ? atRest : engineOf(engine) }
  } catch {
    // The error of the parser may tell a part of the text, and of a Secret that is none of anybody's business.
    throw new DamagedObjectError(describeDamage(objectKeyOf(item), 'the table'), {
      uid: item['uid']?.S ?? '',
      resourceVersion,
    })
  }
}

/** The same; `undefined` if it is damaged. */
export function readItemIfWhole(item: Item): StoredObject | undefined {
  try {
    return readItem(item)
  } catch (error) {
    if (hasCode(error, 'DAMAGED')) return undefined
    throw error
  }
}

/** A write of the engine alone leaves the text as it is, with the version that it was written in. */
function objectOf(doc: string, resourceVersion: string): ApiObject {
  const object = parseObjectText(doc)
  if (!isNamed(object)) throw new SyntaxError('no object of the API')
  if (object.metadata.resourceVersion === resourceVersion) return object
  return { ...object, metadata: { ...object.metadata, resourceVersion } }
}

/** JSON of any other form is a text that somebody else wrote. */
function isNamed(object: unknown): boolean {
  if (!isObject(object) || !isObject(object['metadata'])) return false
  return [object['apiVersion'], object['kind'], object['metadata']['name']].every((part) => textOf(part) !== '')
}

function engineOf(text: string): EngineState {
  const engine = parseJson(text)
  if (!isObject(engine)) throw new SyntaxError('no state of the engine')
  return engine
}

const atRest: EngineState = {}

/** An item that expires is one of a removed object. */
export function isRemoved({ expires }: Item): boolean {
  return expires !== undefined
}

function present(attributes: Readonly<Record<string, AttributeValue | undefined>>): Item {
  return Object.fromEntries(
    Object.entries(attributes).filter((entry): entry is [string, AttributeValue] => entry[1] !== undefined),
  )
}
