import { equal, isObject, type Json, type JsonObject } from './json.ts'
import type { StructuralSchema } from './schema/structural-schema.ts'

/**
 * A value with a change that was made to another view of it. `from` and `to` are what the view says before and after:
 * what differs between them changes in `live`, and what the view does not show stays. Items of a list are matched by
 * their keys where the schema has some, or else one by one while the list keeps its length; any other list is replaced.
 */
export function mergeChange(
  live: Json | undefined,
  [from, to]: readonly [Json | undefined, Json | undefined],
  schema: StructuralSchema = {},
): Json | undefined {
  if (equal(from, to)) return live
  if (isObject(live) && isObject(from) && isObject(to)) return mergeFields(live, [from, to], schema)
  if (Array.isArray(live) && Array.isArray(from) && Array.isArray(to)) return mergeItems(live, [from, to], schema)
  return to
}

function mergeFields(
  live: JsonObject,
  [from, to]: readonly [JsonObject, JsonObject],
  { properties, additionalProperties }: StructuralSchema,
): JsonObject {
  const merged: JsonObject = {}
  const schemaOf = (field: string): StructuralSchema | undefined =>
    own(properties, field) ?? (isObject(additionalProperties) ? additionalProperties : undefined)
  for (const field of new Set([...Object.keys(live), ...Object.keys(to)])) {
    const value = mergeChange(own(live, field), [own(from, field), own(to, field)], schemaOf(field))
    if (value !== undefined) merged[field] = value
  }
  return merged
}

function mergeItems(
  live: readonly Json[],
  [from, to]: readonly [readonly Json[], readonly Json[]],
  { items = {}, 'x-kubernetes-list-map-keys': keys }: StructuralSchema,
): Json[] {
  const ids = keys === undefined ? undefined : idsOf(keys)
  if (ids !== undefined) {
    const [liveItems, fromItems] = [live, from].map((list) => new Map(list.map((item) => [ids(item), item])))
    return to.map((item) => {
      const id = ids(item)
      return mergeChange(liveItems?.get(id), [fromItems?.get(id), item], items) ?? item
    })
  }
  if (live.length !== from.length || live.length !== to.length) return [...to]
  return to.map((item, i) => mergeChange(live[i], [from[i], item], items) ?? item)
}

/** What tells the items of a keyed list apart. */
function idsOf(keys: readonly string[]): (item: Json) => string {
  return (item) => JSON.stringify(keys.map((key) => (isObject(item) ? (own(item, key) ?? null) : null)))
}

function own<Value>(fields: { readonly [name: string]: Value } | undefined, name: string): Value | undefined {
  return fields !== undefined && Object.hasOwn(fields, name) ? fields[name] : undefined
}
