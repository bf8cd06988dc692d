import { bytesToBase64 } from '../base64.ts'
import type { Json, JsonObject } from '../json.ts'
import { typeNameOf } from './equality.ts'
import type { Meter } from './meter.ts'
import { showDuration, showTimestamp } from './times.ts'
import { BuiltMap, BuiltObject, CelDuration, CelFailure, Timestamp, Uint, ValueMap, type Value } from './value.ts'

/** What an expression has come to, as JSON; a failure for what has no place there. */
export function toJson(value: Value, meter: Meter): Json | CelFailure {
  meter.spend(2)
  switch (typeof value) {
    case 'boolean':
    case 'string':
      return value
    case 'bigint':
      return Number(value)
    case 'number':
      return Number.isFinite(value) ? value : misfit(String(value))
    default:
      return readObject(value, meter)
  }
}

function misfit(what: string): CelFailure {
  return new CelFailure(`${what} cannot be made into JSON`)
}

function readObject(value: Extract<Value, object | null>, meter: Meter): Json | CelFailure {
  if (value === null) return null
  if (Array.isArray(value)) return readList(value as readonly Value[], meter)
  if (value instanceof ValueMap) return readMap(value, meter)
  if (value instanceof Uint) return Number(value.value)
  if (value instanceof Uint8Array) {
    meter.spend(value.length >> 3)
    return bytesToBase64(value)
  }
  if (value instanceof Timestamp) return showTimestamp(value.ns)
  if (value instanceof CelDuration) return showDuration(value.ns)
  return misfit(typeNameOf(value))
}

function readList(values: readonly Value[], meter: Meter): Json | CelFailure {
  const made: Json[] = []
  for (const value of values) {
    const json = toJson(value, meter)
    if (json instanceof CelFailure) return json
    made.push(json)
  }
  return made
}

function readMap(map: ValueMap, meter: Meter): Json | CelFailure {
  const made: [string, Json][] = []
  for (const key of map.keys()) {
    if (typeof key !== 'string') return misfit(`a map key of type ${typeNameOf(key)}`)
    const value = map.get(key)
    if (value === undefined) continue
    const json = value instanceof CelFailure ? value : toJson(value, meter)
    if (json instanceof CelFailure) return json
    made.push([key, json])
  }
  // Assignment would let a key `__proto__` set the prototype.
  return Object.fromEntries(made) satisfies JsonObject
}

/**
 * What is wrong with the names of types of objects within objects: each is that of the object around it, a dot, and
 * the field. Lists and maps between them have no name.
 */
export function findMisnamed(value: Value, path: string, meter: Meter): readonly string[] {
  meter.spend(1)
  if (Array.isArray(value)) return (value as readonly Value[]).flatMap((item) => findMisnamed(item, path, meter))
  if (!(value instanceof BuiltMap)) return []
  const isObject = value instanceof BuiltObject
  const wrong = isObject && value.type !== path ? [misnamed(value.type, path)] : []
  const inner = value.keys().flatMap((key) => {
    const part = value.get(key)
    return part === undefined ? [] : findMisnamed(part, isObject ? `${path}.${String(key)}` : path, meter)
  })
  return [...wrong, ...inner]
}

function misnamed(type: string, path: string): string {
  return `unexpected type name "${type}", expected "${path}", which matches field name path from root Object type`
}
