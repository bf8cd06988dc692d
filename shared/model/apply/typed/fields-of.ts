import { isObject, type Json, type JsonObject } from '../../json.ts'
import { nameElement } from '../fields/field-path.ts'
import { fieldSet, leaf, noFields, type FieldSet } from '../fields/field-set.ts'
import { isEmptyMap, listIn, mapIn } from '../json-parts.ts'
import { itemElement, shapeFor, typeOfEntry, type ListShape, type MapShape, type MergeType } from './merge-type.ts'

/**
 * The fields that an object lays claim to: every scalar and atomic value in it, list items, keys of free maps, and what
 * is null or an empty map. Declared maps and lists are not claimed themselves: they come and go with what they hold.
 */
export function fieldsOf(object: JsonObject, type: MergeType): FieldSet {
  return claim(object, type, false)
}

function claim(value: Json, type: MergeType, member: boolean): FieldSet {
  const shape = shapeFor(type, value)
  if (shape.kind === 'scalar' || shape.atomic) return leaf
  return fieldSet(member, shape.kind === 'map' ? entryClaims(mapIn(value), shape) : itemClaims(listIn(value), shape))
}

function entryClaims(map: JsonObject, shape: MapShape): ReadonlyMap<string, FieldSet> {
  const claims = new Map<string, FieldSet>()
  for (const key in map) {
    const value = map[key]
    if (value === undefined) continue
    const member = !shape.fields.has(key) || value === null || (isObject(value) && isEmptyMap(value))
    const claimed = claim(value, typeOfEntry(shape, key), member)
    if (claimed !== noFields) claims.set(nameElement(key), claimed)
  }
  return claims
}

function itemClaims(list: readonly Json[], shape: ListShape): ReadonlyMap<string, FieldSet> {
  return new Map(list.map((item) => [itemElement(item, shape), claim(item, shape.items, true)]))
}
