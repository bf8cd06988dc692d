import type { Json, JsonObject } from '../json.ts'

/** Whether JSON has the field: an inherited one such as `constructor` does not count, nor one that is `undefined`. */
export function hasField(object: JsonObject, name: string): boolean {
  return Object.hasOwn(object, name) && object[name] !== undefined
}

/** Sets a field as `JSON.parse` does: `__proto__` is a field like any other. */
export function setField(object: JsonObject, name: string, value: Json): void {
  if (name !== '__proto__') object[name] = value
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })
}
