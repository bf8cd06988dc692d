import { buildIndex, buildSelect } from './access.ts'
import { constant, metered, withVariable, type Built, type Scope, type ProgramStep } from './built.ts'
import { buildList, buildMap } from './collections.ts'
import { buildConstruct } from './construct.ts'
import { isSame } from './equality.ts'
import { dottedName, ExpressionError, type Expression } from './expression.ts'
import { buildLoop } from './loops.ts'
import { CostError, Meter } from './meter.ts'
import { accepts, type Overload } from './overload.ts'
import { literalPattern } from './patterns.ts'
import { plain, showType, typeTypeOf, type Bindings, type Type } from './type.ts'
import { CelFailure, TypeValue, Uint, type Value } from './value.ts'

/** Checks an expression, and makes it ready to run. Throws ExpressionError. */
export function build(expression: Expression, scope: Scope): Built {
  const built = buildPart(expression, scope)
  scope.note?.(expression, built)
  return built
}

function buildPart(expression: Expression, scope: Scope): Built {
  switch (expression.op) {
    case 'literal':
      return constant(literalType(expression.value), expression.value)
    case 'name':
      return buildName(expression, scope)
    case 'select':
      return buildSelect(expression, scope, build)
    case 'index':
      return buildIndex(expression, scope, build)
    case 'call':
      return buildCall(expression, scope)
    case 'and':
    case 'or':
      return buildLogic(expression, scope)
    case 'choice':
      return buildChoice(expression, scope)
    case 'list':
      return buildList(expression, scope, build)
    case 'map':
      return buildMap(expression, scope, build)
    case 'construct':
      return buildConstruct(expression, scope, build)
    case 'loop':
      return buildLoop(expression, scope, build)
    case 'bind': {
      const value = build(expression.value, scope)
      const { inner, slot } = withVariable(scope, expression.name, value.type)
      const body = build(expression.body, inner)
      const run: ProgramStep = (frame) => {
        frame.slots[slot] = value.run(frame)
        return body.run(frame)
      }
      return { type: body.type, run }
    }
  }
}

function literalType(value: Value): Type {
  if (value === null) return plain.null
  if (value instanceof Uint) return plain.uint
  if (value instanceof Uint8Array) return plain.bytes
  switch (typeof value) {
    case 'boolean':
      return plain.bool
    case 'bigint':
      return plain.int
    case 'number':
      return plain.double
    default:
      return plain.string
  }
}

const typeNames: ReadonlyMap<string, Type> = new Map(
  Object.entries({
    bool: plain.bool,
    int: plain.int,
    uint: plain.uint,
    double: plain.double,
    string: plain.string,
    bytes: plain.bytes,
    list: plain.dyn,
    map: plain.dyn,
    null_type: plain.null,
    optional_type: plain.dyn,
    type: plain.dyn,
  }),
)

function buildName({ name, at }: Extract<Expression, { op: 'name' }>, { variables }: Scope): Built {
  const variable = variables.get(name)
  if (variable !== undefined) {
    const { slot, type } = variable
    const none = new CelFailure(`no such attribute: ${name}`)
    return {
      type,
      run: ({ slots }) => {
        const value = slots[slot]
        return value === undefined ? none : value
      },
    }
  }
  const type = typeNames.get(name)
  if (type !== undefined) return constant(typeTypeOf(type), new TypeValue(name))
  throw new ExpressionError(`undeclared reference to '${name}' (in container '')`, at)
}

function buildLogic({ op, left, right, at }: Extract<Expression, { op: 'and' | 'or' }>, scope: Scope): Built {
  const parts = [left, right].map((part) => build(part, scope))
  for (const part of parts) {
    if (scope.bindings.unify(plain.bool, part.type)) continue
    const types = parts.map(({ type }) => showType(scope.bindings.settle(type))).join(', ')
    const sign = op === 'and' ? '_&&_' : '_||_'
    throw new ExpressionError(`found no matching overload for '${sign}' applied to '(${types})'`, at)
  }
  const [one, other] = parts as [Built, Built]
  const decisive = op === 'or'
  const run = metered((frame) => {
    const first = one.run(frame)
    if (first === decisive) return decisive
    const second = other.run(frame)
    if (second === decisive) return decisive
    const wrong = [first, second].find((result) => typeof result !== 'boolean')
    if (wrong === undefined) return !decisive
    return wrong instanceof CelFailure ? wrong : new CelFailure('no such overload')
  })
  return { type: plain.bool, run }
}

function buildChoice({ test, yes, no, at }: Extract<Expression, { op: 'choice' }>, scope: Scope): Built {
  const [condition, one, other] = [test, yes, no].map((part) => build(part, scope)) as [Built, Built, Built]
  const { bindings } = scope
  if (!bindings.unify(plain.bool, condition.type) || !bindings.unify(one.type, other.type)) {
    const types = [condition, one, other].map(({ type }) => showType(bindings.settle(type))).join(', ')
    throw new ExpressionError(`found no matching overload for '_?_:_' applied to '(${types})'`, at)
  }
  const run = metered((frame) => {
    const chosen = condition.run(frame)
    if (typeof chosen === 'boolean') return chosen ? one.run(frame) : other.run(frame)
    return chosen instanceof CelFailure ? chosen : new CelFailure('no such overload')
  })
  return { type: bindings.find(one.type).kind === 'null' ? other.type : one.type, run }
}

