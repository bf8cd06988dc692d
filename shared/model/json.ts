/** JSON values as the API stores and compares them, and the operations everything else is built on. */
export type Json = string | number | boolean | null | Json[] | JsonObject
export interface JsonObject {
  [field: string]: Json | undefined
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Same JSON value. Field order does not count; a field that is `undefined` counts as absent. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => equal(item, b[i]))
  return isObject(a) && isObject(b) && sameFields(a, b)
}

/** The value, frozen through and through. */
export function frozen<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const part of Object.values(value)) frozen(part)
  return Object.freeze(value)
}

function sameFields(a: JsonObject, b: JsonObject): boolean {
  for (const field in a) if (!equal(a[field], own(b, field))) return false
  for (const field in b) if (b[field] !== undefined && own(a, field) === undefined) return false
  return true
}

/** Not what every object inherits: `constructor` is a field name like any other. */
function own(object: JsonObject, field: string): Json | undefined {
  return Object.hasOwn(object, field) ? object[field] : undefined
}
