import { parseJson } from '../../parse-json.ts'
import { equal, isObject, type Json, type JsonObject } from '../../json.ts'
import type { ApiObject } from '../../object.ts'
import type { ServedKind } from '../../served-kind.ts'
import { isEmptyMap, listIn, mapIn } from '../json-parts.ts'
import {
  itemElement,
  mergeTypeOf,
  shapeFor,
  typeOfEntry,
  type ListShape,
  type MapShape,
  type MergeType,
} from './merge-type.ts'

/** An object with more values than this is not tracked for its sole writer: its fields would be longer than itself. */
const valuesMax = 5_000

/** An object of a kind, and its fields. Those of every object of the same shape are the same text. */
interface Known {
  readonly object: ApiObject
  readonly text: string | undefined
  /** Parts of other objects that were found to have the shape of this one's, by the field that they stand in. */
  readonly alike: WeakMap<object, string>
}

const known = new WeakMap<MergeType, Known[]>()
/** Objects of one kind mostly have few shapes. */
const shapesMax = 4

/**
 * All fields of an object that a writer of the whole of it manages, as the JSON of FieldsV1. It is what `recordWrite`
 * comes to for an object that was nothing before. Status with a path of its own is not among them, nor finalizers:
 * those of an object with a sole writer are the control plane's. `undefined` for an object that is too large.
 */
export function wholeFieldsText(
  { schema, hasStatus }: Pick<ServedKind, 'schema' | 'hasStatus'>,
  object: ApiObject,
): string | undefined {
  const type = mergeTypeOf(schema)
  let shapes = known.get(type)
  if (shapes === undefined) known.set(type, (shapes = []))
  const found = shapes.find((one) => hasShapeOf(one, object, type, hasStatus))
  if (found !== undefined) return found.text
  const left = { values: valuesMax }
  const made = objectFields(object, type, hasStatus, left)
  // One piece of memory, which every answer about such an object copies.
  const text = left.values < 0 ? undefined : JSON.stringify(parseJson(made))
  if (shapes.unshift({ object, text, alike: new WeakMap() }) > shapesMax) shapes.pop()
  return text
}

function hasShapeOf({ object: one, alike }: Known, other: ApiObject, type: MergeType, hasStatus: boolean): boolean {
  const shape = type.map as MapShape
  const names = Object.keys(one)
  const others = Object.keys(other)
  let i = 0
  for (const name of names) {
    if (hasStatus && name === 'status') continue
    while (hasStatus && others[i] === 'status') i++
    if (others[i++] !== name) return false
    const part = other[name]
    if (name === 'metadata') {
      if (!isMetadataAlike(one, other, shape)) return false
    } else if (!isObject(part) || alike.get(part) !== name) {
      if (!isAlike(one[name], part, typeOfEntry(shape, name))) return false
      if (isObject(part)) alike.set(part, name)
    }
  }
  return i === others.length || (hasStatus && i === others.length - 1 && others[i] === 'status')
}

function isMetadataAlike(one: ApiObject, other: ApiObject, shape: MapShape): boolean {
  const metaShape = typeOfEntry(shape, 'metadata').map as MapShape
  return writers.every((name) => {
    const [part, otherPart] = [one.metadata[name], other.metadata[name]]
    return part === otherPart || isAlike(part, otherPart, typeOfEntry(metaShape, name))
  })
}

/** Whether two values have the same fields. Items of lists are told by what they hold. */
function isAlike(one: Json | undefined, other: Json | undefined, type: MergeType): boolean {
  if (one === other) return true
  if (one === undefined || other === undefined) return false
  const shape = shapeFor(type, one)
  if (shape !== shapeFor(type, other)) return false
  if (shape.kind === 'scalar' || shape.atomic) return true
  if (shape.kind === 'list') return equal(one, other)
  const [map, otherMap] = [mapIn(one), mapIn(other)]
  const names = Object.keys(map)
  const others = Object.keys(otherMap)
  if (names.length !== others.length) return false
  for (let i = 0; i < names.length; i++) {
    const name = names[i] as string
    if (name !== others[i] || !isAlike(map[name], otherMap[name], typeOfEntry(shape, name))) return false
  }
  return true
}

/** How many more values are looked at. */
interface Left {
  values: number
}

function objectFields(object: ApiObject, type: MergeType, hasStatus: boolean, left: Left): string {
  const shape = type.map as MapShape
  let text = ''
  for (const name in object) {
    const value = object[name]
    if (value === undefined || name === 'apiVersion' || name === 'kind' || (hasStatus && name === 'status')) continue
    const part =
      name === 'metadata'
        ? metadataFields(object.metadata, shape, left)
        : fieldsOf(value, typeOfEntry(shape, name), left)
    if (part !== '') text += `${text === '' ? '' : ','}${fieldName(name)}${part}`
  }
  return `{${text}}`
}

/** What of metadata a writer decides, but for finalizers. */
const writers = ['labels', 'annotations', 'ownerReferences', 'generateName'] as const

function metadataFields(metadata: ApiObject['metadata'], shape: MapShape, left: Left): string {
  const metaShape = typeOfEntry(shape, 'metadata').map as MapShape
  let text = ''
  for (const name of writers) {
    const value = metadata[name]
    if (value === undefined) continue
    text += `${text === '' ? '' : ','}${fieldName(name)}${fieldsOf(value, typeOfEntry(metaShape, name), left)}`
  }
  return text === '' ? '' : `{${text}}`
}

function fieldsOf(value: Json, type: MergeType, left: Left): string {
  if (--left.values < 0) return '{}'
  const shape = shapeFor(type, value)
  if (shape.kind === 'scalar' || shape.atomic) return '{}'
  return shape.kind === 'map' ? entryFields(mapIn(value), shape, left) : itemFields(listIn(value), shape, left)
}

function entryFields(map: JsonObject, shape: MapShape, left: Left): string {
  if (isEmptyMap(map)) return '{}'
  let text = '{".":{}'
  for (const name in map) {
    const value = map[name]
    if (value !== undefined) text += `,${fieldName(name)}${fieldsOf(value, typeOfEntry(shape, name), left)}`
  }
  return `${text}}`
}

function itemFields(items: readonly Json[], shape: ListShape, left: Left): string {
  if (items.length === 0) return '{}'
  let text = '{".":{}'
  for (const [element, same] of Map.groupBy(items.slice(0, valuesMax + 1), (item) => itemElement(item, shape))) {
    const [item = null] = same
    text += `,${JSON.stringify(element)}:${same.length === 1 ? fieldsOf(item, shape.items, left) : '{}'}`
  }
  return `${text}}`
}

function fieldName(name: string): string {
  return plain.test(name) ? `"f:${name}":` : `${JSON.stringify(`f:${name}`)}:`
}

const plain = /^[\w./-]*$/
