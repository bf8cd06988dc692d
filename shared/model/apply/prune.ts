import type { Json, JsonObject } from '../json.ts'
import { nameElement } from './field-path.ts'
import { noFields, type FieldSet } from './field-set.ts'
import {
  itemElement,
  listIn,
  mapIn,
  shapeFor,
  typeOfEntry,
  type ListShape,
  type MapShape,
  type MergeType,
} from './merge-type.ts'

/** What is known about one place on the way down. */
interface Claims {
  /** What the manager applied last time. */
  readonly last: FieldSet
  /** What anybody claims now, the manager included. */
  readonly owned: FieldSet
  /** The place, or one above it, is among `last`. */
  readonly covered: boolean
  /** A covered place on the way is no longer owned by anybody. */
  readonly lost: boolean
}

/**
 * Removes what the manager applied last time and nobody claims any more. A declared field counts as claimed by whoever
 * claims something in it. What is emptied by that becomes null. Parts that stay whole come back as the same values.
 */
export function prune(
  object: JsonObject,
  type: MergeType,
  { last, owned }: { readonly last: FieldSet; readonly owned: FieldSet },
): JsonObject {
  return mapIn(pruneBelow(object, type, { last, owned, covered: false, lost: false }))
}

function pruneBelow(value: Json, type: MergeType, claims: Claims): Json {
  const shape = shapeFor(type, value)
  if (shape.kind === 'scalar' || shape.atomic) return value
  return shape.kind === 'map' ? pruneMap(mapIn(value), shape, claims) : pruneList(listIn(value), shape, claims)
}

function pruneMap(map: JsonObject, shape: MapShape, claims: Claims): Json {
  const entries = Object.entries(map).map(([key, value]) => {
    const place = { element: nameElement(key), declared: shape.fields.has(key), type: typeOfEntry(shape, key) }
    return [key, value === undefined ? undefined : pruneAt(value, place, claims)] as const
  })
  if (entries.every(([key, value]) => value === map[key])) return map
  const left = entries.filter(([, value]) => value !== undefined)
  return left.length === 0 ? null : Object.fromEntries(left)
}

function pruneList(list: readonly Json[], shape: ListShape, claims: Claims): Json {
  const left = list
    .map((item) => pruneAt(item, { element: itemElement(item, shape), declared: false, type: shape.items }, claims))
    .filter((item) => item !== undefined)
  if (left.length === list.length && left.every((item, i) => item === list[i])) return list as Json[]
  return left.length === 0 ? null : left
}

interface Place {
  readonly element: string
  readonly declared: boolean
  readonly type: MergeType
}

/** The value without what is lost in it; `undefined` if it is lost itself. */
function pruneAt(value: Json, { element, declared, type }: Place, claims: Claims): Json | undefined {
  const last = claims.last.children.get(element)
  if (last === undefined) return value
  const owned = claims.owned.children.get(element) ?? noFields
  const wasApplied = last.member || declared
  const isOwned = owned.member || (declared && owned !== noFields)
  const covered = claims.covered || wasApplied
  const lost = claims.lost || (covered && !isOwned)
  return wasApplied && lost ? undefined : pruneBelow(value, type, { last, owned, covered, lost })
}
