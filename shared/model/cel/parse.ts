import {
  dottedName,
  ExpressionError,
  type ExpressionEntry,
  type ExpressionField,
  type Expression,
  type ExpressionItem,
  type LoopKind,
  type QuantifierKind,
  type TransformKind,
} from './expression.ts'
import { tokensOf, type Token } from './tokens.ts'
import { Uint } from './value.ts'

/** What an expression may be at most: more nodes or levels than these are refused. */
const lengthMax = 10_000
const depthMax = 100

/** The expression that a text is. Throws ExpressionError. */
export function parseExpression(source: string): Expression {
  if (source.length > lengthMax) throw new ExpressionError(`has more than ${lengthMax} characters`, 0)
  const reader = new Reader(tokensOf(source))
  const expression = choice(reader)
  if (reader.next.kind !== 'end') throw reader.mismatch()
  return expression
}

class Reader {
  readonly #tokens: readonly Token[]
  #i = 0
  depth = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  get next(): Token {
    return this.#tokens[this.#i] as Token
  }

  take(): Token {
    const token = this.next
    this.#i++
    return token
  }

  is(...signs: readonly string[]): boolean {
    const { kind, text } = this.next
    return (kind === 'sign' || (kind === 'name' && text === 'in')) && signs.includes(text)
  }

  takes(sign: string): boolean {
    if (!this.is(sign)) return false
    this.#i++
    return true
  }

  must(sign: string): Token {
    if (!this.is(sign)) throw this.mismatch()
    return this.take()
  }

  mismatch(): ExpressionError {
    const { text, at } = this.next
    return new ExpressionError(
      text === '<EOF>'
        ? `Syntax error: mismatched input '<EOF>'`
        : `Syntax error: extraneous input '${text.slice(0, 50)}'`,
      at,
    )
  }

  /** One level deeper; throws where there are too many. */
  below<Made>(make: () => Made): Made {
    if (++this.depth > depthMax) throw new ExpressionError(`is nested more than ${depthMax} levels deep`, this.next.at)
    const made = make()
    this.depth--
    return made
  }
}

function choice(reader: Reader): Expression {
  return reader.below(() => {
    const test = either(reader)
    const { at } = reader.next
    if (!reader.takes('?')) return test
    const yes = either(reader)
    reader.must(':')
    return { op: 'choice', at, test, yes, no: choice(reader) }
  })
}

/** Long chains become balanced trees, so that none is deep. */
function chain(op: 'and' | 'or', parts: readonly (readonly [Expression, number])[]): Expression {
  const [first] = parts
  if (first === undefined) throw new Error('a chain has a part')
  if (parts.length === 1) return first[0]
  const middle = Math.ceil(parts.length / 2)
  const at = parts[middle]?.[1] ?? first[1]
  return { op, at, left: chain(op, parts.slice(0, middle)), right: chain(op, parts.slice(middle)) }
}

function either(reader: Reader): Expression {
  const parts: [Expression, number][] = [[both(reader), reader.next.at]]
  while (reader.is('||')) parts.push([(reader.take(), both(reader)), reader.next.at])
  return chain('or', parts)
}

function both(reader: Reader): Expression {
  const parts: [Expression, number][] = [[binary(reader, 0), reader.next.at]]
  while (reader.is('&&')) parts.push([(reader.take(), binary(reader, 0)), reader.next.at])
  return chain('and', parts)
}

const levels = [
  ['==', '!=', '<', '<=', '>', '>=', 'in'],
  ['+', '-'],
  ['*', '/', '%'],
] as const

function binary(reader: Reader, level: number): Expression {
  const signs = levels[level]
  if (signs === undefined) return unary(reader)
  let left = binary(reader, level + 1)
  let links = 0
  while (reader.is(...signs)) {
    if (++links > depthMax * 2) throw new ExpressionError('is a chain of too many operators', reader.next.at)
    const { text, at } = reader.take()
    left = { op: 'call', at, name: `_${text}_`, args: [left, binary(reader, level + 1)] }
  }
  return left
}

