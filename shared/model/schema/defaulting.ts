import { OperatingError } from '../errors.ts'
import type { Json, JsonObject } from '../json.ts'
import { bytesMax } from '../size-limit.ts'
import { type CompiledSchema, compile, fieldSchema } from './compiled-schema.ts'
import { hasField, setField } from './own-field.ts'
import type { StructuralSchema } from './structural-schema.ts'

/**
 * Fills in the defaults of missing fields, only inside objects that are there, as Kubernetes does. A `null` that is not
 * `nullable` counts as missing: it becomes the default, or goes away if there is none. Never touches the input, and
 * returns it as it is if nothing was to be done. Throws TOO_LARGE where the defaults alone are more than an object may
 * hold. Source: apiextensions-apiserver, `schema/defaulting`.
 */
export function applyDefaults<Value extends Json>(schema: StructuralSchema, value: Value): Value {
  return complete(value, compile(schema), { size: 0 }) as Value
}

/** How much was filled in, in values and characters: no JSON of it is shorter. */
interface Filled {
  size: number
}

function complete(value: Json, node: CompiledSchema, filled: Filled): Json {
  if (typeof value !== 'object' || value === null) return value
  return Array.isArray(value) ? completeItems(value, node, filled) : completeFields(value, node, filled)
}

function completeItems(items: Json[], node: CompiledSchema, filled: Filled): Json[] {
  if (node.items === undefined) return items
  let copy: Json[] | undefined
  for (let i = 0; i < items.length; i++) {
    const item = items[i] as Json
    const next = isMissing(item, node.items)
      ? (defaultOf(node.items, filled) ?? null)
      : complete(item, node.items, filled)
    if (next !== item) (copy ??= [...items])[i] = next
  }
  return copy ?? items
}

function completeFields(fields: JsonObject, node: CompiledSchema, filled: Filled): JsonObject {
  let copy: JsonObject | undefined
  for (const name in fields) {
    const field = fields[name]
    const schema = fieldSchema(node, name)
    if (schema === undefined || field === undefined) continue
    const next = isMissing(field, schema) ? defaultOf(schema, filled) : complete(field, schema, filled)
    if (next === undefined) delete (copy ??= { ...fields })[name]
    else if (next !== field) setField((copy ??= { ...fields }), name, next)
  }
  for (const [name, schema] of node.propertiesWithDefault) {
    if (!hasField(fields, name)) setField((copy ??= { ...fields }), name, defaultOf(schema, filled) ?? null)
  }
  return copy ?? fields
}

function isMissing(value: Json, node: CompiledSchema): boolean {
  return value === null && !node.nullable
}

/**
 * A default of its own for each object, itself completed: changing one object can never reach another, or the schema.
 */
function defaultOf(node: CompiledSchema, filled: Filled): Json | undefined {
  return node.defaultValue === undefined ? undefined : complete(copyOf(node.defaultValue, filled), node, filled)
}

function copyOf(value: Json, filled: Filled): Json {
  filled.size += typeof value === 'string' ? 1 + value.length : 1
  if (filled.size > bytesMax) throw tooLarge()
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => copyOf(item, filled))
  const copy = { ...value }
  for (const name in copy) setField(copy, name, copyOf(copy[name] ?? null, filled))
  return copy
}

function tooLarge(): OperatingError {
  return new OperatingError(
    'TOO_LARGE',
    `with the defaults of its schema the object would take more than ${bytesMax} bytes`,
  )
}
