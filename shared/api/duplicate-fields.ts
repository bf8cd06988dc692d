import { parseJson } from '../model/parse-json.ts'
import { isObject, type Json } from '../model/json.ts'
import { child, entry } from '../model/schema/field-error.ts'

const faults = new WeakMap<object, readonly string[]>()

/** Remembers with a body what is wrong with its text, and harms nothing. */
export function noteFaults(body: Json, found: readonly string[]): void {
  if (found.length > 0 && typeof body === 'object' && body !== null) faults.set(body, found)
}

export function faultsOf(body: object): readonly string[] {
  return faults.get(body) ?? none
}

/** Remembers with a body what its text says twice. */
export function noteDuplicates(text: string, body: Json): void {
  const found = findDuplicateFields(text, body)
  if (found.length > 0)
    noteFaults(
      body,
      found.map((field) => `duplicate field "${field}"`),
    )
}

/**
 * Fields that a JSON text names twice in one object, by their paths: JSON.parse keeps the last of them without a word.
 * Most texts cost a count: as many names as fields, and there is none twice.
 */
function findDuplicateFields(text: string, value: unknown): readonly string[] {
  return countNames(text) === countFields(value) ? none : scan(text)
}

const none: readonly string[] = []
/** As many as a reply has room for. */
const duplicatesMax = 100

/** No fewer than there are: a text may hold what looks like a name. */
function countNames(text: string): number {
  let count = 0
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) {
    let next = at + 1
    while (isSpace(text.charCodeAt(next))) next++
    if (text.charCodeAt(next) === colon) count++
  }
  return count
}

function countFields(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + countFields(item), 0)
  if (!isObject(value)) return 0
  let count = 0
  for (const name in value) count += 1 + countFields(value[name])
  return count
}

const colon = 0x3a

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}

/** An object or a list that the scan stands in. */
interface Open {
  readonly path: string
  /** Of an object: the names so far. */
  readonly names: Set<string> | undefined
  /** The field, or the number of the item, that comes next. */
  at: string | number
}

/** The text is known to be JSON. A string is a name where a colon follows. */
function scan(text: string): readonly string[] {
  const found = new Set<string>()
  const stack: Open[] = []
  const token = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\],]/g
  for (const [word, isName] of text.matchAll(token)) {
    const open = stack.at(-1)
    if (word === '{' || word === '[')
      stack.push({ path: pathIn(open), names: word === '{' ? new Set() : undefined, at: 0 })
    else if (word === '}' || word === ']') stack.pop()
    else if (word === ',' && typeof open?.at === 'number') open.at++
    else if (isName !== undefined && open?.names !== undefined)
      enter(open, parseJson(word.slice(0, word.length - isName.length)) as string, found)
  }
  return [...found]
}

function enter(open: Open, name: string, found: Set<string>): void {
  open.at = name
  if (open.names?.has(name) === true && found.size < duplicatesMax) found.add(child(open.path, name))
  open.names?.add(name)
}

function pathIn(open: Open | undefined): string {
  if (open === undefined) return ''
  return typeof open.at === 'string' ? child(open.path, open.at) : entry(open.path, open.at)
}