function unary(reader: Reader): Expression {
  const { text, at } = reader.next
  if (!reader.is('!', '-')) return member(reader)
  reader.take()
  const { next } = reader
  if (text === '-' && next.kind === 'value' && (typeof next.value === 'bigint' || typeof next.value === 'number')) {
    const folded: Token = { ...next, value: -next.value }
    return suffixes(reader, reader.take() && literal(folded))
  }
  const operand = reader.below(() => unary(reader))
  return { op: 'call', at, name: `${text}_`, args: [operand] }
}

function literal(token: Token & { readonly kind: 'value' }): Expression {
  const { at, value } = token
  const isOutside =
    (typeof value === 'bigint' && BigInt.asIntN(64, value) !== value) ||
    (value instanceof Uint && BigInt.asUintN(64, value.value) !== value.value)
  if (isOutside) throw new ExpressionError(`Syntax error: invalid int literal`, at)
  return { op: 'literal', at, value }
}

function member(reader: Reader): Expression {
  return suffixes(reader, primary(reader))
}

function suffixes(reader: Reader, start: Expression): Expression {
  let of = start
  for (let links = 0; ; links++) {
    if (links > depthMax * 2) throw new ExpressionError('is a chain of too many fields', reader.next.at)
    const { at } = reader.next
    if (reader.takes('.?')) of = { op: 'select', at, of, field: fieldName(reader), isTest: false, isOptional: true }
    else if (reader.takes('.')) of = afterDot(reader, of, at)
    else if (reader.is('[', '[?')) {
      const isOptional = reader.take().text === '[?'
      const key = choice(reader)
      reader.must(']')
      of = { op: 'index', at, of, key, isOptional }
    } else if (reader.is('{')) return construct(reader, of)
    else return of
  }
}

function fieldName(reader: Reader): string {
  const { kind, text } = reader.next
  if (kind !== 'name' && !(kind === 'value' && /^(?:true|false|null)$/.test(text))) throw reader.mismatch()
  reader.take()
  return text.replaceAll('`', '')
}

function afterDot(reader: Reader, of: Expression, at: number): Expression {
  const { at: nameAt } = reader.next
  const field = fieldName(reader)
  if (!reader.is('(')) return { op: 'select', at, of, field, isTest: false, isOptional: false }
  const args = argumentsOf(reader)
  return macro(of, field, args, nameAt) ?? { op: 'call', at: nameAt, name: field, target: of, args }
}

function argumentsOf(reader: Reader): readonly Expression[] {
  reader.must('(')
  const args: Expression[] = []
  while (!reader.is(')')) {
    args.push(choice(reader))
    if (!reader.takes(',')) break
  }
  reader.must(')')
  return args
}

const loops: readonly string[] = ['all', 'exists', 'exists_one', 'map', 'filter'] satisfies LoopKind[]
const quantifiers: ReadonlyMap<string, QuantifierKind> = new Map([
  ['all', 'all'],
  ['exists', 'exists'],
  ['exists_one', 'exists_one'],
  ['existsOne', 'exists_one'],
])
const transforms: readonly TransformKind[] = ['transformList', 'transformMap', 'transformMapEntry']

function macro(target: Expression, name: string, args: readonly Expression[], at: number): Expression | undefined {
  const [variable, second, third] = args
  if ((name === 'optMap' || name === 'optFlatMap') && variable && second && args.length === 2)
    return optionalMacro(target, name, { variable: variableName(variable), body: second, at })
  const ofPairs = pairMacro(target, name, args, at)
  if (ofPairs !== undefined) return ofPairs
  const isLoop = loops.includes(name) && (args.length === 2 || (name === 'map' && args.length === 3))
  if (!isLoop || variable === undefined || second === undefined) return undefined
  const parts = third === undefined ? { body: second } : { filter: second, body: third }
  return { op: 'loop', at, kind: name as LoopKind, range: target, variable: variableName(variable), ...parts }
}

