import type { Json, JsonObject } from '../../json.ts'
import { nameElement } from '../fields/field-path.ts'
import { difference, fieldSet, intersection, noFields, union, type FieldSet } from '../fields/field-set.ts'
import { mapIn } from '../json-parts.ts'
import { fieldsOf } from './fields-of.ts'
import { itemElement, shapeFor, typeOfEntry, type ListShape, type MapShape, type MergeType } from './merge-type.ts'

/** What decides about pruning: what the manager applied last time, and what anybody claims now, itself included. */
export interface Claims {
  readonly last: FieldSet
  readonly owned: FieldSet
}

/**
 * Removes what the manager applied last time and nobody claims any more: takes out all it applied last time, puts back
 * what is owned, then what it had not applied. What is emptied by that becomes null, as in Kubernetes.
 */
export function pruneUnowned(object: JsonObject, type: MergeType, { last, owned }: Claims): JsonObject {
  const applied = withDeclared(last, type)
  const all = withDeclared(fieldsOf(object, type), type)
  const fieldsWithout = (fields: FieldSet) => withDeclared(fieldsOf(remove(object, fields, type), type), type)
  const unapplied = fieldsWithout(applied)
  const wanted = fieldsWithout(difference(all, union(unapplied, withDeclared(owned, type))))
  return remove(object, intersection(difference(all, wanted), applied), type)
}

/** The set with the declared fields that lead to its members: they go when nothing in them is left. */
function withDeclared(set: FieldSet, type: MergeType): FieldSet {
  const children = new Map<string, FieldSet>()
  for (const [element, below] of set.children) {
    const place = placeOf(element, type)
    const inside = place.type === undefined ? below : withDeclared(below, place.type)
    children.set(element, place.declared ? fieldSet(true, inside.children) : inside)
  }
  return fieldSet(set.member, children)
}

function placeOf(element: string, { map, list }: MergeType): { declared: boolean; type: MergeType | undefined } {
  if (!element.startsWith('f:')) return { declared: false, type: list?.items }
  const name = element.slice(2)
  return { declared: map?.fields.has(name) ?? false, type: map && typeOfEntry(map, name) }
}

function remove(object: JsonObject, fields: FieldSet, type: MergeType): JsonObject {
  return fields === noFields ? object : mapIn(removeBelow(object, fields, type))
}

function removeBelow(value: Json, fields: FieldSet, type: MergeType): Json {
  const shape = shapeFor(type, value)
  if (shape.kind === 'scalar' || shape.atomic) return value
  if (shape.kind === 'map') return removeEntries(mapIn(value), fields, shape)
  return Array.isArray(value) ? removeItems(value, fields, shape) : null
}

function removeEntries(map: JsonObject, fields: FieldSet, shape: MapShape): Json {
  const left: [string, Json][] = []
  for (const [key, value] of Object.entries(map)) {
    const below = fields.children.get(nameElement(key)) ?? noFields
    if (value === undefined || below.member) continue
    left.push([key, below === noFields ? value : removeBelow(value, below, typeOfEntry(shape, key))])
  }
  return left.length === 0 ? null : Object.fromEntries(left)
}

function removeItems(list: readonly Json[], fields: FieldSet, shape: ListShape): Json {
  const left: Json[] = []
  for (const item of list) {
    const below = fields.children.get(itemElement(item, shape)) ?? noFields
    if (!below.member) left.push(below === noFields ? item : removeBelow(item, below, shape.items))
  }
  return left.length === 0 ? null : left
}
