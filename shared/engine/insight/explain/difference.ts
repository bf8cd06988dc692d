import { equal, isObject, type Json, type JsonObject } from '../../../model/json.ts'

/** A field that spec and status have under one path, with two values. */
export interface Difference {
  readonly path: string
  readonly spec: Json
  readonly status: Json
}

/** Where spec and status speak of the same field and do not agree. A field that only one of them has says nothing. */
export function findFieldDifferences(spec: JsonObject, status: JsonObject, prefix = ''): readonly Difference[] {
  return Object.keys(spec).flatMap((field) => {
    const [wanted, found] = [spec[field], status[field]]
    if (wanted === undefined || found === undefined || equal(wanted, found)) return []
    const path = `${prefix}${field}`
    if (isObject(wanted) && isObject(found)) return findFieldDifferences(wanted, found, `${path}.`)
    return [{ path, spec: wanted, status: found }]
  })
}
