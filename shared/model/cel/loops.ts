import { metered, withVariable, type Build, type Built, type Frame, type Scope, type ProgramStep } from './built.ts'
import { ExpressionError, type Expression } from './expression.ts'
import { listOf, mapOf, plain, showType, type Type } from './type.ts'
import { BuiltMap, CelFailure, keyName, ValueMap, type Result, type Value } from './value.ts'

type LoopExpression = Extract<Expression, { op: 'loop' }>

/** The macros that go over the items of a list or the keys of a map; with two variables over both. */
export function buildLoop(expression: LoopExpression, scope: Scope, build: Build): Built {
  const range = build(expression.range, scope)
  return expression.valueVariable === undefined
    ? buildOver(overItems(range, expression, scope), expression, scope, build)
    : buildOver(overPairs(range, expression, scope), expression, scope, build)
}

/** What a macro goes over, and where the expressions in it find an item. */
interface Walk<Item> {
  readonly inner: Scope
  /** Of what the first variable has. */
  readonly first: Type
  firstOf(item: Item): Value
  items(frame: Frame): readonly Item[] | CelFailure
  hold(frame: Frame, item: Item): void
}

function buildOver<Item>(walk: Walk<Item>, expression: LoopExpression, scope: Scope, build: Build): Built {
  const { kind } = expression
  const filter = expression.filter && build(expression.filter, walk.inner)
  const body = build(expression.body, walk.inner)
  requireTest(quantified.has(kind) ? body : filter, expression, scope)
  const each = (frame: Frame, built: Built) => (item: Item) => {
    frame.meter.spend(2)
    walk.hold(frame, item)
    return built.run(frame)
  }
  const over = (step: (items: readonly Item[], frame: Frame) => Result): ProgramStep =>
    metered((frame) => {
      const items = walk.items(frame)
      return items instanceof CelFailure ? items : step(items, frame)
    })
  const steps = (frame: Frame): Steps<Item> => ({
    test: filter === undefined ? () => true : each(frame, filter),
    each: each(frame, body),
  })
  switch (kind) {
    case 'all':
    case 'exists':
      return { type: plain.bool, run: over((items, frame) => decide(items, each(frame, body), kind)) }
    case 'exists_one':
      return { type: plain.bool, run: over((items, frame) => isOne(items, each(frame, body))) }
    case 'filter': {
      const run = over((items, frame) => list(items, { test: each(frame, body), each: walk.firstOf }))
      return { type: listOf(walk.first), run }
    }
    case 'map':
    case 'transformList':
      return { type: listOf(body.type), run: over((items, frame) => list(items, steps(frame))) }
    case 'transformMap': {
      const entryOf = (value: Value, item: Item): Entries => [[walk.firstOf(item), value]]
      const run = over((items, frame) => gather(items, steps(frame), entryOf, frame))
      return { type: mapOf(walk.first, body.type), run }
    }
    case 'transformMapEntry':
      return {
        type: entryType(body.type, expression, scope),
        run: over((items, frame) => gather(items, steps(frame), entriesOf, frame)),
      }
  }
}

/** Those whose body is a test. */
const quantified: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'filter'])

function requireTest(tested: Built | undefined, { body }: LoopExpression, { bindings }: Scope): void {
  if (tested === undefined || bindings.unify(plain.bool, tested.type)) return
  const found = showType(bindings.settle(tested.type))
  throw new ExpressionError(`expected type 'bool' but found '${found}'`, body.at)
}

function overItems(range: Built, { range: { at }, variable }: LoopExpression, scope: Scope): Walk<Value> {
  const [first] = partsOf(scope.bindings.find(range.type), at)
  const { inner, slot } = withVariable(scope, variable, first)
  return {
    inner,
    first,
    firstOf: (item) => item,
    items: (frame) => {
      const holder = range.run(frame)
      if (!(holder instanceof ValueMap)) return Array.isArray(holder) ? holder : misfitOf(holder)
      const keys = holder.keys()
      frame.meter.spend(keys.length)
      return keys
    },
    hold: (frame, item) => {
      frame.slots[slot] = item
    },
  }
}

type Pair = readonly [place: Value, item: Value]

function overPairs(range: Built, expression: LoopExpression, scope: Scope): Walk<Pair> {
  const whole = scope.bindings.find(range.type)
  const parts = partsOf(whole, expression.range.at)
  const [first, second] = whole.kind === 'list' ? [plain.int, parts[0]] : parts
  const outer = withVariable(scope, expression.variable, first)
  const { inner, slot } = withVariable(outer.inner, expression.valueVariable ?? '', second)
  return {
    inner,
    first,
    firstOf: ([place]) => place,
    items: (frame) => {
      const holder = range.run(frame)
      const pairs = pairsOf(holder)
      if (pairs instanceof CelFailure) return pairs
      frame.meter.spend(pairs.length * 2)
      return pairs
    },
    hold: (frame, [place, item]) => {
      frame.slots[outer.slot] = place
      frame.slots[slot] = item
    },
  }
}

