import { OperatingError } from '../../errors.ts'
import { isObject, type Json, type JsonObject } from '../../json.ts'
import { quote } from '../../schema/field-error.ts'
import { nameElement, showElement } from '../fields/field-path.ts'
import {
  itemElement,
  keyValue,
  shapeFor,
  type ListShape,
  type MapShape,
  type MergeType,
  type ScalarShape,
} from './merge-type.ts'

/** A place in a configuration that does not fit the schema, such as `.spec.colour`; empty for the whole. */
export interface Misfit {
  readonly path: string
  readonly message: string
}

/**
 * Why the configuration cannot be merged by its schema, worded as Kubernetes words it: undeclared fields, values of
 * another shape, list items without their keys or twice. Whether values are valid is for the schema validation. Throws
 * TOO_LARGE for more items of sets and keyed lists than can be merged and noted in a tenth of a second.
 */
export function checkConfig(config: JsonObject, type: MergeType): readonly Misfit[] {
  return misfits(config, type, { items: 0 })
}

/** The items of keyed lists so far, in all lists of a configuration. */
interface Tally {
  items: number
}

const keyedItemsMax = 6_000

function countItem(tally: Tally): void {
  if (++tally.items > keyedItemsMax)
    throw new OperatingError(
      'TOO_LARGE',
      `an apply may have at most ${keyedItemsMax} items in sets and in lists with keys`,
    )
}

const none: readonly Misfit[] = []

function misfits(value: Json, type: MergeType, tally: Tally): readonly Misfit[] {
  if (value === null) return none
  const shape = shapeFor(type, value)
  if (shape.kind === 'map')
    return isObject(value) ? entryMisfits(value, shape, tally) : describeUnexpected('map', value)
  if (shape.kind === 'list')
    return Array.isArray(value) ? itemMisfits(value, shape, tally) : describeUnexpected('list', value)
  return accepted[shape.accepts](value) ? none : describeUnexpected(scalarNames[shape.accepts], value)
}

const accepted: Record<ScalarShape['accepts'], (value: Json) => boolean> = {
  numeric: (value) => typeof value === 'number',
  string: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
  untyped: (value) => typeof value !== 'object',
}
const scalarNames: Record<ScalarShape['accepts'], string> = {
  numeric: 'numeric (int or float)',
  string: 'string',
  boolean: 'boolean',
  untyped: 'any scalar',
}

/** Says what kind of value was found, not the value: it may be a secret, or long. */
function describeUnexpected(wanted: string, value: Json): readonly Misfit[] {
  const found = Array.isArray(value) ? 'list' : isObject(value) ? 'map' : typeof value
  return [{ path: '', message: `expected ${wanted}, got ${found}` }]
}

function entryMisfits(map: JsonObject, shape: MapShape, tally: Tally): readonly Misfit[] {
  const found: Misfit[] = []
  for (const key in map) {
    const value = map[key]
    if (value === undefined) continue
    const type = shape.fields.get(key) ?? shape.others
    const inEntry = type === undefined ? undeclared : misfits(value, type, tally)
    if (inEntry.length > 0) found.push(...below(nameElement(key), inEntry))
    if (found.length >= misfitsMax) break
  }
  return found
}

/** More of them help nobody, and a reply has a limit. */
const misfitsMax = 100

const undeclared: readonly Misfit[] = [{ path: '', message: 'field not declared in schema' }]

function itemMisfits(list: readonly Json[], shape: ListShape, tally: Tally): readonly Misfit[] {
  const found: Misfit[] = []
  const seen = new Set<string>()
  for (const [i, item] of list.entries()) {
    found.push(
      ...(shape.atomic
        ? below(`i:${i}`, misfits(item, shape.items, tally))
        : findKeyedMisfits(item, i, { shape, seen, tally })),
    )
    if (found.length >= misfitsMax) break
  }
  return found
}

interface Keyed {
  readonly shape: ListShape
  /** The items before, by what identifies them. */
  readonly seen: Set<string>
  readonly tally: Tally
}

function findKeyedMisfits(item: Json, i: number, { shape, seen, tally }: Keyed): readonly Misfit[] {
  countItem(tally)
  const flaw = keyFlaw(item, shape)
  if (flaw !== undefined) return [{ path: '', message: `element ${i}: ${flaw}` }]
  const element = itemElement(item, shape)
  const inItem = below(element, misfits(item, shape.items, tally))
  const isRepeated = seen.has(element)
  seen.add(element)
  return isRepeated ? [{ path: '', message: `duplicate entries for key ${showElement(element)}` }, ...inItem] : inItem
}

function below(element: string, found: readonly Misfit[]): readonly Misfit[] {
  return found.length === 0 ? none : found.map(({ path, message }) => ({ path: showElement(element) + path, message }))
}

/** Why the item has no identity in its list. */
function keyFlaw(item: Json, { keys }: ListShape): string | undefined {
  if (keys.length === 0) return setItemFlaw(item)
  if (item === null) return 'associative list with keys may not have a null element'
  if (!isObject(item)) return 'associative list with keys may not have non-map elements'
  const missing = keys.find((key) => keyValue(item, key) === undefined)
  if (missing === undefined) return undefined
  return `associative list with keys has an element that omits key field ${quote(missing.name)} (and doesn't have default value)`
}

function setItemFlaw(item: Json): string | undefined {
  if (item === null) return "associative list without keys has an element that's an explicit null"
  if (Array.isArray(item)) return 'not supported: associative list with lists as elements'
  return isObject(item) ? "associative list without keys has an element that's a map type" : undefined
}
