import type { JsonObject } from './json.ts'
import { child, entry } from './schema/field-error.ts'

/** Everything that walks an object recursively is safe below it. */
const depthMax = 200

/**
 * What is the first part of a value that JSON cannot say as it is, such as `status.size is NaN`, and what JSON has
 * instead; undefined if there is none. Fields that are undefined count as absent, and an object of any class as its
 * fields, unless it has others than those.
 */
export function foreignPart(value: unknown, path: string): string | undefined {
  const found = isPlain(value, 0) ? undefined : foreign(value, path, 0)
  return found && `${found}; JSON has strings, numbers, booleans, null, lists and plain objects`
}

/**
 * Refuses a value of an author's code with a foreign part: some of it would be lost without a word, and what is kept
 * would never be what was given. Throws a TypeError that begins with `refused`.
 */
export function refuseForeign(value: unknown, path: string, refused: string): void {
  const found = foreignPart(value, path)
  if (found !== undefined) throw new TypeError(`${refused}: ${found}`)
}

/** Surely without a foreign part: what is asked after each run, and costs a tenth of looking for its path. */
function isPlain(value: unknown, depth: number): boolean {
  if (typeof value !== 'object') return typeof value === 'number' ? Number.isFinite(value) : isText(value)
  if (value === null) return true
  if (depth === depthMax) return false
  // Holes are skipped by the one and found by the other.
  if (Array.isArray(value)) return value.every((item) => isPlain(item, depth + 1)) && !value.includes(undefined)
  return Object.getPrototypeOf(value) === Object.prototype && hasPlainFields(value as JsonObject, depth + 1)
}

function isText(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'boolean'
}

function hasPlainFields(fields: JsonObject, depth: number): boolean {
  for (const name in fields) {
    const field = fields[name]
    if (field !== undefined && !isPlain(field, depth)) return false
  }
  return true
}

function foreign(value: unknown, path: string, depth: number): string | undefined {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return undefined
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : `${path} is ${value}`
  if (typeof value !== 'object') return `${path} is of type ${typeof value}`
  if (depth === depthMax) return `${path.slice(0, 100)} is nested deeper than ${depthMax} levels`
  return Array.isArray(value) ? foreignItem(value, path, depth + 1) : foreignField(value, path, depth + 1)
}

function foreignItem(items: readonly unknown[], path: string, depth: number): string | undefined {
  for (const [i, item] of items.entries()) {
    const found = foreign(item, entry(path, i), depth)
    if (found !== undefined) return found
  }
  return undefined
}

function foreignField(fields: object, path: string, depth: number): string | undefined {
  if (isMoreThanFields(fields)) return `${path} is of class ${fields.constructor?.name}`
  for (const [name, field] of Object.entries(fields)) {
    const found = field === undefined ? undefined : foreign(field, child(path, name), depth)
    if (found !== undefined) return found
  }
  return undefined
}

/** Dates, maps, bytes, and whatever else the language has or tells JSON something else. */
function isMoreThanFields(value: object): boolean {
  if (Object.getPrototypeOf(value) === Object.prototype) return false
  return 'toJSON' in value || Object.prototype.toString.call(value) !== '[object Object]'
}
