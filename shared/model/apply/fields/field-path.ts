import { parseJson } from '../../parse-json.ts'
import { isObject, type Json } from '../../json.ts'
import { numeral, quote } from '../../schema/field-error.ts'

/**
 * Path elements in FieldsV1 notation, one string each: `f:name` is a field or a map's key, `k:{"name":"http"}` a list
 * item by its keys, `v:"x"` a list item by its value, `i:0` a list item by its position. Strings made here are
 * canonical: the same place is always the same string.
 */

export function nameElement(name: string): string {
  return `f:${name}`
}

export function valueElement(value: Json): string {
  return `v:${JSON.stringify(value)}`
}

/** `keys` must be sorted by name. */
export function keyElement(keys: readonly (readonly [name: string, value: Json])[]): string {
  return `k:{${keys.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`
}

/**
 * The canonical form of an element somebody else wrote, or `undefined` for a kind of element this version does not
 * know, which Kubernetes drops. Throws SyntaxError for text that is no path element.
 */
export function parseElement(text: string): string | undefined {
  if (text.startsWith('f:') || usualElement.test(text)) return text
  if (text.startsWith('v:')) return valueElement(parseContent(text))
  if (text.startsWith('k:')) return canonicalKeyElement(text)
  if (text[1] !== ':' || text.startsWith('i:')) throw new SyntaxError(`not a path element: ${quote(text)}`)
  return undefined
}

/** Literals that can be written in one way only, alone or under a single key: nearly all elements there are. */
const usualElement = (() => {
  const number = '(?:0|[1-9]\\d{0,14})'
  const string = '"[^"\\\\\\x00-\\x1f]*"'
  const literal = `(?:${string}|${number}|true|false)`
  return new RegExp(`^(?:i:${number}|v:${literal}|k:\\{${string}:${literal}\\})$`)
})()

function canonicalKeyElement(text: string): string {
  const keys = parseContent(text)
  if (!isObject(keys)) throw new SyntaxError(`not a path element: ${quote(text)}`)
  return keyElement(fieldsOfKey(keys))
}

function parseContent(element: string): Json {
  return parseJson(element.slice(2)) as Json
}

function fieldsOfKey(keys: Json): [string, Json][] {
  const fields = Object.entries(isObject(keys) ? keys : {}) as [string, Json][]
  return fields.sort(([a], [b]) => (a < b ? -1 : 1))
}

/** A path as people read it: `.spec.ports[name="http"].port`. */
export function showPath(path: readonly string[]): string {
  return path.map(showElement).join('')
}

/** One element as people read it. */
export function showElement(element: string): string {
  if (element.startsWith('f:')) return `.${element.slice(2)}`
  if (element.startsWith('v:')) return `[=${showValue(parseContent(element))}]`
  if (element.startsWith('i:')) return `[${element.slice(2)}]`
  const fields = fieldsOfKey(parseContent(element))
  return `[${fields.map(([name, value]) => `${name}=${showValue(value)}`).join(',')}]`
}

function showValue(value: Json): string {
  if (typeof value === 'string') return quote(value)
  return typeof value === 'number' ? numeral(value) : JSON.stringify(value)
}
