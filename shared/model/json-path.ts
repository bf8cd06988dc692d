import { isObject, type Json } from './json.ts'

/**
 * The values a path leads to, in order; none where the path leads nowhere. Never throws, never changes the value.
 * Searches that are given the same work share it.
 */
export type JsonPath = (value: Json, work?: Work) => readonly Json[]

/** What is left of the work of a search, in values looked at. What is not found by its end is not found. */
export interface Work {
  values: number
}

/**
 * Compiles a JSON path as printer columns write them, in kubectl's dialect without its `range`: `.spec.replicas`,
 * `.metadata.labels['app\.kubernetes\.io/name']`, `[0]`, `[-1]`, `[1:3]`, `[*]`, `['a','b']`, `..name`,
 * `[?(@.type=="Ready")]`. Throws a SyntaxError that says where the path goes wrong, and what was expected there.
 */
export function compileJsonPath(text: string): JsonPath {
  const cursor: Cursor = { text, at: 0 }
  if (text.length > longestPath) throw fault(cursor, `a path has at most ${longestPath} characters`)
  const first = text.charAt(0)
  if (first !== '.' && first !== '[' && first !== '$' && first !== '@') throw fault(cursor, 'a path begins with a dot')
  const path = parsePath(cursor, false)
  if (cursor.at < text.length) throw fault(cursor, 'expected a dot or "["')
  return (value, work = { values: searchedValuesMax }) => path(value, work)
}

const longestPath = 1_000

/** A step leads from one value to those after it. */
type Step = (value: Json, work: Work) => readonly Json[]

/** No search looks at more values than this: `..*` after `..*` would find a hundred thousand in a small object. */
const searchedValuesMax = 1_000

function inSequence(steps: readonly Step[]): Search {
  return (value, work) => {
    let values: readonly Json[] = [value]
    for (const step of steps) values = afterStep(step, values, work)
    return values
  }
}

type Search = (value: Json, work: Work) => readonly Json[]

function afterStep(step: Step, values: readonly Json[], work: Work): readonly Json[] {
  const found: Json[] = []
  for (const value of values) {
    if (work.values-- <= 0) return found
    for (const one of step(value, work)) {
      if (found.length >= searchedValuesMax) return found
      found.push(one)
    }
  }
  return found
}

interface Cursor {
  readonly text: string
  at: number
}

function fault({ text, at }: Cursor, expected: string): SyntaxError {
  return new SyntaxError(`${JSON.stringify(text.slice(0, longestPath))}, at ${at + 1}: ${expected}`)
}

function startsWith({ text, at }: Cursor, token: string): boolean {
  return text.startsWith(token, at)
}

/** Steps over the token if it is next. */
function take(cursor: Cursor, token: string): boolean {
  if (!startsWith(cursor, token)) return false
  cursor.at += token.length
  return true
}

function takeAll(cursor: Cursor, expression: RegExp): string {
  const sticky = new RegExp(expression.source, 'y')
  sticky.lastIndex = cursor.at
  const [found = ''] = sticky.exec(cursor.text) ?? []
  cursor.at += found.length
  return found
}

function parsePath(cursor: Cursor, inFilter: boolean): Search {
  if (!take(cursor, '$')) take(cursor, '@')
  const steps: Step[] = []
  for (;;) {
    if (take(cursor, '..')) steps.push(descendants, ...nameAfterDots(cursor, inFilter))
    else if (take(cursor, '.')) steps.push(...fieldAfterDot(cursor, inFilter, steps.length === 0))
    else if (take(cursor, '[?(')) steps.push(parseFilter(cursor))
    else if (take(cursor, '[')) steps.push(parseSelection(cursor))
    else return inSequence(steps)
  }
}

function nameAfterDots(cursor: Cursor, inFilter: boolean): Step[] {
  if (startsWith(cursor, '.')) throw fault(cursor, 'expected a name after ".."')
  return startsWith(cursor, '[') ? [] : [parseName(cursor, inFilter)]
}

/** A path that is but a dot leads to the value itself. */
function fieldAfterDot(cursor: Cursor, inFilter: boolean, isFirst: boolean): Step[] {
  const isAlone = isFirst && (cursor.at === cursor.text.length || startsWith(cursor, '['))
  return isAlone ? [] : [parseName(cursor, inFilter)]
}

function parseName(cursor: Cursor, inFilter: boolean): Step {
  const name = takeAll(cursor, inFilter ? /(?:\\.|[^\s.,[\]$@{}\\!<>=()])+/ : /(?:\\.|[^\s.,[\]$@{}\\])+/)
  if (name === '') throw fault(cursor, 'expected the name of a field')
  return name === '*' ? everything : field(name.replace(/\\(.)/g, '$1'))
}

function field(name: string): Step {
  return (value) => {
    const found = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
    return found === undefined ? [] : [found]
  }
}

const everything: Step = (value) => {
  if (Array.isArray(value)) return value
  if (!isObject(value)) return []
  const found: Json[] = []
  for (const name in value) {
    const inner = value[name]
    if (inner !== undefined) found.push(inner)
    if (found.length >= searchedValuesMax) break
  }
  return found
}

/** The value and all that is in it, outer before inner, as far as it has something in it. */
const descendants: Step = (value, work) => {
  const found: Json[] = []
  const waiting = [value]
  for (let next = waiting.pop(); next !== undefined && work.values-- > 0; next = waiting.pop()) {
    const inner = everything(next, work)
    if (inner.length > 0) found.push(next)
    for (let i = Math.min(inner.length, searchedValuesMax) - 1; i >= 0; i--) waiting.push(inner[i] as Json)
  }
  return found
}

