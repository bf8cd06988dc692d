import type { JsonObject } from './json.ts'

/**
 * The value of a JSON text, as JSON.parse should give it. V8 since 12.8 may take a name with an escape for another name
 * that it read before: `{"\"":1}` becomes `{"\\":1}` (https://github.com/nodejs/node/issues/63785). A text that has
 * such names is read a second time, by its tokens. Throws the SyntaxError of JSON.parse.
 */
export function parseJson(text: string): unknown {
  // oxlint-disable-next-line no-restricted-properties -- the one place
  const value: unknown = JSON.parse(text)
  return text.includes('\\') && escapedName.test(text) ? readTokens(text) : value
}

/** Finds every name with an escape; also some strings in lists, which do no harm. */
const escapedName = /[{,]\s*"[^"\\]*\\/

/** The tokens of a text that is known to be JSON: a name has its colon. */
const token = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[{}[\]]|[^\s{}[\],"]+/g

/** An object or a list that is being read. */
interface Open {
  readonly value: JsonObject | unknown[]
  /** Of the field that comes next in an object. */
  name: string
}

function readTokens(text: string): unknown {
  // What stands around everything is a list of one.
  const root: Open = { value: [], name: '' }
  const stack = [root]
  for (const [word, colon] of text.matchAll(token)) {
    const open = stack.at(-1) ?? root
    if (colon !== undefined) open.name = primitive(word.slice(0, -colon.length)) as string
    else if (word === '}' || word === ']') stack.pop()
    else if (word === '{' || word === '[') {
      const value = word === '{' ? {} : []
      put(open, value)
      stack.push({ value, name: '' })
    } else put(open, primitive(word))
  }
  return (root.value as unknown[])[0]
}

/** A text without names is read rightly. */
function primitive(word: string): unknown {
  // oxlint-disable-next-line no-restricted-properties -- see above
  return JSON.parse(word)
}

function put({ value: into, name }: Open, value: unknown): void {
  if (Array.isArray(into)) into.push(value)
  // An assignment to __proto__ would set no field.
  else Object.defineProperty(into, name, { value, writable: true, enumerable: true, configurable: true })
}
