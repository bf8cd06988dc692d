import { isObject, type Json } from './json.ts'

/** The values a path leads to, in order; none where the path leads nowhere. Never throws, never changes the value. */
export type JsonPath = (value: Json) => readonly Json[]

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
  return path
}

const longestPath = 1_000

/** A step leads from one value to those after it. */
type Step = (value: Json) => readonly Json[]

/** Of more values than this the rest is left out: `..*` after `..*` would find a hundred thousand in a small object. */
const mostValues = 10_000

function inSequence(steps: readonly Step[]): JsonPath {
  return (value) => {
    let values: readonly Json[] = [value]
    for (const step of steps) values = afterStep(step, values)
    return values
  }
}

/** No value beyond the limit is looked for, which bounds the time, too. */
function afterStep(step: Step, values: readonly Json[]): readonly Json[] {
  const found: Json[] = []
  for (const value of values)
    for (const one of step(value)) {
      if (found.length === mostValues) return found
      found.push(one)
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

function parsePath(cursor: Cursor, inFilter: boolean): JsonPath {
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
  return isObject(value) ? Object.values(value).filter((inner) => inner !== undefined) : []
}

/** The value and all that is in it, outer before inner, as far as it has something in it. */
const descendants: Step = (value) => {
  const found: Json[] = []
  const waiting = [value]
  for (let next = waiting.pop(); next !== undefined && found.length < mostValues; next = waiting.pop()) {
    const inner = everything(next)
    if (inner.length > 0) found.push(next)
    for (const one of inner.toReversed()) waiting.push(one)
  }
  return found
}

/** What stands in brackets: one selector or several with commas between. */
function parseSelection(cursor: Cursor): Step {
  const steps = [parseSelector(cursor)]
  while (take(cursor, ',')) steps.push(parseSelector(cursor))
  if (!take(cursor, ']')) throw fault(cursor, 'expected "]"')
  return (value) => steps.flatMap((step) => step(value))
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
  return (value) => (Array.isArray(value) ? value.slice(start, end).filter((_item, i) => i % step === 0) : [])
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
  return (value) => (Array.isArray(value) ? value.filter((one) => holds(left(one), right?.(one) ?? [])) : [])
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

function parseOperand(cursor: Cursor): JsonPath {
  takeAll(cursor, / */)
  const operand = parseLiteral(cursor) ?? parsePath(cursor, true)
  takeAll(cursor, / */)
  return operand
}

function parseLiteral(cursor: Cursor): JsonPath | undefined {
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
