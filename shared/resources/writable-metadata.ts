import { objectMetaSchema } from '../model/apply/typed/object-meta.ts'
import { OperatingError } from '../model/errors.ts'
import { isObject, type Json, type JsonObject } from '../model/json.ts'
import type { ObjectMeta } from '../model/object.ts'
import type { StructuralSchema } from '../model/schema/structural-schema.ts'

/** The parts of metadata that a writer decides; everything else is the server's. Throws UNDECODABLE for ill-typed parts. */
export function writableMetadata(body: JsonObject): Partial<ObjectMeta> {
  const given = body['metadata'] ?? {}
  const fault = typeFault(given, objectMetaSchema, 'metadata')
  if (fault !== undefined) throw new OperatingError('UNDECODABLE', fault)
  const metadata = given as JsonObject
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

/** What is not of its type, first of all. A null is nothing, and what the schema does not know is let be. */
export function typeFault(value: Json, schema: StructuralSchema, path: string): string | undefined {
  if (value === null) return undefined
  const { type = '', format, items, properties, additionalProperties: others } = schema
  const word = typeWords[type]
  if (word === undefined) return undefined
  if (!word.holds(value)) return `${path}: must be ${word.name}`
  if (format === 'date-time' && !rfc3339.test(value as string))
    return `${path}: must be a time such as 2026-01-01T00:00:00Z`
  if (Array.isArray(value)) return items && firstFault(value, (item, i) => typeFault(item, items, `${path}[${i}]`))
  if (!isObject(value)) return undefined
  for (const name in value) {
    const part = properties?.[name] ?? (typeof others === 'object' ? others : undefined)
    const fault = part && typeFault(value[name] ?? null, part, `${path}.${name}`)
    if (fault !== undefined) return fault
  }
  return undefined
}

function firstFault(
  items: readonly Json[],
  faultOf: (item: Json, i: number) => string | undefined,
): string | undefined {
  for (const [i, item] of items.entries()) {
    const fault = faultOf(item, i)
    if (fault !== undefined) return fault
  }
  return undefined
}

interface TypeWord {
  readonly name: string
  readonly holds: (value: Json) => boolean
}

const typeWords: Readonly<Record<string, TypeWord | undefined>> = {
  string: { name: 'a string; quote it in YAML', holds: (value) => typeof value === 'string' },
  integer: { name: 'an integer', holds: Number.isInteger },
  boolean: { name: 'a boolean', holds: (value) => typeof value === 'boolean' },
  object: { name: 'an object', holds: isObject },
  array: { name: 'a list', holds: Array.isArray },
}

/** As programs in Go read times. */
const rfc3339 = /^\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[-+]\d\d:\d\d)$/

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
