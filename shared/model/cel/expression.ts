import type { Value } from './value.ts'

/** An expression in CEL, as it was parsed. `at` is where it stands in its text. */
export type Expression =
  | Node<'literal', { readonly value: Value }>
  | Node<'name', { readonly name: string }>
  /** `isTest`: `has(of.field)`. `isOptional`: `of.?field`. */
  | Node<
      'select',
      { readonly of: Expression; readonly field: string; readonly isTest: boolean; readonly isOptional: boolean }
    >
  | Node<'index', { readonly of: Expression; readonly key: Expression; readonly isOptional: boolean }>
  /** Operators are calls of functions that are named by their sign. */
  | Node<'call', { readonly name: string; readonly target?: Expression; readonly args: readonly Expression[] }>
  | Node<'and' | 'or', { readonly left: Expression; readonly right: Expression }>
  | Node<'choice', { readonly test: Expression; readonly yes: Expression; readonly no: Expression }>
  | Node<'list', { readonly items: readonly ExpressionItem[] }>
  | Node<'map', { readonly entries: readonly ExpressionEntry[] }>
  /** `Object.spec{size: 1}`: an object of a named type. */
  | Node<'construct', { readonly type: string; readonly fields: readonly ExpressionField[] }>
  | Node<'loop', Loop>
  | Node<'bind', { readonly name: string; readonly value: Expression; readonly body: Expression }>

type Node<Op extends string, Parts> = { readonly op: Op; readonly at: number } & Parts

export interface ExpressionItem {
  readonly value: Expression
  readonly isOptional: boolean
}

export interface ExpressionEntry extends ExpressionItem {
  readonly key: Expression
}

export interface ExpressionField extends ExpressionItem {
  readonly name: string
  readonly at: number
}

export type LoopKind = QuantifierKind | 'map' | 'filter' | TransformKind
export type QuantifierKind = 'all' | 'exists' | 'exists_one'
export type TransformKind = 'transformList' | 'transformMap' | 'transformMapEntry'

/** A macro over the items of a list or the keys of a map; with two variables over both, and the places of the items. */
export interface Loop {
  readonly kind: LoopKind
  readonly range: Expression
  readonly variable: string
  /** The second variable: an item, where the first one is its place or its key. */
  readonly valueVariable?: string
  /** Of `map` with three arguments, and of what transforms with four. */
  readonly filter?: Expression
  readonly body: Expression
}

/** The dotted name that an expression is, such as `google.protobuf.Timestamp` or `optional`. */
export function dottedName(expression: Expression): string | undefined {
  if (expression.op === 'name') return expression.name
  if (expression.op !== 'select' || expression.isTest || expression.isOptional) return undefined
  const of = dottedName(expression.of)
  return of === undefined ? undefined : `${of}.${expression.field}`
}

/** Whether an expression reads a variable of this name, which may be one of its own. */
export function readsName(expression: Expression, name: string): boolean {
  if (expression.op === 'name') return expression.name === name
  return expression.op !== 'literal' && Object.values(expression).some((part) => readsIn(part, name))
}

/** In a part, or in each of a list of parts. */
function readsIn(part: unknown, name: string): boolean {
  if (typeof part !== 'object' || part === null) return false
  return 'op' in part ? readsName(part as Expression, name) : Object.values(part).some((one) => readsIn(one, name))
}

/** What keeps a text from being an expression. */
export class ExpressionError extends Error {
  readonly at: number

  constructor(message: string, at: number) {
    super(message)
    this.at = at
  }
}

/** The error as people find it: with its line, and a mark below its place. */
export function describeError(text: string, { message, at }: ExpressionError): string {
  const before = text.slice(0, at).split('\n')
  const line = text.split('\n')[before.length - 1] ?? ''
  const column = (before.at(-1) ?? '').length
  const shown = line.length > shownMax ? '' : `\n | ${line}\n | ${'.'.repeat(column)}^`
  return `ERROR: <input>:${before.length}:${column + 1}: ${message}${shown}`
}

const shownMax = 400
