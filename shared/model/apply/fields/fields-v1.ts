import { isObject, type JsonObject } from '../../json.ts'
import { parseElement } from './field-path.ts'
import { byElement, fieldSet, leaf, type FieldSet } from './field-set.ts'

/** Marks a place as a member when something below it is in the set too; a place with nothing below needs no mark. */
const itself = '.'

/** Reads a stored set. Elements of kinds that this version does not know are left out. Throws SyntaxError. */
export function decodeFields(fields: JsonObject): FieldSet {
  return fieldSet(false, decodeChildren(fields))
}

function decodeChildren(fields: JsonObject): ReadonlyMap<string, FieldSet> {
  const children = new Map<string, FieldSet>()
  for (const key in fields) {
    const element = key === itself ? undefined : parseElement(key)
    if (element !== undefined) children.set(element, decodePlace(fields[key]))
  }
  return children
}

function decodePlace(fields: unknown): FieldSet {
  if (!isObject(fields)) throw new SyntaxError('fields must be an object')
  const children = decodeChildren(fields)
  return children.size === 0 ? leaf : fieldSet(Object.hasOwn(fields, itself), children)
}

/** The stored form: `decodeFields` gives the same set back, and equal sets give equal text. */
export function encodeFields(set: FieldSet): JsonObject {
  const fields: JsonObject = {}
  for (const [element, below] of [...set.children].sort(byElement)) fields[element] = encodePlace(below)
  return fields
}

function encodePlace(set: FieldSet): JsonObject {
  if (set === leaf) return {}
  return set.member ? { [itself]: {}, ...encodeFields(set) } : encodeFields(set)
}
