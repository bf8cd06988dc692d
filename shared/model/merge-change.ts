import { isObject, type Json, type JsonObject } from './json.ts'
import { createSameness, type Sameness } from './sameness.ts'
import type { StructuralSchema } from './schema/structural-schema.ts'

/**
 * A value with a change that was made to another view of it. `from` and `to` are what the view says before and after:
 * what differs between them changes in `live`, and what the view does not show stays. Items of a list are matched by
 * their keys where the schema has some, or else one by one while the list keeps its length; any other list is replaced.
 */
export function mergeChange(
  live: Json | undefined,
  change: readonly [from: Json | undefined, to: Json | undefined],
  schema: StructuralSchema = {},
): Json | undefined {
  return mergeAny(live, change, { schema, isSame: createSameness() })
}

interface Place {
  readonly schema: StructuralSchema
  readonly isSame: Sameness
}

function mergeAny(
  live: Json | undefined,
  [from, to]: readonly [Json | undefined, Json | undefined],
  place: Place,
): Json | undefined {
  if (place.isSame(from, to)) return live
  if (isObject(live) && isObject(from) && isObject(to)) return mergeFields(live, [from, to], place)
  if (Array.isArray(live) && Array.isArray(from) && Array.isArray(to)) return mergeItems(live, [from, to], place)
  return to
}

function mergeFields(
  live: JsonObject,
  [from, to]: readonly [JsonObject, JsonObject],
  { schema: { properties, additionalProperties }, isSame }: Place,
): JsonObject {
  const merged: JsonObject = {}
  const schemaOf = (field: string): StructuralSchema =>
    own(properties, field) ?? (isObject(additionalProperties) ? additionalProperties : {})
  for (const field of new Set([...Object.keys(live), ...Object.keys(to)])) {
    const value = mergeAny(own(live, field), [own(from, field), own(to, field)], { schema: schemaOf(field), isSame })
    if (value !== undefined) merged[field] = value
  }
  return merged
}

function mergeItems(
  live: readonly Json[],
  [from, to]: readonly [readonly Json[], readonly Json[]],
  { schema: { items = {}, 'x-kubernetes-list-map-keys': keys }, isSame }: Place,
): Json[] {
  const place = { schema: items, isSame }
  if (keys !== undefined) return mergeKeyed(live, [from, to], { idOf: createIds(keys), place })
  if (live.length !== from.length || live.length !== to.length) return [...to]
  return to.map((item, i) => mergeAny(live[i], [from[i], item], place) ?? item)
}

interface Keyed {
  readonly idOf: (item: Json) => string
  readonly place: Place
}

function mergeKeyed(
  live: readonly Json[],
  [from, to]: readonly [readonly Json[], readonly Json[]],
  { idOf, place }: Keyed,
): Json[] {
  const [liveItems, fromItems, toItems] = [live, from, to].map(
    (list) => new Map(list.map((item) => [idOf(item), item])),
  )
  const merged = to.map((item) => {
    const id = idOf(item)
    return mergeAny(liveItems?.get(id), [fromItems?.get(id), item], place) ?? item
  })
  // A view that gives items other keys shows all of them, as far as anybody can tell.
  const isFaithful = from.every((item) => liveItems?.has(idOf(item)))
  const isShown = (id: string): boolean => fromItems?.has(id) === true || toItems?.has(id) === true
  return isFaithful ? withHidden(merged, live, { idOf, isShown }) : merged
}

/** The items with those that the view does not show, each behind the one that it stood behind. */
function withHidden(
  merged: readonly Json[],
  live: readonly Json[],
  { idOf, isShown }: Pick<Keyed, 'idOf'> & { readonly isShown: (id: string) => boolean },
): Json[] {
  const first: Json[] = []
  const behind = new Map(merged.map((item): [string, Json[]] => [idOf(item), []]))
  let hidden = first
  for (const item of live) {
    const id = idOf(item)
    hidden = behind.get(id) ?? hidden
    if (!isShown(id)) hidden.push(item)
  }
  return [...first, ...merged.flatMap((item) => [item, ...(behind.get(idOf(item)) ?? [])])]
}

/** What tells the items of a keyed list apart. */
function createIds(keys: readonly string[]): (item: Json) => string {
  return (item) => JSON.stringify(keys.map((key) => (isObject(item) ? (own(item, key) ?? null) : null)))
}

function own<Value>(fields: { readonly [name: string]: Value } | undefined, name: string): Value | undefined {
  return fields !== undefined && Object.hasOwn(fields, name) ? fields[name] : undefined
}
