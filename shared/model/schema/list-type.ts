import { isObject, type Json, type JsonObject } from '../json.ts'
import { canonicalJson } from './canonical-json.ts'
import type { CompiledSchema } from './compiled-schema.ts'
import { duplicate, entry, invalid } from './field-error.ts'
import { type Budget, location, report, spend, type Walk } from './walk.ts'

/** Checks that the items of a list of type `set` or `map` differ: in their value, or in their keys. */
export function checkListType({ listType, listMapKeys }: CompiledSchema, items: readonly Json[], walk: Walk): void {
  const stranger = listType === 'map' ? items.findIndex((item) => item !== null && !isObject(item)) : -1
  if (stranger < 0) return reportRepeated(items, listType === 'map' ? listMapKeys : undefined, walk)
  report(walk, () => {
    const field = entry(location(walk), stranger)
    return invalid(field, items[stranger], 'must be an object for an array of list-type map')
  })
}

/** One error for each value, or each combination of keys, that occurs again: at its second place. */
function reportRepeated(items: readonly Json[], keys: readonly string[] | undefined, walk: Walk): void {
  if (items.length < 2) return
  const seen = new Map<string, number>()
  for (let i = 0; i < items.length; i++) {
    const item = items[i] as Json
    const name = identityOf(item, keys)
    const times = (seen.get(name) ?? 0) + 1
    seen.set(name, times)
    if (times !== 2) continue
    report(walk, () => duplicate(entry(location(walk), i), keys === undefined ? item : keysOf(item, keys)))
  }
}

/** Whether `checkListType` would find nothing. */
export function areDistinct({ listType, listMapKeys }: CompiledSchema, items: readonly Json[]): boolean {
  if (listType === 'map' && !items.every((item) => item === null || isObject(item))) return false
  const keys = listType === 'map' ? listMapKeys : undefined
  return items.length < 2 || isEachOnce(items, (item) => identityOf(item, keys))
}

/** Whether no two items are equal. Takes a step for each character of their JSON. */
export function isUniqueByValue(items: readonly Json[], budget: Budget): boolean {
  const identify = (item: Json): string => {
    const text = canonicalJson(item)
    spend(budget, text.length)
    return text
  }
  return items.length < 2 || isEachOnce(items, identify)
}

/** Looks no further than the first that repeats. */
function isEachOnce(items: readonly Json[], identify: (item: Json) => string): boolean {
  const seen = new Set<string>()
  return items.every((item) => seen.size !== seen.add(identify(item)).size)
}

function identityOf(item: Json, keys: readonly string[] | undefined): string {
  return keys === undefined ? canonicalJson(item) : keyIdentity(item, keys)
}

/** A text that two items of a list map share exactly if their keys are the same; a key that is absent is no key. */
export function keyIdentity(item: Json, keys: readonly string[]): string {
  const [key] = keys
  const only =
    keys.length === 1 && key !== undefined && isObject(item) && Object.hasOwn(item, key) ? item[key] : undefined
  // The usual case, told from all JSON texts by its first letter.
  if (typeof only === 'string') return `s${only}`
  return keys.map((name) => (isObject(item) && Object.hasOwn(item, name) ? canonicalJson(item[name]) : '')).join()
}

function keysOf(item: Json, keys: readonly string[]): JsonObject {
  if (!isObject(item)) return {}
  return Object.fromEntries(keys.filter((key) => Object.hasOwn(item, key)).map((key) => [key, item[key]]))
}
