import { equal, isObject, type Json, type JsonObject } from '../../model/json.ts'
import { canonicalJson } from '../../model/schema/canonical-json.ts'

/**
 * Paths of the fields that are declared and are otherwise outside, in order of their names. What is not declared is the
 * far side's to choose. Null and absent are the same; lists at the paths in `unordered` are compared without their
 * order.
 */
export function findDifferences(
  declared: JsonObject,
  observed: JsonObject,
  unordered: readonly string[] = [],
): readonly string[] {
  return findDiffering(declared, observed, { path: '', unordered }).toSorted()
}

interface Place {
  readonly path: string
  readonly unordered: readonly string[]
}

function findDiffering(declared: JsonObject, observed: JsonObject, { path, unordered }: Place): readonly string[] {
  return Object.entries(declared).flatMap(([field, value]) => {
    const at = { path: path === '' ? field : `${path}.${field}`, unordered }
    const is = observed[field]
    if (value === undefined) return []
    if (isObject(value)) return findDiffering(value, isObject(is) ? is : {}, at)
    return same(value, is, unordered.includes(at.path)) ? [] : [at.path]
  })
}

function same(declared: Json, observed: Json | undefined, isUnordered: boolean): boolean {
  if (isUnordered && Array.isArray(declared) && Array.isArray(observed))
    return equal(sortList(declared), sortList(observed))
  return equal(declared, observed ?? null)
}

function sortList(list: readonly Json[]): readonly string[] {
  return list.map(canonicalJson).toSorted()
}
