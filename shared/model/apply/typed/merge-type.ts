import { isObject, type Json, type JsonObject } from '../../json.ts'
import type { StructuralSchema } from '../../schema/structural-schema.ts'
import { keyElement, valueElement } from '../fields/field-path.ts'
import { entryOf, isEmptyMap, listIn, mapIn } from '../json-parts.ts'
import { objectProperties } from '../../schema/object-meta.ts'

/**
 * How the values of one schema node merge. A node without a type may hold any of the three shapes, and the value at
 * hand decides which. A shape that is `atomic` is replaced whole and owned whole, like a scalar.
 */
export interface MergeType {
  readonly map?: MapShape
  readonly scalar?: ScalarShape
  readonly list?: ListShape
}

export type Shape = MapShape | ScalarShape | ListShape

export interface ScalarShape {
  readonly kind: 'scalar'
  readonly accepts: 'numeric' | 'string' | 'boolean' | 'untyped'
}

export interface MapShape {
  readonly kind: 'map'
  readonly atomic: boolean
  /** Declared fields: owned through what they hold. */
  readonly fields: ReadonlyMap<string, MergeType>
  /** Type of all other keys, which are owned themselves; absent when there may be none. */
  readonly others: MergeType | undefined
}

export interface ListShape {
  readonly kind: 'list'
  readonly atomic: boolean
  /** What identifies an item, sorted by name; without keys the list is a set and its items are their own keys. */
  readonly keys: readonly ListKey[]
  readonly items: MergeType
}

export interface ListKey {
  readonly name: string
  readonly default: Json | undefined
}

const compiled = new WeakMap<StructuralSchema, MergeType>()

/** The type of whole objects of a kind. `metadata` always merges as ObjectMeta. Compiled once per schema. */
export function mergeTypeOf(schema: StructuralSchema): MergeType {
  const known = compiled.get(schema)
  if (known !== undefined) return known
  const type = compile({ ...schema, type: 'object', properties: { ...schema.properties, ...objectProperties } }, false)
  compiled.set(schema, type)
  return type
}

/** `free`: the node or one above it preserves unknown fields, so anything may appear in it. */
function compile(schema: StructuralSchema, free: boolean): MergeType {
  const isFree = free || schema['x-kubernetes-preserve-unknown-fields'] === true
  switch (schema.type) {
    case 'object':
      return { map: mapShape(schema, isFree) }
    case 'array':
      return { list: listShape(schema, isFree) }
    case undefined:
      return { map: mapShape(schema, isFree), scalar: scalarOf('untyped'), list: listShape(schema, isFree) }
    default:
      return { scalar: scalarShape(schema) }
  }
}

function scalarShape({ type, format }: StructuralSchema): ScalarShape {
  if (type === 'integer' || type === 'number') return scalarOf('numeric')
  if (type === 'boolean') return scalarOf('boolean')
  // A format may stand for more than strings: int-or-string, quantities.
  return scalarOf(format === undefined || format === 'byte' ? 'string' : 'untyped')
}

function scalarOf(accepts: ScalarShape['accepts']): ScalarShape {
  return { kind: 'scalar', accepts }
}

function mapShape(schema: StructuralSchema, free: boolean): MapShape {
  const embedded = schema['x-kubernetes-embedded-resource'] === true ? objectProperties : undefined
  const properties = Object.entries({ ...schema.properties, ...embedded })
  return {
    kind: 'map',
    atomic: schema['x-kubernetes-map-type'] === 'atomic',
    fields: new Map(properties.map(([name, property]) => [name, compile(property, free)])),
    others: typeOfOthers(schema, free || properties.length === 0),
  }
}

function typeOfOthers({ additionalProperties }: StructuralSchema, free: boolean): MergeType | undefined {
  if (typeof additionalProperties === 'object') return compile(additionalProperties, free)
  return (additionalProperties ?? free) ? anything : undefined
}

function listShape(schema: StructuralSchema, free: boolean): ListShape {
  const listType = schema['x-kubernetes-list-type']
  const items = schema.items === undefined ? anything : compile(schema.items, free)
  const names = listType === 'map' ? (schema['x-kubernetes-list-map-keys'] ?? []) : []
  const keys = names.toSorted().map((name) => ({ name, default: schema.items?.properties?.[name]?.default }))
  return { kind: 'list', atomic: listType !== 'set' && listType !== 'map', keys, items }
}

/** Data without a schema: maps merge key by key, everything else is replaced whole. */
const anything: MergeType = {
  scalar: scalarOf('untyped'),
  list: {
    kind: 'list',
    atomic: true,
    keys: [],
    get items() {
      return anything
    },
  },
  map: {
    kind: 'map',
    atomic: false,
    fields: new Map(),
    get others() {
      return anything
    },
  },
}

/** The shape that `value` has among those the type allows. A value that fits none counts as the first of them. */
export function shapeFor({ map, scalar, list }: MergeType, value: Json): Shape {
  const fitting = Array.isArray(value) ? list : isObject(value) ? map : value === null ? undefined : scalar
  return fitting ?? map ?? scalar ?? (list as ListShape)
}

/** Whether a change from one value to the other is of one piece: the shape is atomic, or there is nothing in either. */
export function isWhole(shape: MapShape | ListShape, from: Json | undefined, to: Json | undefined): boolean {
  if (shape.atomic) return true
  if (shape.kind === 'list') return listIn(from).length === 0 && listIn(to).length === 0
  return isEmptyMap(mapIn(from)) && isEmptyMap(mapIn(to))
}

/** The type of a map's entry. Undeclared entries of live objects, left by an older schema, merge as free data. */
export function typeOfEntry(shape: MapShape, key: string): MergeType {
  return shape.fields.get(key) ?? shape.others ?? anything
}

/**
 * The path element of an item of a set or a keyed list. An item that lacks what identifies it stands for itself:
 * configurations with such items are refused, and live objects are not to be lost over them.
 */
export function itemElement(item: Json, { keys }: ListShape): string {
  if (keys.length === 0 || !isObject(item)) return valueElement(item)
  const found: [string, Json][] = []
  for (const key of keys) {
    const value = keyValue(item, key)
    if (value === undefined) return valueElement(item)
    found.push([key.name, value])
  }
  return keyElement(found)
}

/** The item's value for one of its list's keys; `undefined` if it has none and there is no default. */
export function keyValue(item: JsonObject, key: ListKey): Json | undefined {
  return entryOf(item, key.name) ?? key.default
}
