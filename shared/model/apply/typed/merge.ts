import { equal, type Json, type JsonObject } from '../../json.ts'
import { entryOf, listIn, mapIn } from '../json-parts.ts'
import {
  isWhole,
  itemElement,
  shapeFor,
  typeOfEntry,
  type ListShape,
  type MapShape,
  type MergeType,
} from './merge-type.ts'

/**
 * The live value with the configuration laid over it. Nothing goes away. Parts that the configuration leaves as they
 * are come back as the same values, so `===` tells whether anything changed.
 */
export function merge(live: Json | undefined, config: Json, type: MergeType): Json {
  if (live === undefined) return config
  const shape = shapeFor(type, config)
  if (shape.kind === 'scalar' || isWhole(shape, live, config)) return equal(live, config) ? live : config
  return shape.kind === 'map' ? mergeMaps(live, mapIn(config), shape) : mergeLists(live, listIn(config), shape)
}

function mergeMaps(live: Json, config: JsonObject, shape: MapShape): Json {
  const base = mapIn(live)
  const changes: [string, Json][] = []
  for (const key in config) {
    const wanted = config[key]
    if (wanted === undefined) continue
    const current = entryOf(base, key)
    const merged = merge(current, wanted, typeOfEntry(shape, key))
    if (merged !== current) changes.push([key, merged])
  }
  // Spread and fromEntries define fields; assignment would let a key `__proto__` set the prototype.
  return changes.length === 0 ? live : { ...base, ...Object.fromEntries(changes) }
}

function mergeLists(live: Json, config: readonly Json[], shape: ListShape): Json {
  const current = listIn(live).map((item) => toKeyed(item, shape))
  const wanted = config.map((item) => toKeyed(item, shape))
  const liveItems = Map.groupBy(current, ({ element }) => element)
  const merged = weave(current, wanted).map(({ element, item }) => {
    const found = liveItems.get(element) ?? []
    // Duplicates are left over from a time without the list type: none of them is the one to merge with.
    return found.length === 1 ? merge(found[0]?.item, item, shape.items) : item
  })
  const unchanged = merged.length === current.length && merged.every((item, i) => item === current[i]?.item)
  return unchanged ? live : merged
}

interface Keyed {
  readonly element: string
  readonly item: Json
}

function toKeyed(item: Json, shape: ListShape): Keyed {
  return { element: itemElement(item, shape), item }
}

/**
 * The order of merged lists. Shared items stand as wanted, items that are only live stay where they are between them,
 * and new ones come right before the shared item that follows them in what is wanted.
 */
function weave(current: readonly Keyed[], wanted: readonly Keyed[]): readonly Keyed[] {
  const isWanted = new Set(wanted.map(({ element }) => element))
  const runs = runsUpToShared(wanted, new Set(current.map(({ element }) => element)))
  const woven: Keyed[] = []
  let next = 0
  for (const item of current) {
    if (!isWanted.has(item.element)) woven.push(item)
    else if (runs[next]?.at(-1)?.element === item.element) woven.push(...(runs[next++] ?? []))
  }
  return [...woven, ...runs.slice(next).flat()]
}

/** Cuts the wanted items after each one that is live too. */
function runsUpToShared(wanted: readonly Keyed[], live: ReadonlySet<string>): readonly (readonly Keyed[])[] {
  let run: Keyed[] = []
  const runs = [run]
  for (const item of wanted) {
    run.push(item)
    if (live.has(item.element)) runs.push((run = []))
  }
  return runs
}
