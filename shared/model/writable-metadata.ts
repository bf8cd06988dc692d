import { OperatingError } from './errors.ts'
import { isObject, type Json, type JsonObject } from './json.ts'
import type { ObjectMeta } from './object.ts'
import { metadataFault } from './schema/type-fault.ts'

/**
 * The parts of metadata that a writer decides; everything else is the server's. Throws UNDECODABLE for ill-typed parts.
 */
export function writableMetadata(body: JsonObject): Partial<ObjectMeta> {
  const given = body['metadata'] ?? {}
  const fault = metadataFault(given)
  if (fault !== undefined) throw new OperatingError('UNDECODABLE', `${fault.field}: ${fault.why}`)
  return writableParts(given as JsonObject)
}

/** The same of metadata whose parts have their types. */
export function writableParts(metadata: JsonObject): Partial<ObjectMeta> {
  return {
    ...text(metadata, 'name'),
    ...text(metadata, 'generateName'),
    ...text(metadata, 'namespace'),
    ...text(metadata, 'uid'),
    ...(namesVersion(metadata) ? text(metadata, 'resourceVersion') : {}),
    ...texts(metadata, 'labels'),
    ...texts(metadata, 'annotations'),
    ...list(metadata, 'finalizers', (names) => [...new Set(names.map((name) => name ?? ''))]),
    ...list(metadata, 'ownerReferences', (owners) => owners.map((owner) => owner ?? {})),
  }
}

/** Whether the metadata names a version: 0 means whichever there is, as leaving it out does. */
export function namesVersion({ resourceVersion: version }: JsonObject): boolean {
  return version !== undefined && version !== null && !/^0*$/.test(String(version))
}

function text(given: JsonObject, field: string): JsonObject {
  const value = given[field] ?? ''
  return value === '' ? {} : { [field]: value }
}

/** Where Kubernetes has texts, a null is the empty one. */
function texts(given: JsonObject, field: string): JsonObject {
  const value = given[field]
  if (!isObject(value) || Object.keys(value).length === 0) return {}
  const hasNulls = Object.values(value).includes(null)
  return { [field]: hasNulls ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, one ?? ''])) : value }
}

function list(given: JsonObject, field: string, read: (items: readonly Json[]) => readonly Json[]): JsonObject {
  const value = given[field]
  return Array.isArray(value) && value.length > 0 ? { [field]: read(value) as Json[] } : {}
}
