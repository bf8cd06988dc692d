import { parseJson } from '../parse-json.ts'
import { equal, type Json, type JsonObject } from '../json.ts'
import type { ApiObject, ManagedFieldsEntry, ObjectMeta } from '../object.ts'
import type { ServedKind } from '../served-kind.ts'
import { timestamp } from '../time.ts'
import { wholeFieldsText } from './typed/whole-fields.ts'

/**
 * Who wrote an object, while it is one writer who never applied: the entry of `managedFields` without its fields, which
 * are all that the object holds. So the hot path notes a name and a time, and no write walks the object. Whoever reads
 * the object sees the fields, and the first other writer makes all of it explicit.
 */
export type SoleEntry = Omit<ManagedFieldsEntry, 'fieldsV1'>

/** The one writer of the object; `undefined` if it is not tracked, or its fields have several owners. */
export function soleWriterOf({ metadata: { managedFields } }: ApiObject): SoleEntry | undefined {
  const [entry] = managedFields ?? []
  return entry === undefined || 'fieldsV1' in entry ? undefined : entry
}

/** What is stored of a sole writer. Its last field is where `showOwners` puts the fields. */
export function soleEntryOf(manager: string, apiVersion: string, nowMs: number): SoleEntry {
  return { manager, operation: 'Update', apiVersion, time: timestamp(nowMs), fieldsType: 'FieldsV1' }
}

/** The object that its sole writer wrote again; `undefined` if the write is not of that kind. */
export function withSoleWriter(
  live: ApiObject,
  next: ApiObject,
  { manager, apiVersion, nowMs }: { readonly manager: string; readonly apiVersion: string; readonly nowMs: number },
): ApiObject | undefined {
  const entry = soleWriterOf(live)
  if (entry === undefined || entry.manager !== manager || entry.apiVersion !== apiVersion) return undefined
  const [before, after] = [live.metadata, next.metadata]
  if (!equal(before.finalizers, after.finalizers)) return undefined
  const time = timestamp(nowMs)
  if (entry.time === time) return next
  const isSame =
    before.generation === after.generation &&
    equal(before.labels, after.labels) &&
    equal(before.annotations, after.annotations) &&
    equal(before.ownerReferences, after.ownerReferences)
  if (isSame) return next
  return { ...next, metadata: { ...after, managedFields: [{ ...entry, time }] as ManagedFieldsEntry[] } }
}

/** The object with its owners in full. One that holds more than so many values is no longer tracked. */
export function withExplicitOwners(kind: Pick<ServedKind, 'schema' | 'hasStatus'>, object: ApiObject): ApiObject {
  const entry = soleWriterOf(object)
  if (entry === undefined) return object
  const { managedFields: _, ...metadata } = object.metadata
  const text = wholeFieldsText(kind, object)
  if (text === undefined) return { ...object, metadata }
  const managedFields = [{ ...entry, fieldsV1: parseJson(text) as JsonObject }]
  return { ...object, metadata: { ...metadata, managedFields } }
}

/** Whether somebody sends back the owners that they were shown. */
export function saysOwnersOf(
  kind: Pick<ServedKind, 'schema' | 'hasStatus'>,
  object: ApiObject,
  sent: Json | undefined,
): boolean {
  return (
    equal(sent, object.metadata.managedFields) || equal(sent, withExplicitOwners(kind, object).metadata.managedFields)
  )
}

/** The end of what `soleEntryOf` makes, as JSON. Quotes in texts are escaped, so no text within JSON holds it. */
const entryEnd = '"fieldsType":"FieldsV1"}]'

/**
 * The JSON of an object, or of what holds it behind plain values, with its owners in full. Metadata stands ahead of
 * everything that could look like an entry, and within metadata only owner references could.
 */
export function showOwners(text: string, kind: Pick<ServedKind, 'schema' | 'hasStatus'>, object: ApiObject): string {
  if (soleWriterOf(object) === undefined) return text
  const end = text.indexOf(entryEnd, skipOwnerReferences(text, object, 'managedFields'))
  const fields = end < 0 ? undefined : wholeFieldsText(kind, object)
  if (fields === undefined) return text
  const at = end + entryEnd.length - 2
  return `${text.slice(0, at)},"fieldsV1":${fields}${text.slice(at)}`
}

/** Where to look for a field of the metadata: behind owner references that stand ahead of it, whatever they have. */
export function skipOwnerReferences(text: string, { metadata }: ApiObject, field: keyof ObjectMeta): number {
  const names = Object.keys(metadata)
  const isAhead = metadata.ownerReferences && names.indexOf('ownerReferences') < names.indexOf(field)
  if (!isAhead) return 0
  const owners = JSON.stringify(metadata.ownerReferences)
  return text.indexOf(owners) + owners.length
}
