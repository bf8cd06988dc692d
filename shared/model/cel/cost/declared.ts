import type { StructuralSchema } from '../../schema/structural-schema.ts'
import { escapeField, propertiesOf } from '../schema-value.ts'

/** How large a value of a schema can be in a request. Source: apiserver, `cel/common/schemas.go`. */
export interface Declared {
  /** Characters, bytes, items or entries. */
  readonly most: number
  /** The bytes of JSON that it takes at least. */
  readonly bytesMin: number
  /** Of lists and maps. */
  readonly item?: Declared
  readonly key?: Declared
  /** Of objects, by their names in expressions. */
  readonly fields?: ReadonlyMap<string, Declared>
}

/** Kubernetes' limit. Ours is smaller; a definition shall be accepted there if it is here. */
export const requestBytesMax = 3 * 1024 * 1024

const textBytesMin = 2
const containerBytesMin = 2
const anyText: Declared = { most: 0, bytesMin: textBytesMin }

const known = new WeakMap<StructuralSchema, { readonly declared: Declared | undefined }>()

/** Undefined for what expressions do not see. `isResource`: with the fields that every object has. */
export function declaredBy(schema: StructuralSchema, isResource = false): Declared | undefined {
  if (isResource) return workOut(schema, true)
  const worked = known.get(schema) ?? { declared: workOut(schema, false) }
  known.set(schema, worked)
  return worked.declared
}

function workOut(schema: StructuralSchema, isResource: boolean): Declared | undefined {
  if (schema['x-kubernetes-int-or-string'] === true) return { most: requestBytesMax - 2, bytesMin: 1 }
  switch (schema.type) {
    case 'array':
      return schema.items && listOf(schema, schema.items)
    case 'object':
      return typeof schema.additionalProperties === 'object'
        ? mapOf(schema, schema.additionalProperties)
        : objectOf(schema, isResource || schema['x-kubernetes-embedded-resource'] === true)
    case 'string':
      return textOf(schema)
    case 'boolean':
      return { most: 0, bytesMin: 4 }
    case 'number':
    case 'integer':
      return { most: 0, bytesMin: 1 }
    default:
      return undefined
  }
}

function listOf({ maxItems }: StructuralSchema, items: StructuralSchema): Declared | undefined {
  const item = declaredBy(items)
  if (item === undefined) return undefined
  const fitting = Math.floor((requestBytesMax - 2) / (item.bytesMin + 1))
  return { most: maxItems ?? fitting, bytesMin: containerBytesMin, item }
}

/** An entry has quotes, a colon, a comma, and a key of two characters or so. */
const entryBytes = 6

function mapOf({ maxProperties }: StructuralSchema, values: StructuralSchema): Declared | undefined {
  const item = declaredBy(values)
  if (item === undefined) return undefined
  const fitting = Math.floor((requestBytesMax - 2) / (item.bytesMin + entryBytes))
  return { most: maxProperties ?? fitting, bytesMin: containerBytesMin, item, key: anyText }
}

function objectOf(schema: StructuralSchema, isResource: boolean): Declared {
  const fields = new Map<string, Declared>()
  let bytesMin = containerBytesMin
  for (const [name, property] of Object.entries(propertiesOf(schema, isResource))) {
    const declared = declaredBy(property)
    if (declared === undefined) continue
    const escaped = escapeField(name)
    if (escaped !== undefined) fields.set(escaped, declared)
    const isSent = schema.required?.includes(name) === true && property.default === undefined
    if (isSent) bytesMin += name.length + declared.bytesMin + 4
  }
  return { most: 0, bytesMin, fields }
}

const encoder = new TextEncoder()

const formats: Readonly<Record<string, Declared>> = {
  duration: { most: 32, bytesMin: 3 },
  date: { most: 12, bytesMin: 12 },
  'date-time': { most: 32, bytesMin: 21 },
}

function textOf({ format = '', maxLength, enum: values }: StructuralSchema): Declared {
  const ofFormat = Object.hasOwn(formats, format) ? formats[format] : undefined
  if (ofFormat !== undefined) return ofFormat
  if (format === 'byte') return { most: maxLength ?? requestBytesMax - 2, bytesMin: textBytesMin }
  // A character may take four bytes.
  if (maxLength !== undefined) return { most: maxLength * 4, bytesMin: textBytesMin }
  const lengths = values?.map((value) => (typeof value === 'string' ? encoder.encode(value).length : 0))
  return { most: lengths === undefined ? requestBytesMax - 2 : Math.max(0, ...lengths), bytesMin: textBytesMin }
}
