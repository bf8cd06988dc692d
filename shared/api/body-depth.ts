import { OperatingError } from '../model/errors.ts'
import type { Json, JsonObject } from '../model/json.ts'

/** No schema is near it, and everything that walks an object recursively is safe below it. */
const bodyDepthMax = 200

/** What was parsed, if it is not too deep and no field has a name that JavaScript keeps. Throws BAD_REQUEST. */
export function checkDepth(value: unknown): Json {
  refuseDeep(value, bodyDepthMax)
  return value as Json
}

function refuseDeep(value: unknown, levels: number): void {
  if (typeof value !== 'object' || value === null) return
  if (levels === 0) throw new OperatingError('BAD_REQUEST', `the body is nested deeper than ${bodyDepthMax} levels`)
  if (Array.isArray(value)) for (const item of value) refuseDeep(item, levels - 1)
  else refuseDeepFields(value as JsonObject, levels)
}

function refuseDeepFields(fields: JsonObject, levels: number): void {
  for (const name in fields) {
    // As a field of a plain object it would replace the prototype of every copy made by assignment.
    if (name === '__proto__') throw new OperatingError('BAD_REQUEST', 'a field cannot be called __proto__')
    refuseDeep(fields[name], levels - 1)
  }
}