function pairsOf(holder: Result): readonly Pair[] | CelFailure {
  if (Array.isArray(holder)) return (holder as readonly Value[]).map((item, i) => [BigInt(i), item])
  if (!(holder instanceof ValueMap)) return misfitOf(holder)
  const pairs: Pair[] = []
  for (const key of holder.keys()) {
    const item = holder.get(key)
    if (item instanceof CelFailure) return item
    if (item !== undefined) pairs.push([key, item])
  }
  return pairs
}

function misfitOf(holder: Result): CelFailure {
  return holder instanceof CelFailure ? holder : new CelFailure('no such overload')
}

/** Of the items of a list; of the keys of a map, and of its values. */
function partsOf(range: Type, at: number): readonly [Type, Type] {
  const [first = plain.dyn, second = plain.dyn] = range.of
  if (['list', 'map'].includes(range.kind)) return [first, second]
  if (['dyn', 'parameter'].includes(range.kind)) return [plain.dyn, plain.dyn]
  const found = showType(range)
  throw new ExpressionError(
    `expression of type '${found}' cannot be range of a comprehension (must be list, map, or dynamic)`,
    at,
  )
}

type Each<Item> = (item: Item) => Result

/** One item decides; a failure counts only where none does. */
function decide<Item>(items: readonly Item[], each: Each<Item>, kind: 'all' | 'exists'): Result {
  const decisive = kind === 'exists'
  let failure: CelFailure | undefined
  for (const item of items) {
    const result = each(item)
    if (result === decisive) return decisive
    if (typeof result !== 'boolean') failure = misfitOf(result)
  }
  return failure ?? !decisive
}

function isOne<Item>(items: readonly Item[], each: Each<Item>): Result {
  let count = 0
  for (const item of items) {
    const result = each(item)
    if (typeof result !== 'boolean') return misfitOf(result)
    if (result) count++
  }
  return count === 1
}

interface Steps<Item> {
  readonly test: Each<Item>
  readonly each: Each<Item>
}

/** Hands over what is made of each item that the test holds for; the first failure ends it. */
function convert<Item>(
  items: readonly Item[],
  { test, each }: Steps<Item>,
  take: (value: Value, item: Item) => CelFailure | undefined,
): CelFailure | undefined {
  for (const item of items) {
    const chosen = test(item)
    if (typeof chosen !== 'boolean') return misfitOf(chosen)
    if (!chosen) continue
    const value = each(item)
    const failure = value instanceof CelFailure ? value : take(value, item)
    if (failure !== undefined) return failure
  }
  return undefined
}

function list<Item>(items: readonly Item[], steps: Steps<Item>): Result {
  const values: Value[] = []
  return convert(items, steps, (value) => void values.push(value)) ?? values
}

type Entries = readonly (readonly [key: Value, value: Value])[]

/** A map of the entries that each item gives. No two may have one key. */
function gather<Item>(
  items: readonly Item[],
  steps: Steps<Item>,
  entriesFrom: (value: Value, item: Item) => Entries | CelFailure,
  { meter }: Frame,
): Result {
  const made = new Map<string, readonly [Value, Value]>()
  const insert = (value: Value, item: Item): CelFailure | undefined => {
    const entries = entriesFrom(value, item)
    if (entries instanceof CelFailure) return entries
    meter.spend(entries.length * 4)
    for (const [key, inner] of entries) {
      const id = keyName(key)
      if (id === undefined) return new CelFailure('unsupported key type')
      if (made.has(id)) return new CelFailure(`insert failed: key ${String(key)} already exists`)
      made.set(id, [key, inner])
    }
    return undefined
  }
  return convert(items, steps, insert) ?? new BuiltMap(made)
}

function entriesOf(value: Value): Entries | CelFailure {
  return value instanceof ValueMap ? pairsOf(value) : misfitOf(value)
}

/** Of a body that is a map of the entries to come. */
function entryType(body: Type, { body: { at } }: LoopExpression, { bindings }: Scope): Type {
  const made = mapOf(bindings.fresh(), bindings.fresh())
  if (bindings.unify(made, body)) return made
  throw new ExpressionError(`expected type 'map' but found '${showType(bindings.settle(body))}'`, at)
}