/** The macros with two variables: `all(i, item, …)`, `transformMap(key, value, …)`. */
function pairMacro(range: Expression, name: string, args: readonly Expression[], at: number): Expression | undefined {
  const kind = args.length === 3 ? (quantifiers.get(name) ?? transformOf(name)) : transformOf(name)
  const [first, second, third, fourth] = args
  if (kind === undefined || args.length > 4 || third === undefined) return undefined
  const [variable, valueVariable] = [first, second].map((one) => variableName(one as Expression)) as [string, string]
  if (variable === valueVariable) throw new ExpressionError(`duplicate variable name: ${variable}`, at)
  const parts = fourth === undefined ? { body: third } : { filter: third, body: fourth }
  return { op: 'loop', at, kind, range, variable, valueVariable, ...parts }
}

function transformOf(name: string): TransformKind | undefined {
  return transforms.find((kind) => kind === name)
}

function optionalMacro(
  target: Expression,
  name: 'optMap' | 'optFlatMap',
  { variable, body, at }: { readonly variable: string; readonly body: Expression; readonly at: number },
): Expression {
  const call = (of: Expression, what: string): Expression => ({ op: 'call', at, name: what, target: of, args: [] })
  const held: Expression = { op: 'name', at, name: '@optional' }
  const none: Expression = { op: 'call', at, name: 'optional.none', args: [] }
  const yes: Expression = name === 'optMap' ? { op: 'call', at, name: 'optional.of', args: [body] } : body
  const bound: Expression = { op: 'bind', at, name: variable, value: call(held, 'value'), body: yes }
  const chosen: Expression = { op: 'choice', at, test: call(held, 'hasValue'), yes: bound, no: none }
  return { op: 'bind', at, name: '@optional', value: target, body: chosen }
}

function variableName(expression: Expression): string {
  if (expression.op === 'name') return expression.name
  throw new ExpressionError('argument must be a simple name', expression.at)
}

function primary(reader: Reader): Expression {
  const { next } = reader
  if (next.kind === 'value') {
    reader.take()
    return literal(next)
  }
  if (reader.takes('(')) {
    const inner = choice(reader)
    reader.must(')')
    return inner
  }
  if (reader.is('[', '[?')) return list(reader)
  if (reader.is('{')) return map(reader)
  const isRooted = reader.takes('.')
  const { kind, text, at } = reader.next
  if (kind !== 'name' || text === 'in') throw reader.mismatch()
  reader.take()
  return reader.is('(') && !isRooted ? globalCall(reader, text, at) : { op: 'name', at, name: text }
}

function globalCall(reader: Reader, name: string, at: number): Expression {
  const args = argumentsOf(reader)
  const [of] = args
  if (name !== 'has') return { op: 'call', at, name, args }
  if (of?.op !== 'select' || args.length !== 1) throw new ExpressionError('invalid argument to has() macro', at)
  return { ...of, isTest: true }
}

function list(reader: Reader): Expression {
  const { at, text } = reader.take()
  const items: ExpressionItem[] = []
  while (!reader.is(']')) {
    const isOptional = reader.takes('?') || (text === '[?' && items.length === 0)
    items.push({ isOptional, value: choice(reader) })
    if (!reader.takes(',')) break
  }
  reader.must(']')
  return { op: 'list', at, items }
}

/** A brace behind a name makes an object of the type of that name. */
function construct(reader: Reader, of: Expression): Expression {
  const type = dottedName(of)
  if (type === undefined) throw reader.mismatch()
  reader.must('{')
  const fields: ExpressionField[] = []
  while (!reader.is('}')) {
    const isOptional = reader.takes('?')
    const { at } = reader.next
    const name = fieldName(reader)
    reader.must(':')
    fields.push({ name, at, isOptional, value: choice(reader) })
    if (!reader.takes(',')) break
  }
  reader.must('}')
  return suffixes(reader, { op: 'construct', at: of.at, type, fields })
}

function map(reader: Reader): Expression {
  const { at } = reader.must('{')
  const entries: ExpressionEntry[] = []
  while (!reader.is('}')) {
    const isOptional = reader.takes('?')
    const key = choice(reader)
    reader.must(':')
    entries.push({ isOptional, key, value: choice(reader) })
    if (!reader.takes(',')) break
  }
  reader.must('}')
  return { op: 'map', at, entries }
}