/** What stands in brackets: one selector or several with commas between. */
function parseSelection(cursor: Cursor): Step {
  const steps = [parseSelector(cursor)]
  while (take(cursor, ',')) steps.push(parseSelector(cursor))
  if (!take(cursor, ']')) throw fault(cursor, 'expected "]"')
  return (value, work) => steps.flatMap((step) => (work.values-- > 0 ? step(value, work) : []))
}

function parseSelector(cursor: Cursor): Step {
  takeAll(cursor, / */)
  const selector = parseQuotedName(cursor) ?? parseSlice(cursor)
  takeAll(cursor, / */)
  return selector
}

/** A name in quotes is itself a path: a dot that belongs to the name has a backslash, here as elsewhere. */
function parseQuotedName(cursor: Cursor): Step | undefined {
  if (startsWith(cursor, '"')) throw fault(cursor, "names in brackets stand in single quotes: ['name']")
  if (!take(cursor, "'")) return undefined
  const name = takeAll(cursor, /[^']*/)
  if (!take(cursor, "'")) throw fault(cursor, 'expected a closing quote')
  const inner: Cursor = { text: `.${name}`, at: 0 }
  const path = parsePath(inner, false)
  if (inner.at < inner.text.length)
    throw fault(cursor, `${name} is no name of a field; put a backslash before the dots in it`)
  return path
}

function parseSlice(cursor: Cursor): Step {
  if (take(cursor, '*')) return everything
  const start = takeAll(cursor, /-?\d*/)
  if (!take(cursor, ':')) {
    if (!/\d/.test(start)) throw fault(cursor, 'expected a position, a slice, "*" or a name in quotes')
    return item(Number(start))
  }
  const end = takeAll(cursor, /-?\d*/)
  const step = take(cursor, ':') ? takeAll(cursor, /\d*/) : ''
  if (step !== '' && Number(step) === 0) throw fault(cursor, 'the step of a slice must be above 0')
  return slice({ start: number(start) ?? 0, end: number(end), step: number(step) ?? 1 })
}

function number(digits: string): number | undefined {
  return /\d/.test(digits) ? Number(digits) : undefined
}

function item(position: number): Step {
  return (value) => {
    const found = Array.isArray(value) ? value.at(position) : undefined
    return found === undefined ? [] : [found]
  }
}

function slice({
  start,
  end,
  step,
}: {
  readonly start: number
  readonly end: number | undefined
  readonly step: number
}): Step {
  return (value, work) => {
    if (!Array.isArray(value)) return []
    const items = value.slice(start, end).slice(0, searchedValuesMax * step)
    work.values -= items.length / step
    return items.filter((_item, i) => i % step === 0)
  }
}

/** Keeps the items of a list for which a comparison holds, or a path leads somewhere. */
function parseFilter(cursor: Cursor): Step {
  const left = parseOperand(cursor)
  const operator = takeAll(cursor, /[!<>=]+/)
  const right = operator === '' ? undefined : parseOperand(cursor)
  const holds = comparisons.get(operator)
  if (holds === undefined)
    throw fault(cursor, `expected one of ${[...comparisons.keys()].filter(Boolean).join(' ')}, not ${operator}`)
  if (!take(cursor, ')]')) throw fault(cursor, 'expected ")]"')
  return (value, work) => {
    const found: Json[] = []
    for (const one of Array.isArray(value) ? value : []) {
      if (work.values-- <= 0) break
      if (holds(left(one, work), right?.(one, work) ?? [])) found.push(one)
    }
    return found
  }
}

type Comparison = (left: readonly Json[], right: readonly Json[]) => boolean

const comparisons: ReadonlyMap<string, Comparison> = new Map<string, Comparison>([
  ['', (left) => left.length > 0],
  ['==', ofScalars((a, b) => a === b)],
  ['!=', ofScalars((a, b) => a !== b)],
  ['<', ofOrdered((a, b) => a < b)],
  ['<=', ofOrdered((a, b) => a <= b)],
  ['>', ofOrdered((a, b) => a > b)],
  ['>=', ofOrdered((a, b) => a >= b)],
])

function ofScalars(holds: (a: Json, b: Json) => boolean): Comparison {
  return ([a, ...others], [b, ...more]) => {
    if (a === undefined || b === undefined || others.length > 0 || more.length > 0) return false
    return typeof a !== 'object' && typeof b !== 'object' && holds(a, b)
  }
}

function ofOrdered(holds: (a: string | number, b: string | number) => boolean): Comparison {
  return ofScalars((a, b) => {
    if (typeof a === 'number' && typeof b === 'number') return holds(a, b)
    return typeof a === 'string' && typeof b === 'string' && holds(a, b)
  })
}

function parseOperand(cursor: Cursor): Search {
  takeAll(cursor, / */)
  const operand = parseLiteral(cursor) ?? parsePath(cursor, true)
  takeAll(cursor, / */)
  return operand
}

function parseLiteral(cursor: Cursor): Search | undefined {
  const literal = takeAll(cursor, /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[-+]?\d+(?:\.\d+)?|(?:true|false)(?![\w.[])/)
  if (literal !== '') {
    const value = literalValue(literal)
    return () => [value]
  }
  if (startsWith(cursor, '"') || startsWith(cursor, "'")) throw fault(cursor, 'expected a closing quote')
  if (!/[@$.[]/.test(cursor.text.charAt(cursor.at)))
    throw fault(cursor, 'expected a value, or a path that begins with "@"')
  return undefined
}

function literalValue(literal: string): Json {
  if (literal === 'true' || literal === 'false') return literal === 'true'
  return /^["']/.test(literal) ? literal.slice(1, -1).replace(/\\(.)/g, '$1') : Number(literal)
}
