import { isObject } from '../json.ts'

/** The JSON text with fields in order of their names: two values have the same text exactly if they are equal. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object') return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value) && value.length === 0) return '[]'
  if (isInOrder(value)) return JSON.stringify(value)
  return JSON.stringify(value, (_field, part: unknown) => (isObject(part) ? sortByName(part) : part)) ?? 'null'
}

/**
 * Whether all fields are in order of their names. Names that begin with a digit are in none: JavaScript moves some of
 * them.
 */
function isInOrder(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.every(isInOrder)
  let last = '9\uffff'
  for (const [name, part] of Object.entries(value)) {
    if (name <= last || !isInOrder(part)) return false
    last = name
  }
  return true
}

/** JavaScript puts names that are whole numbers ahead of the others, here and in `canonicalStart`. */
function sortByName(object: object): object {
  return Object.fromEntries(Object.entries(object).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/**
 * The same text as far as so many characters: a value of any size costs no more. Fields of very large objects come as
 * they are.
 */
export function canonicalStart(value: unknown, length: number): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, length)).slice(0, length)
  if (typeof value !== 'object' || value === null) return canonicalJson(value)
  const isList = Array.isArray(value)
  let text = isList ? '[' : '{'
  for (const [name, part] of entriesOf(value)) {
    if (text.length >= length) return text.slice(0, length)
    if (part === undefined && !isList) continue
    const label = isList ? '' : `${JSON.stringify(name)}:`
    text += `${text.length > 1 ? ',' : ''}${label}${canonicalStart(part, length)}`
  }
  return `${text}${isList ? ']' : '}'}`
}

const sortedMost = 1_000

function entriesOf(value: object): readonly (readonly [string, unknown])[] {
  const entries = Object.entries(value)
  if (Array.isArray(value) || entries.length > sortedMost) return entries
  return Object.entries(sortByName(value))
}