function buildCall(expression: Extract<Expression, { op: 'call' }>, scope: Scope): Built {
  const { name, target, at } = expression
  const qualifier = target && dottedName(target)
  const isQualified =
    qualifier !== undefined && !scope.variables.has(qualifier) && scope.functions.has(`${qualifier}.${name}`)
  const isMember = target !== undefined && !isQualified
  const inner = name === 'format' ? { ...scope, allowsMixed: true } : scope
  const args = [...(isMember ? [target] : []), ...expression.args].map((arg) => build(arg, inner))
  const called = isQualified ? `${qualifier}.${name}` : name
  if (called === '_==_' || called === '_!=_') return buildEquality(called, args, scope, at)
  const known = scope.functions.get(called)
  if (known === undefined) throw new ExpressionError(`undeclared reference to '${called}' (in container '')`, at)
  checkLiteral(called, expression.args, scope)
  return resolve({ called, isMember, args, at, known }, scope)
}

function buildEquality(called: string, args: readonly Built[], { bindings }: Scope, at: number): Built {
  const [one, other] = args as [Built, Built]
  if (!bindings.unify(one.type, other.type)) throw noOverload({ called, isMember: false, args, at }, bindings)
  const wanted = called === '_==_'
  const run = metered((frame) => {
    const a = one.run(frame)
    if (a instanceof CelFailure) return a
    const b = other.run(frame)
    return b instanceof CelFailure ? b : isSame(a, b, frame.meter) === wanted
  })
  return { type: plain.bool, run, called: { name: called, isMember: false, overloads: [] } }
}

/** A pattern that is written down is compiled at once. */
function checkLiteral(called: string, args: readonly Expression[], { checkPattern }: Scope): void {
  const pattern = literalPattern(called, args)
  if (pattern === undefined) return
  const fault = checkPattern(pattern.source)
  if (fault !== undefined) throw new ExpressionError(`invalid matches argument: ${fault}`, pattern.at)
}

interface Call {
  readonly called: string
  readonly isMember: boolean
  readonly args: readonly Built[]
  readonly at: number
  readonly known: readonly Overload[]
}

function resolve({ called, isMember, args, at, known }: Call, { bindings }: Scope): Built {
  const fitting: Overload[] = []
  const results: Type[] = []
  for (const overload of known) {
    if (overload.isMember !== isMember || overload.takes.length !== args.length) continue
    if (!overload.takes.every((type, i) => mayBe(type, bindings.find((args[i] as Built).type)))) continue
    const [gives, ...takes] = bindings.renew([overload.gives, ...overload.takes])
    if (!bindings.attempt(() => takes.every((type, i) => bindings.unify(type, (args[i] as Built).type)))) continue
    fitting.push(overload)
    results.push(gives as Type)
  }
  const [type] = results
  if (type === undefined) throw noOverload({ called, isMember, args, at }, bindings)
  const shown = showType(bindings.settle(type))
  const isOne = results.every((other) => showType(bindings.settle(other)) === shown)
  const run = caller(fitting, args)
  const isConstant = readers.has(called) && args.every((arg) => arg.isConstant === true)
  if (isConstant) checkConstant(run, at)
  const asCalled = { name: called, isMember, overloads: fitting }
  return { type: isOne ? type : plain.dyn, run: metered(run), isConstant, called: asCalled }
}

/** A look at the outside of types, which spares most overloads the whole one. */
function mayBe(taken: Type, given: Type): boolean {
  const isOpen = [taken.kind, given.kind].some((kind) => kind === 'dyn' || kind === 'parameter' || kind === 'null')
  return isOpen || (taken.kind === given.kind && (taken.kind !== 'opaque' || taken.name === given.name))
}

/** What these make of a text that is written down is known at once. */
const readers: ReadonlySet<string> = new Set([
  'int',
  'uint',
  'double',
  'bool',
  'string',
  'timestamp',
  'duration',
  'format',
])

function checkConstant(run: ProgramStep, at: number): void {
  try {
    const result = run({ slots: [], meter: new Meter(constantSteps) })
    if (result instanceof CelFailure) throw new ExpressionError(result.message, at)
  } catch (error) {
    if (error instanceof CostError) throw new ExpressionError(error.message, at)
    throw error
  }
}

const constantSteps = 100_000

function noOverload({ called, isMember, args, at }: Omit<Call, 'known'>, bindings: Bindings): ExpressionError {
  const [first, ...others] = args.map(({ type }) => showType(bindings.settle(type)))
  const types = isMember ? `${first}.(${others.join(', ')})` : `(${[first ?? '', ...others].join(', ')})`
  return new ExpressionError(`found no matching overload for '${called}' applied to '${types}'`, at)
}

/** Calls the overload that fits the values. */
function caller(overloads: readonly Overload[], args: readonly Built[]): ProgramStep {
  return (frame) => {
    const values: Value[] = []
    for (const arg of args) {
      const value = arg.run(frame)
      if (value instanceof CelFailure) return value
      values.push(value)
    }
    const overload = overloads.find(({ takes }) => takes.every((type, i) => accepts(type, values[i] as Value)))
    return overload === undefined ? new CelFailure('no such overload') : overload.run(values, frame.meter)
  }
}
