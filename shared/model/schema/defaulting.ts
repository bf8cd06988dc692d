import type { Json, JsonObject } from '../json.ts'
import { type CompiledSchema, compile, fieldSchema } from './compiled-schema.ts'
import { hasField, setField } from './own-field.ts'
import type { StructuralSchema } from './structural-schema.ts'

/**
 * Fills in the defaults of missing fields, only inside objects that are there, as Kubernetes does. A `null` that is not
 * `nullable` counts as missing: it becomes the default, or goes away if there is none. Never touches the input, and
 * returns it as it is if nothing was to be done. Source: apiextensions-apiserver, `schema/defaulting`.
 */
export function applyDefaults<Value extends Json>(schema: StructuralSchema, value: Value): Value {
  return complete(value, compile(schema)) as Value
}

function complete(value: Json, node: CompiledSchema): Json {
  if (typeof value !== 'object' || value === null) return value
  return Array.isArray(value) ? completeItems(value, node) : completeFields(value, node)
}

function completeItems(items: Json[], node: CompiledSchema): Json[] {
  if (node.items === undefined) return items
  let copy: Json[] | undefined
  for (let i = 0; i < items.length; i++) {
    const item = items[i] as Json
    const next = isMissing(item, node.items) ? (defaultOf(node.items) ?? null) : complete(item, node.items)
    if (next !== item) (copy ??= [...items])[i] = next
  }
  return copy ?? items
}

function completeFields(fields: JsonObject, node: CompiledSchema): JsonObject {
  let copy: JsonObject | undefined
  for (const name in fields) {
    const field = fields[name]
    const schema = fieldSchema(node, name)
    if (schema === undefined || field === undefined) continue
    const next = isMissing(field, schema) ? defaultOf(schema) : complete(field, schema)
    if (next === undefined) delete (copy ??= { ...fields })[name]
    else if (next !== field) setField((copy ??= { ...fields }), name, next)
  }
  for (const [name, schema] of node.propertiesWithDefault) {
    if (!hasField(fields, name)) setField((copy ??= { ...fields }), name, defaultOf(schema) ?? null)
  }
  return copy ?? fields
}

function isMissing(value: Json, node: CompiledSchema): boolean {
  return value === null && !node.nullable
}

/** A default of its own for each object, itself completed: changing one object can never reach another, or the schema. */
function defaultOf(node: CompiledSchema): Json | undefined {
  return node.defaultValue === undefined ? undefined : complete(copyOf(node.defaultValue), node)
}

function copyOf(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copyOf)
  const copy = { ...value }
  for (const name in copy) setField(copy, name, copyOf(copy[name] ?? null))
  return copy
}
