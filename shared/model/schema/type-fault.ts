import { isObject, type Json, type JsonObject } from '../json.ts'
import { goTimePattern, notGoTime } from '../time.ts'
import { isDateTime } from './formats.ts'
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
  return within('metadata', typeFault(metadata, objectMetaSchema))
}

/** A null is nothing, and what the schema does not know is let be. The path is made only where there is a fault. */
function typeFault(value: Json, schema: StructuralSchema): TypeFault | undefined {
  if (value === null) return undefined
  const word = typeWords[schema.type ?? '']
  if (word === undefined) return undefined
  if (!word.holds(value)) return { field: '', value, why: `must be ${word.name}` }
  if (typeof value === 'string') return schema.format === 'date-time' ? timeFault(value) : undefined
  if (Array.isArray(value)) return itemFault(value, schema.items)
  return isObject(value) ? fieldFault(value, schema) : undefined
}

function timeFault(value: string): TypeFault | undefined {
  return goTime.test(value) && isDateTime(value) ? undefined : { field: '', value, why: notGoTime }
}

function itemFault(items: readonly Json[], schema: StructuralSchema | undefined): TypeFault | undefined {
  if (schema === undefined) return undefined
  for (let i = 0; i < items.length; i++) {
    const fault = typeFault(items[i] ?? null, schema)
    if (fault !== undefined) return within(`[${i}]`, fault)
  }
  return undefined
}

function fieldFault(
  fields: JsonObject,
  { properties, additionalProperties: others }: StructuralSchema,
): TypeFault | undefined {
  const other = typeof others === 'object' ? others : undefined
  for (const name in fields) {
    const schema = properties?.[name] ?? other
    const fault = schema && typeFault(fields[name] ?? null, schema)
    if (fault !== undefined) return within(name, fault)
  }
  return undefined
}

function within(step: string, fault: TypeFault | undefined): TypeFault | undefined {
  if (fault === undefined) return undefined
  const { field } = fault
  return { ...fault, field: field === '' || field.startsWith('[') ? `${step}${field}` : `${step}.${field}` }
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

const goTime = new RegExp(goTimePattern)
