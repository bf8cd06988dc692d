import { metered, type Build, type Built, type Scope } from './built.ts'
import { ExpressionError, type Expression, type ExpressionItem } from './expression.ts'
import { listOf, mapOf, plain, showType, type Type } from './type.ts'
import { BuiltMap, CelFailure, keyName, Optional, type Result, type Value } from './value.ts'

/** Lists and maps that are written down in an expression. */

export function buildList({ items }: Extract<Expression, { op: 'list' }>, scope: Scope, build: Build): Built {
  const parts = items.map((item) => ({ ...item, built: build(item.value, scope) }))
  const type = commonType(
    parts.map((part) => [valueType(part, part.built.type, scope), part.value]),
    scope,
  )
  const run = metered((frame) => {
    const values: Value[] = []
    for (const { built, isOptional } of parts) {
      const value = valueIn(built.run(frame), isOptional)
      if (value instanceof CelFailure) return value
      if (value !== undefined) values.push(value)
    }
    frame.meter.spend(values.length)
    return values
  })
  return { type: listOf(type), run, isConstant: parts.every(({ built }) => built.isConstant === true) }
}

export function buildMap({ entries }: Extract<Expression, { op: 'map' }>, scope: Scope, build: Build): Built {
  const parts = entries.map((entry) => ({ ...entry, name: build(entry.key, scope), built: build(entry.value, scope) }))
  const type = mapOf(
    commonType(
      parts.map(({ name, key }) => [name.type, key]),
      scope,
    ),
    commonType(
      parts.map((part) => [valueType(part, part.built.type, scope), part.value]),
      scope,
    ),
  )
  const run = metered((frame) => {
    const made = new Map<string, readonly [Value, Value]>()
    for (const { name, built, isOptional } of parts) {
      const key = name.run(frame)
      if (key instanceof CelFailure) return key
      const value = valueIn(built.run(frame), isOptional)
      if (value instanceof CelFailure) return value
      if (value === undefined) continue
      const id = keyName(key)
      if (id === undefined) return new CelFailure('unsupported key type')
      made.set(id, [key, value])
    }
    frame.meter.spend(made.size * 4)
    return new BuiltMap(made)
  })
  return { type, run }
}

/** What stands in the place of an optional item: nothing, if there is nothing in it. */
export function valueIn(result: Result, isOptional: boolean): Result | undefined {
  return isOptional && result instanceof Optional ? result.value : result
}

export function valueType({ isOptional, value }: ExpressionItem, type: Type, { bindings }: Scope): Type {
  if (!isOptional) return type
  const found = bindings.find(type)
  if (found.kind === 'optional') return found.of[0] as Type
  if (found.kind === 'dyn') return found
  throw new ExpressionError(`expected type 'optional_type' but found '${found.name}'`, value.at)
}

/** The type of all items, which is one. Throws ExpressionError. */
function commonType(typed: readonly (readonly [Type, Expression])[], { bindings, allowsMixed }: Scope): Type {
  const [first, ...others] = typed
  if (first === undefined) return bindings.fresh()
  for (const [type, { at }] of others) {
    if (bindings.attempt(() => bindings.unify(first[0], type))) continue
    if (allowsMixed === true) return plain.dyn
    const [wanted, found] = [first[0], type].map((one) => showType(bindings.settle(one)))
    throw new ExpressionError(`expected type '${wanted}' but found '${found}'`, at)
  }
  return first[0]
}
