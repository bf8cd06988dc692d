import { isObject, type Json, type JsonObject } from '../json.ts'

/** What a JSON value holds, whatever it turns out to be. A field that is `undefined` counts as absent. */

export function isEmptyMap(map: JsonObject): boolean {
  for (const key in map) if (map[key] !== undefined) return false
  return true
}

/** The value as a map; empty if it is none. */
export function mapIn(value: Json | undefined): JsonObject {
  return isObject(value) ? value : noEntries
}

/** The value as a list; empty if it is none. */
export function listIn(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : noItems
}

const noEntries: JsonObject = {}
const noItems: readonly Json[] = []

/** The object's own entry: `constructor` is a field name like any other. */
export function entryOf(map: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined
}
