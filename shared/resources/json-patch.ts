import { OperatingError } from '../model/errors.ts'
import { copyJson, equal, isObject, type Json, type JsonObject } from '../model/json.ts'

/**
 * A list of copies doubles what there is with each of them. Moves count, since each walks all that it moves. Twice as
 * much as an object holds; Kubernetes has 3 MiB, and objects that are larger.
 */
const copiedLengthMax = 700 * 1024
/**
 * Items of lists that may move up or down: whatever is put in or taken out at the front of a long list moves all of it.
 */
const shiftedItemsMax = 100_000_000
/** Everything that walks an object recursively is safe below it. */
const depthMax = 200

/**
 * JSON Patch, RFC 6902 and what Kubernetes takes beyond it, all or nothing. Throws INVALID naming the operation that
 * does not fit, TOO_LARGE where operations copy or move too much. The target is not changed.
 */
export function jsonPatch(target: JsonObject, operations: readonly JsonObject[], spend?: Spend): JsonObject {
  const made = tryPatch(target, operations, spend)
  if ('object' in made) return made.object
  throw misfit(made.misfit, operations[made.misfit] ?? {})
}

/** The same, or the operation that does not fit, by its place. */
export function tryPatch(
  target: JsonObject,
  operations: readonly JsonObject[],
  spend?: Spend,
): { readonly object: JsonObject } | { readonly misfit: number } {
  const document: Root = { root: copyJson(target) }
  let copied = 0
  let shifted = 0
  for (const [i, sent] of operations.entries()) {
    const operation = parseOperation(sent)
    const [more, moved] = [measureCopied(document, operation), countShifted(document, operation)]
    copied += more
    shifted += moved
    spend?.(stepsOf(more, moved))
    if (copied > copiedLengthMax)
      throw new OperatingError('TOO_LARGE', 'the JSON patch copies and moves more than 700 KiB')
    if (shifted > shiftedItemsMax)
      throw new OperatingError('TOO_LARGE', `the JSON patch shifts more than ${shiftedItemsMax} items of lists`)
    if (!patchOnce(document, operation)) return { misfit: i }
  }
  if (isObject(document.root)) return { object: document.root }
  throw new OperatingError('INVALID', 'the JSON patch leaves no object')
}

/** Takes what an operation costs, in steps of thirty nanoseconds, and throws where that is too much. */
export type Spend = (steps: number) => void

function stepsOf(copied: number, shifted: number): number {
  return 10 + Math.ceil(copied / 2 + shifted / 40)
}

/** The document as a field of something, so that the whole of it can be replaced like any part. */
type Root = { root?: Json }

/** From the root to a place. */
type Path = readonly string[]

/** An operation with its places read; a place that is no pointer is undefined. */
interface Operation {
  readonly op: Json | undefined
  readonly path: Path | undefined
  readonly from: Path | undefined
  readonly value: Json | undefined
}

function parseOperation({ op, path, from, value }: JsonObject): Operation {
  return { op, path: pathOf(path), from: pathOf(from), value }
}

/**
 * INVALID with the operation that does not fit. What is no operation and no path is not told: it may be a value in the
 * wrong place.
 */
export function misfit(i: number, { op, path }: JsonObject): OperatingError {
  const verb = typeof op === 'string' && verbs.has(op) ? op : 'an unknown op'
  const place = typeof path === 'string' && pathOf(path) !== undefined ? path : 'at what is no path'
  const what = `operation ${i}, ${verb} ${place}`.slice(0, shownLength)
  return new OperatingError('INVALID', `the JSON patch does not fit the object: ${what}`)
}

const verbs: ReadonlySet<string> = new Set(['add', 'remove', 'replace', 'test', 'copy', 'move'])

const shownLength = 1_000

function measureCopied(document: Root, { op, from }: Operation): number {
  const value = from && (op === 'copy' || op === 'move') ? find(document, from) : undefined
  return value === undefined ? 0 : JSON.stringify(value).length
}

function countShifted(document: Root, { op, path, from }: Operation): number {
  switch (op) {
    case 'add':
    case 'copy':
    case 'remove':
      return itemsBehind(document, path)
    case 'replace':
      return 2 * itemsBehind(document, path)
    case 'move':
      return itemsBehind(document, from) + itemsBehind(document, path)
    default:
      return 0
  }
}

