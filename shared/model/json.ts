/** JSON values as the API stores and compares them, and the operations everything else is built on. */
export type Json = string | number | boolean | null | Json[] | JsonObject
export interface JsonObject {
  [field: string]: Json | undefined
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A text as it is, and the empty one for everything else. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Same JSON value. Field order does not count; a field that is `undefined` counts as absent. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => equal(item, b[i]))
  return isObject(a) && isObject(b) && sameFields(a, b)
}

/** The value, frozen through and through. */
export function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const part of Object.values(value)) deepFreeze(part)
  return Object.freeze(value)
}

/** A copy of a JSON value that shares nothing with it. Fields that are `undefined` are left out. */
export function copyJson<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copyJson) as Value
  const copy: Record<string, unknown> = {}
  for (const name in value) {
    const field = (value as Record<string, unknown>)[name]
    if (field !== undefined) copy[name] = copyJson(field)
  }
  return copy as Value
}

/** A copy of a JSON value that shares nothing with it and is frozen. Fields that are `undefined` are left out. */
export function copyFrozen<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return Object.freeze(value.map(copyFrozen)) as Value
  const copy: Record<string, unknown> = {}
  for (const name in value) {
    const field = (value as Record<string, unknown>)[name]
    if (field !== undefined) copy[name] = copyFrozen(field)
  }
  return Object.freeze(copy) as Value
}

/**
 * Whether a value is the one that its own JSON text gives back: it holds no `undefined`, no number that is none, and no
 * object with a text of its own.
 */
export function isJson(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object') return typeof value === 'string' || typeof value === 'boolean'
  if (value === null) return true
  return Array.isArray(value) ? value.every(isJson) : hasJsonFields(value as JsonObject)
}

function hasJsonFields(fields: JsonObject): boolean {
  if ('toJSON' in fields) return false
  for (const name in fields) if (!isJson(fields[name])) return false
  return true
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
