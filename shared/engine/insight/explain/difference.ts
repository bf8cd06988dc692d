import { equal, isObject, type Json, type JsonObject } from '../../../model/json.ts'

/** A field that spec and status have under one path, with two values. */
export interface Difference {
  readonly path: string
  readonly spec: Json
  readonly status: Json
}

/** Where spec and status speak of the same field and do not agree. A field that only one of them has says nothing. */
export function findFieldDifferences(spec: JsonObject, status: JsonObject): readonly Difference[] {
  const found: Difference[] = []
  // Looks at each part once, however deep it lies.
  const compare = (wanted: JsonObject, there: JsonObject, prefix: string): void => {
    for (const field of Object.keys(wanted)) {
      const [one, other] = [wanted[field], there[field]]
      if (one === undefined || other === undefined) continue
      const path = `${prefix}${field}`
      if (isObject(one) && isObject(other)) compare(one, other, `${path}.`)
      else if (!equal(one, other)) found.push({ path, spec: one, status: other })
    }
  }
  compare(spec, status, '')
  return found
}
