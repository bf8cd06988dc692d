import type { Json, JsonObject } from '../json.ts'
import { type CompiledSchema, compile, fieldSchema } from './compiled-schema.ts'
import { child, entry } from './field-error.ts'
import { objectMetaSchema } from './object-meta.ts'
import { setField } from './own-field.ts'
import type { StructuralSchema } from './structural-schema.ts'

/** What is left of a value, and what had to go. */
export interface Pruned<Value> {
  /** The same reference as the input if nothing was removed. */
  readonly value: Value
  /** Paths of the removed fields such as `spec.colour`, sorted; of very many, the first 100 found. */
  readonly unknown: readonly string[]
}

/**
 * Removes the fields of a whole object that its schema does not know, without touching the input. `apiVersion`, `kind`
 * and `metadata` always stay as they are; in embedded resources `metadata` loses what no metadata has.
 * Source: apiextensions-apiserver, `schema/pruning` and `schema/objectmeta`.
 */
export function prune<Value extends JsonObject>(schema: StructuralSchema, object: Value): Pruned<Value> {
  const run: Run = { path: '', unknown: [] }
  const value = pruneFields(object, { ...compile(schema), isResource: true }, run, true) as Value
  return { value, unknown: run.unknown.toSorted() }
}

/** As `prune`, for a value inside an object: `apiVersion`, `kind` and `metadata` are fields like any other. */
export function pruneValue(schema: StructuralSchema, value: Json): Pruned<Json> {
  const run: Run = { path: '', unknown: [] }
  return { value: pruneAny(value, compile(schema), run), unknown: run.unknown.toSorted() }
}

interface Run {
  path: string
  readonly unknown: string[]
}

const mostReported = 100
const metadataSchema = compile(objectMetaSchema)
const conventional = new Set(['apiVersion', 'kind', 'metadata'])

/** Without a schema nothing is known: objects lose all their fields, scalars stay. */
function pruneAny(value: Json, node: CompiledSchema | undefined, run: Run): Json {
  if (typeof value !== 'object' || value === null) return value
  return Array.isArray(value) ? pruneItems(value, node, run) : pruneFields(value, node, run)
}

function pruneItems(items: Json[], node: CompiledSchema | undefined, run: Run): Json[] {
  if (node?.preservesUnknown === true && node.items === undefined) return items
  let copy: Json[] | undefined
  const path = run.path
  for (let i = 0; i < items.length; i++) {
    const item = items[i] as Json
    if (typeof item !== 'object' || item === null) continue
    run.path = entry(path, i)
    const next = pruneAny(item, node?.items, run)
    if (next !== item) (copy ??= [...items])[i] = next
  }
  run.path = path
  return copy ?? items
}

function pruneFields(fields: JsonObject, node: CompiledSchema | undefined, run: Run, isWhole = false): JsonObject {
  let copy: JsonObject | undefined
  const path = run.path
  for (const name in fields) {
    const field = fields[name]
    const isConventional = node?.isResource === true && conventional.has(name)
    if (field === undefined || (isConventional && (isWhole || name !== 'metadata'))) continue
    const schema = isConventional ? metadataSchema : node && fieldSchema(node, name)
    if (schema === undefined && (node === undefined || node.others === 'unknown')) {
      if (node?.preservesUnknown === true) continue
      if (run.unknown.length < mostReported) run.unknown.push(child(path, name))
      delete (copy ??= { ...fields })[name]
    } else if (typeof field === 'object' && field !== null) {
      run.path = child(path, name)
      const next = pruneAny(field, schema, run)
      if (next !== field) setField((copy ??= { ...fields }), name, next)
    }
  }
  run.path = path
  return copy ?? fields
}
