import { isObject, type Json, type JsonObject } from '../json.ts'
import type { ManagedFieldsEntry } from '../object.ts'
import { parseTimestamp } from '../time.ts'
import { decodeFields, encodeFields } from './fields/fields-v1.ts'
import { entryOf, listIn, mapIn } from './json-parts.ts'
import type { OwnerViews } from './owner-views.ts'
import { ownerId, type Manager, type FieldOwner, type Owners } from './ownership.ts'
import type { MergeType } from './typed/merge-type.ts'
import { settle } from './typed/schema-change.ts'

/**
 * The owners that an object's `metadata.managedFields` names, as they read by today's schema; `undefined` if an entry
 * cannot be read.
 */
export function decodeOwners(object: JsonObject, type: MergeType, views?: OwnerViews): Owners | undefined {
  try {
    const owners = listIn(entryOf(mapIn(object['metadata']), 'managedFields')).map(decodeOwner)
    const typeOf = ({ apiVersion }: FieldOwner): MergeType => views?.(apiVersion)?.type ?? type
    return new Map(owners.map((owner) => [ownerId(owner), { ...owner, fields: settle(owner.fields, typeOf(owner)) }]))
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function decodeOwner(entry: Json): FieldOwner {
  if (!isEntry(entry)) throw new SyntaxError('not an entry of managedFields')
  const { fieldsType: _, fieldsV1, ...manager } = entry
  return { ...manager, fields: decodeFields(fieldsV1) }
}

function isEntry(entry: Json): entry is ManagedFieldsEntry {
  if (!isObject(entry) || !isObject(entry['fieldsV1'])) return false
  const { manager, operation, apiVersion, time, fieldsType, subresource } = entry
  return (
    (operation === 'Apply' || operation === 'Update') &&
    fieldsType === 'FieldsV1' &&
    apiVersion !== '' &&
    [manager, apiVersion, time ?? '', subresource ?? ''].every((text) => typeof text === 'string')
  )
}

/** The entries to store, in Kubernetes' order. Equal owners give equal entries. */
export function encodeOwners(owners: Owners): ManagedFieldsEntry[] {
  return [...owners.values()].sort(inStoredOrder).map(({ fields, ...manager }) => ({
    ...manager,
    fieldsType: 'FieldsV1',
    fieldsV1: encodeFields(fields),
  }))
}

function inStoredOrder(a: Manager, b: Manager): number {
  return (
    byText(a.operation, b.operation) ||
    byAge(a, b) ||
    byText(a.manager, b.manager) ||
    byText(a.apiVersion, b.apiVersion) ||
    byText(a.subresource ?? '', b.subresource ?? '')
  )
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** The oldest first, by the second. */
export function byAge(a: Manager, b: Manager): number {
  return secondsOf(a) - secondsOf(b)
}

function secondsOf({ time }: Manager): number {
  return time === undefined ? 0 : Math.floor((parseTimestamp(time) ?? 0) / 1000)
}

/** The object without its managedFields, as it takes part in merging. */
export function withoutManagedFields(object: JsonObject): JsonObject {
  const metadata = mapIn(object['metadata'])
  if (metadata['managedFields'] === undefined) return object
  const { managedFields: _, ...rest } = metadata
  return { ...object, metadata: rest }
}

/** The object with these entries; without the field if there are none. */
export function withEntries(object: JsonObject, managedFields: ManagedFieldsEntry[]): JsonObject {
  if (managedFields.length === 0) return object
  return { ...object, metadata: { ...mapIn(object['metadata']), managedFields } }
}
