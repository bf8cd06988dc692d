import { isObject, type Json } from '../json.ts'
import { child, entry } from './field-error.ts'
import { objectMetaSchema } from './object-meta.ts'
import type { StructuralSchema } from './structural-schema.ts'

/** A value that is not of its type. */
export interface TypeFault {
  readonly field: string
  readonly value: Json
  readonly why: string
}

/** What of an object's metadata is not of its type, first of all: a program in Go could not read it. */
export function metadataFault(metadata: Json): TypeFault | undefined {
  return typeFault(metadata, objectMetaSchema, 'metadata')
}

/** A null is nothing, and what the schema does not know is let be. */
function typeFault(value: Json, schema: StructuralSchema, field: string): TypeFault | undefined {
  if (value === null) return undefined
  const { type = '', format, items, properties, additionalProperties: others } = schema
  const word = typeWords[type]
  if (word === undefined) return undefined
  if (!word.holds(value)) return { field, value, why: `must be ${word.name}` }
  if (format === 'date-time' && !rfc3339.test(value as string))
    return { field, value, why: 'must be a time such as 2026-01-01T00:00:00Z' }
  if (Array.isArray(value)) return items && firstFault(value, (item, i) => typeFault(item, items, entry(field, i)))
  if (!isObject(value)) return undefined
  for (const name in value) {
    const part = properties?.[name] ?? (typeof others === 'object' ? others : undefined)
    const fault = part && typeFault(value[name] ?? null, part, child(field, name))
    if (fault !== undefined) return fault
  }
  return undefined
}

function firstFault(
  items: readonly Json[],
  faultOf: (item: Json, i: number) => TypeFault | undefined,
): TypeFault | undefined {
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
