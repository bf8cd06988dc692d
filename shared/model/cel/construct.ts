import { metered, type Build, type Built, type Scope } from './built.ts'
import { valueIn, valueType } from './collections.ts'
import { ExpressionError, type Expression, type ExpressionField } from './expression.ts'
import { plain, showType, type Type } from './type.ts'
import { BuiltObject, CelFailure, type Value } from './value.ts'

/** Objects that are made in an expression: `Object.spec{size: 1}`. */
export function buildConstruct(
  expression: Extract<Expression, { op: 'construct' }>,
  scope: Scope,
  build: Build,
): Built {
  const { type: name, at, fields } = expression
  const type = scope.constructs?.(name)
  if (type === undefined) throw new ExpressionError(`undeclared reference to '${name}' (in container '')`, at)
  const parts = fields.map((field) => ({ ...field, built: buildField(type, field, scope, build) }))
  const run = metered((frame) => {
    const made = new Map<string, Value>()
    for (const { name: field, isOptional, built } of parts) {
      const value = valueIn(built.run(frame), isOptional)
      if (value instanceof CelFailure) return value
      if (value !== undefined) made.set(field, value)
    }
    frame.meter.spend(made.size * 4)
    return new BuiltObject(name, made)
  })
  return { type, run }
}

function buildField(type: Type, field: ExpressionField, scope: Scope, build: Build): Built {
  const wanted = type.fields === undefined ? plain.dyn : type.fields.get(field.name)
  if (wanted === undefined) throw new ExpressionError(`undefined field '${field.name}'`, field.at)
  const built = build(field.value, scope)
  const given = valueType(field, built.type, scope)
  if (scope.bindings.unify(wanted, given)) return built
  const [one, other] = [wanted, given].map((part) => showType(scope.bindings.settle(part)))
  throw new ExpressionError(
    `expected type of field '${field.name}' is '${one}' but provided type is '${other}'`,
    field.at,
  )
}
