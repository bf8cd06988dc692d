import { isObject, type JsonObject } from '../json.ts'
import { nameElement } from './field-path.ts'
import { noFields, setOfPaths, type FieldSet } from './field-set.ts'

/**
 * Fields that cannot be written through the path a request came by, such as the status of the whole object: names on
 * the way to each. They stay as they are, and nobody comes to own them.
 */
export type ResetFields = readonly (readonly string[])[]

export function setOfReset(resetFields: ResetFields): FieldSet {
  return setOfPaths(resetFields.map((path) => path.map(nameElement)))
}

/** The object without the given fields. */
export function withoutReset(object: JsonObject, reset: FieldSet): JsonObject {
  if (reset === noFields) return object
  const left = Object.entries(object).flatMap(([name, value]) => {
    const below = reset.children.get(nameElement(name)) ?? noFields
    if (below.member) return []
    return [[name, isObject(value) ? withoutReset(value, below) : value] as const]
  })
  return Object.fromEntries(left)
}