/** Of a place in a list, how many items stand there and behind it. */
function itemsBehind(document: Root, path: Path | undefined): number {
  const [list, step] = path === undefined ? [] : parentOf(document, path)
  if (!Array.isArray(list) || step === undefined) return 0
  return Math.max(0, list.length - (placeIn(step, list.length) ?? list.length))
}

/** Whether the operation fits. */
function patchOnce(document: Root, { op, path, from, value }: Operation): boolean {
  if (path === undefined) return false
  switch (op) {
    case 'add':
      return insert(document, path, value)
    case 'remove':
      return take(document, path) !== undefined
    case 'replace':
      return (hasFields(document, path) || take(document, path) !== undefined) && insert(document, path, value)
    case 'test':
      return value !== undefined && (equal(find(document, path), value) || isAbsent(document, path, value))
    case 'copy':
      return from !== undefined && insert(document, path, find(document, from))
    case 'move':
      return from !== undefined && !isWithin(path, from) && insert(document, path, take(document, from))
    default:
      return false
  }
}

/** Kubernetes takes a `replace` of a field that is not there for an `add`: fields that Go leaves out are not seen. */
function hasFields(document: Root, path: Path): boolean {
  return isObject(parentOf(document, path)[0])
}

/** Kubernetes takes a `test` for null to ask that an object has no such field. */
function isAbsent(document: Root, path: Path, value: Json): boolean {
  const [parent, step] = parentOf(document, path)
  return value === null && isObject(parent) && !Object.hasOwn(parent, step)
}

/** Truly below: what is moved is not there any more to be moved into. */
function isWithin(path: Path, other: Path): boolean {
  return path.length > other.length && other.every((step, i) => step === path[i])
}

/** The steps of a JSON pointer, RFC 6901; undefined if it is none. */
function pathOf(pointer: Json | undefined): Path | undefined {
  if (typeof pointer !== 'string' || (pointer !== '' && !pointer.startsWith('/'))) return undefined
  const [, ...steps] = pointer.split('/')
  if (!pointer.includes('~')) return ['root', ...steps]
  return ['root', ...steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))]
}

function find(document: Root, path: Path): Json | undefined {
  let found: Json | undefined = document
  for (const step of path) found = member(found, step)
  return found
}

/** A field of the object's own, `constructor` like any other, or an item of a list. */
function member(parent: Json | undefined, step: string): Json | undefined {
  if (Array.isArray(parent)) return parent[placeIn(step, parent.length) ?? -1]
  return isObject(parent) && Object.hasOwn(parent, step) ? parent[step] : undefined
}

/** The place that a step means in a list. Below zero it counts from the end, as Kubernetes has it. */
function placeIn(step: string, length: number): number | undefined {
  if (!/^(?:0|-?[1-9]\d*)$/.test(step)) return undefined
  const place = Number(step)
  return place < 0 ? place + length : place
}

/** Takes a value out; undefined if there is none. */
function take(document: Root, path: Path): Json | undefined {
  const [parent, step] = parentOf(document, path)
  const value = member(parent, step)
  if (value === undefined) return undefined
  if (Array.isArray(parent)) parent.splice(placeIn(step, parent.length) ?? 0, 1)
  else delete (parent as JsonObject)[step]
  return value
}

/** Puts a value into a field or before an item of a list; whether that can be. The value stays the caller's. */
function insert(document: Root, path: Path, value: Json | undefined): boolean {
  const [parent, step] = parentOf(document, path)
  if (value === undefined || isDeeper(value, depthMax - path.length)) return false
  if (Array.isArray(parent)) return insertItem(parent, step, copyJson(value))
  if (!isObject(parent) || step === '__proto__') return false
  parent[step] = copyJson(value)
  return true
}

function insertItem(list: Json[], step: string, value: Json): boolean {
  const at = step === '-' ? list.length : placeIn(step, list.length + 1)
  if (at === undefined || at < 0 || at > list.length) return false
  list.splice(at, 0, value)
  return true
}

function parentOf(document: Root, path: Path): readonly [Json | undefined, string] {
  return [find(document, path.slice(0, -1)), path.at(-1) ?? '']
}

function isDeeper(value: Json | undefined, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels <= 0 || Object.values(value).some((part) => isDeeper(part, levels - 1))
}
