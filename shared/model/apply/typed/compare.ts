import { equal, type Json, type JsonObject } from '../../json.ts'
import { nameElement } from '../fields/field-path.ts'
import { fieldSet, leaf, noFields, union, type FieldSet } from '../fields/field-set.ts'
import { entryOf, listIn, mapIn } from '../json-parts.ts'
import {
  isWhole,
  itemElement,
  shapeFor,
  typeOfEntry,
  type ListShape,
  type MapShape,
  type MergeType,
  type Shape,
} from './merge-type.ts'

export interface Comparison {
  /** Fields that were added or have another value now. */
  readonly written: FieldSet
  readonly removed: FieldSet
}

/** What changed from one object to the other. An added or removed map or list counts itself, with all that is in it. */
export function compare(before: JsonObject, after: JsonObject, type: MergeType): Comparison {
  return {
    written: gains({ from: before, to: after }, type, equal),
    removed: gains({ from: after, to: before }, type, () => true),
  }
}

interface Step {
  readonly from: Json | undefined
  readonly to: Json | undefined
}

/** Whether a value present on both sides counts as kept. */
type Kept = (from: Json | undefined, to: Json | undefined) => boolean

/** The fields of `to` that `from` does not have, or has without their being `kept`. */
function gains({ from, to }: Step, type: MergeType, kept: Kept): FieldSet {
  if (to === undefined || from === to) return noFields
  const shape = shapeFor(type, to)
  const gained = gainsAs(shape, { from, to }, kept)
  if (from === undefined) return gained
  const formerShape = shapeFor(type, from)
  return formerShape === shape ? gained : union(gained, gainsAs(formerShape, { from, to }, kept))
}

function gainsAs(shape: Shape, step: Step, kept: Kept): FieldSet {
  const isNew = step.from === undefined
  if (shape.kind === 'scalar' || isWhole(shape, step.from, step.to)) {
    return isNew || !kept(step.from, step.to) ? leaf : noFields
  }
  return fieldSet(isNew, shape.kind === 'map' ? entryGains(step, shape, kept) : itemGains(step, shape, kept))
}

function entryGains(step: Step, shape: MapShape, kept: Kept): ReadonlyMap<string, FieldSet> {
  const [from, to] = [mapIn(step.from), mapIn(step.to)]
  const gained = new Map<string, FieldSet>()
  for (const key in to) {
    const fields = gains({ from: entryOf(from, key), to: to[key] }, typeOfEntry(shape, key), kept)
    if (fields !== noFields) gained.set(nameElement(key), fields)
  }
  return gained
}

function itemGains(step: Step, shape: ListShape, kept: Kept): ReadonlyMap<string, FieldSet> {
  const [from, to] = [groupItems(step.from, shape), groupItems(step.to, shape)]
  const gained = new Map<string, FieldSet>()
  for (const [element, items] of to) {
    const fields = itemGain({ from: from.get(element) ?? [], to: items }, shape, kept)
    if (fields !== noFields) gained.set(element, fields)
  }
  return gained
}

/** Duplicates, left over from a time without the list type, are compared and claimed as one piece. */
function itemGain({ from, to }: { from: Json[]; to: Json[] }, shape: ListShape, kept: Kept): FieldSet {
  if (to.length === 1) return gains({ from: from.length === 1 ? from[0] : undefined, to: to[0] }, shape.items, kept)
  return from.length > 1 && kept(from, to) ? noFields : leaf
}

function groupItems(value: Json | undefined, shape: ListShape): ReadonlyMap<string, Json[]> {
  return Map.groupBy(listIn(value), (item) => itemElement(item, shape))
}
