import { metered, withVariable, type Build, type Built, type Frame, type Scope, type ProgramStep } from './built.ts'
import { ExpressionError, type Expression } from './expression.ts'
import { listOf, plain, showType, type Type } from './type.ts'
import { CelFailure, ValueMap, type Result, type Value } from './value.ts'

/** The macros that go over a list, or over the keys of a map. */
export function buildLoop(expression: Extract<Expression, { op: 'loop' }>, scope: Scope, build: Build): Built {
  const range = build(expression.range, scope)
  const item = itemType(scope.bindings.find(range.type), expression.range.at)
  const { inner, slot } = withVariable(scope, expression.variable, item)
  const filter = expression.filter && build(expression.filter, inner)
  const body = build(expression.body, inner)
  const { kind } = expression
  const tested = kind === 'map' ? filter : body
  if (tested !== undefined && !scope.bindings.unify(plain.bool, tested.type)) {
    const found = showType(scope.bindings.settle(tested.type))
    throw new ExpressionError(`expected type 'bool' but found '${found}'`, expression.body.at)
  }
  const over = (step: (items: readonly Value[], frame: Frame) => Result): ProgramStep =>
    metered((frame) => {
      const holder = range.run(frame)
      if (holder instanceof CelFailure) return holder
      const items = holder instanceof ValueMap ? holder.keys() : holder
      if (items !== holder) frame.meter.spend((items as readonly Value[]).length)
      return Array.isArray(items) ? step(items, frame) : new CelFailure('no such overload')
    })
  const each = (frame: Frame, value: Value, built: Built): Result => {
    frame.meter.spend(2)
    frame.slots[slot] = value
    return built.run(frame)
  }
  switch (kind) {
    case 'all':
    case 'exists':
      return { type: plain.bool, run: over((items, frame) => decide(items, (value) => each(frame, value, body), kind)) }
    case 'exists_one':
      return { type: plain.bool, run: over((items, frame) => isOne(items, (value) => each(frame, value, body))) }
    case 'filter':
      return { type: listOf(item), run: over((items, frame) => select(items, (value) => each(frame, value, body))) }
    case 'map': {
      const test = (frame: Frame) => (value: Value) => (filter === undefined ? true : each(frame, value, filter))
      const run = over((items, frame) => convert(items, test(frame), (value) => each(frame, value, body)))
      return { type: listOf(body.type), run }
    }
  }
}

function itemType(range: Type, at: number): Type {
  if (range.kind === 'list' || range.kind === 'map') return range.of[0] as Type
  if (range.kind === 'dyn' || range.kind === 'parameter') return plain.dyn
  const found = showType(range)
  throw new ExpressionError(
    `expression of type '${found}' cannot be range of a comprehension (must be list, map, or dynamic)`,
    at,
  )
}

type Each = (value: Value) => Result

/** One item decides; a failure counts only where none does. */
function decide(items: readonly Value[], each: Each, kind: 'all' | 'exists'): Result {
  const decisive = kind === 'exists'
  let failure: CelFailure | undefined
  for (const item of items) {
    const result = each(item)
    if (result === decisive) return decisive
    if (result instanceof CelFailure) failure = result
    else if (typeof result !== 'boolean') failure = new CelFailure('no such overload')
  }
  return failure ?? !decisive
}

function isOne(items: readonly Value[], each: Each): Result {
  let count = 0
  for (const item of items) {
    const result = each(item)
    if (typeof result !== 'boolean') return result instanceof CelFailure ? result : new CelFailure('no such overload')
    if (result) count++
  }
  return count === 1
}

function select(items: readonly Value[], each: Each): Result {
  const selected: Value[] = []
  for (const item of items) {
    const result = each(item)
    if (typeof result !== 'boolean') return result instanceof CelFailure ? result : new CelFailure('no such overload')
    if (result) selected.push(item)
  }
  return selected
}

function convert(items: readonly Value[], test: Each, each: Each): Result {
  const converted: Value[] = []
  for (const item of items) {
    const chosen = test(item)
    if (typeof chosen !== 'boolean') return chosen instanceof CelFailure ? chosen : new CelFailure('no such overload')
    if (!chosen) continue
    const result = each(item)
    if (result instanceof CelFailure) return result
    converted.push(result)
  }
  return converted
}
