import { constant, metered, mapResult, type Build, type Built, type Scope, type Variable } from './built.ts'
import { typeNameOf } from './equality.ts'
import { dottedName, ExpressionError, type Expression } from './expression.ts'
import { optionalOf, plain, showType, typeTypeOf, type Bindings, type Type } from './type.ts'
import { CelFailure, Optional, TypeValue, Uint, ValueMap, type Result, type Value } from './value.ts'

/** Fields of objects, and items of lists and maps. */

export function buildSelect(expression: Extract<Expression, { op: 'select' }>, scope: Scope, build: Build): Built {
  const name = dottedName(expression)
  if (name === 'google.protobuf.Timestamp' || name === 'google.protobuf.Duration')
    return constant(typeTypeOf(plain[name.endsWith('Timestamp') ? 'timestamp' : 'duration']), new TypeValue(name))
  const variable = name === undefined ? undefined : scope.variables.get(name)
  if (variable !== undefined) return readVariable(variable)
  const { field, isTest, isOptional, at } = expression
  const of = build(expression.of, scope)
  const whole = scope.bindings.find(of.type)
  const isChained = whole.kind === 'optional'
  const holder = isChained ? scope.bindings.find(whole.of[0] as Type) : whole
  const type = fieldType(holder, field, at)
  const select = (value: Value): Result => selectField(value, field)
  if (isTest) return { type: plain.bool, run: metered((frame) => testField(of.run(frame), field)) }
  if (isOptional || isChained)
    return { type: optionalOf(type), run: metered((frame) => selectOptional(of.run(frame), select)) }
  return { type, run: metered((frame) => mapResult(of.run(frame), select)) }
}

/** One whose name has a dot. */
function readVariable({ slot, type }: Variable): Built {
  const none = new CelFailure('no such attribute')
  return { type, run: ({ slots }) => slots[slot] ?? none }
}

function fieldType(holder: Type, field: string, at: number): Type {
  switch (holder.kind) {
    case 'dyn':
    case 'parameter':
      return plain.dyn
    case 'map':
      return holder.of[1] as Type
    case 'object': {
      if (holder.fields === undefined) return plain.dyn
      const type = holder.fields.get(field)
      if (type === undefined) throw new ExpressionError(`undefined field '${field}'`, at)
      return type
    }
    default:
      throw new ExpressionError(`type '${showType(holder)}' does not support field selection`, at)
  }
}

function selectField(value: Value, field: string): Result {
  if (value instanceof ValueMap) return entryOf(value, field)
  if (value === null) return new CelFailure(`no such key: ${field}`)
  return new CelFailure('no such overload')
}

/** An entry that is null is one. */
function entryOf(map: ValueMap, key: Value): Result {
  const found = map.get(key)
  return found === undefined ? new CelFailure(`no such key: ${String(key)}`) : found
}

function testField(value: Result, field: string): Result {
  if (value instanceof CelFailure) return value
  if (value instanceof Optional) return value.value === undefined ? false : testField(value.value, field)
  return value instanceof ValueMap ? value.has(field) : new CelFailure('no such overload')
}

/** A field of what may not be there, or that may not be there. */
function selectOptional(value: Result, select: (value: Value) => Result): Result {
  if (value instanceof CelFailure) return value
  const inner = value instanceof Optional ? value.value : value
  if (inner === undefined) return new Optional(undefined)
  const selected = select(inner)
  if (!(selected instanceof CelFailure)) return new Optional(selected)
  return absences.test(selected.message) ? new Optional(undefined) : selected
}

/** What has no fields lacks each of them. */
const absences = /^(?:no such key|index out of bounds|no such overload)/

export function buildIndex(expression: Extract<Expression, { op: 'index' }>, scope: Scope, build: Build): Built {
  const of = build(expression.of, scope)
  const key = build(expression.key, scope)
  const { bindings } = scope
  const whole = bindings.find(of.type)
  const isChained = whole.kind === 'optional'
  const type = itemType(bindings, isChained ? bindings.find(whole.of[0] as Type) : whole, key.type, expression.at)
  const isOptional = isChained || expression.isOptional
  const run = metered((frame) => {
    const holder = of.run(frame)
    const at = key.run(frame)
    if (at instanceof CelFailure) return at
    const select = (value: Value): Result => selectItem(value, at)
    return isOptional ? selectOptional(holder, select) : mapResult(holder, select)
  })
  return { type: isOptional ? optionalOf(type) : type, run }
}

function itemType(bindings: Bindings, holder: Type, key: Type, at: number): Type {
  const [first, second] = holder.of
  if (holder.kind === 'dyn' || holder.kind === 'parameter') return plain.dyn
  if (holder.kind === 'list' && bindings.unify(plain.int, key)) return first as Type
  if (holder.kind === 'map' && bindings.unify(first as Type, key)) return second as Type
  throw new ExpressionError(
    `found no matching overload for '_[_]' applied to '(${showType(bindings.settle(holder))}, ${showType(bindings.settle(key))})'`,
    at,
  )
}

function selectItem(value: Value, key: Value): Result {
  if (value instanceof ValueMap) return entryOf(value, key)
  if (!Array.isArray(value)) return new CelFailure('no such overload')
  const index = key instanceof Uint ? Number(key.value) : typeof key === 'bigint' ? Number(key) : key
  if (typeof index !== 'number') return new CelFailure(`unsupported index type '${typeNameOf(key)}' in list`)
  if (!Number.isInteger(index)) return new CelFailure(`unsupported index value ${index} in list`)
  const item = value[index]
  return item === undefined ? new CelFailure(`index out of bounds: ${index}`) : item
}
