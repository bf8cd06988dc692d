import { isObject, type JsonObject } from '../json.ts'
import { nameElement } from './fields/field-path.ts'
import { setOfPaths, type FieldSet } from './fields/field-set.ts'

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
  let left = object
  for (const [element, below] of reset.children) {
    const name = element.slice(2)
    const { [name]: value, ...others } = left
    if (below.member) left = others
    else if (isObject(value)) left = { ...others, [name]: withoutReset(value, below) }
  }
  return left
}
