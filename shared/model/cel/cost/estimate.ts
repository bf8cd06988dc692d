import type { Built } from '../built.ts'
import { dottedName, type Expression, type Loop } from '../expression.ts'
import { checkParts } from '../program.ts'
import { TypeBudget, type Type } from '../type.ts'
import type { Value } from '../value.ts'
import { callCost, ownSize, type Costed } from './call-costs.ts'
import type { Declared } from './declared.ts'
import { either, exactly, product, sum, unknownSize, type Size } from './size.ts'

/**
 * What an expression may cost at most, in Kubernetes' units, of which one is some 50 ns there; 0 for a text that does
 * not compile, and more than any may cost where types are too large to tell. `self` is what the variables are.
 * Source: cel-go, `checker/cost.go`, and apiserver, `library/cost.go`: what is odd in it is so there, since a
 * definition that is accepted there shall be accepted here.
 */
export function estimateCost(
  text: string,
  variables: Readonly<Record<string, Type>>,
  self: Declared,
  types = new TypeBudget(),
): number {
  // Whoever spent the last look was told so.
  if (types.isSpent) return 0
  const checked = checkParts(text, variables, types)
  if (checked === undefined) return types.isSpent ? unknownSize.max : 0
  return costOf(checked.expression, { parts: checked.parts, self, ranges: new Map(), bound: new Map() }).cost
}

interface Reckoning {
  readonly parts: ReadonlyMap<Expression, Built>
  readonly self: Declared
  /** Where the variable of a macro has its values from. */
  readonly ranges: ReadonlyMap<string, readonly string[]>
  /** What is written once and looked at twice. */
  readonly bound: ReadonlyMap<string, Costed>
}

const listCost = 10
const mapCost = 30
const objectCost = 40

function costOf(expression: Expression, reckoning: Reckoning): Costed {
  switch (expression.op) {
    case 'literal':
      return reckon(
        expression,
        { cost: 0, size: exactly(lengthOf(expression.value)), literal: expression.value },
        reckoning,
      )
    case 'name':
      return nameCost(expression, reckoning)
    case 'select':
      return selectCost(expression, reckoning)
    case 'index':
      return indexCost(expression, reckoning)
    case 'call':
      return ofCall(expression, reckoning)
    case 'and':
    case 'or':
      return reckon(expression, { cost: costs([expression.left, expression.right], reckoning) }, reckoning)
    case 'choice':
      return choiceCost(expression, reckoning)
    case 'list': {
      const { items } = expression
      const within = costs(
        items.map(({ value }) => value),
        reckoning,
      )
      return reckon(expression, { cost: sum(within, listCost), size: exactly(items.length) }, reckoning)
    }
    case 'map': {
      const { entries } = expression
      const within = costs(
        entries.flatMap(({ key, value }) => [key, value]),
        reckoning,
      )
      return reckon(expression, { cost: sum(within, mapCost), size: exactly(entries.length) }, reckoning)
    }
    case 'construct': {
      const within = costs(
        expression.fields.map(({ value }) => value),
        reckoning,
      )
      return reckon(expression, { cost: sum(within, objectCost) }, reckoning)
    }
    case 'loop':
      return loopCost(expression, reckoning)
    case 'bind':
      return bindCost(expression, reckoning)
  }
}

function costs(expressions: readonly Expression[], reckoning: Reckoning): number {
  return sum(...expressions.map((each) => costOf(each, reckoning).cost))
}

/** A part with its type, and with the size that its schema gives it if nothing else tells one. */
function reckon(
  expression: Expression,
  made: Omit<Costed, 'type' | 'declaredSize' | 'itemSize'>,
  reckoning: Reckoning,
): Costed {
  const type = reckoning.parts.get(expression)?.type
  if (made.path === undefined) return { ...made, type }
  const [declaredSize, itemSize] = [made.path, [...made.path, items]].map((path) => sizeAt(path, reckoning.self))
  return { ...made, type, ...(declaredSize && { declaredSize }), ...(itemSize && { itemSize }) }
}

/** The first name is that of a variable. Undefined where the schema has nothing at the path. */
function sizeAt([, ...names]: readonly string[], self: Declared): Size | undefined {
  let at: Declared | undefined = self
  for (const name of names)
    at = name === items || name === values ? at?.item : name === keys ? at?.key : at?.fields?.get(name)
  return at && { min: 0, max: at.most }
}

const items = '@items'
const values = '@values'
const keys = '@keys'

function lengthOf(value: Value): number {
  if (typeof value === 'string') return Array.from(value).length
  return value instanceof Uint8Array ? value.length : 1
}

function nameCost(expression: Extract<Expression, { op: 'name' }>, reckoning: Reckoning): Costed {
  const { name } = expression
  const bound = reckoning.bound.get(name)
  if (bound !== undefined) return bound
  return reckon(expression, { cost: 1, path: reckoning.ranges.get(name) ?? [name] }, reckoning)
}

function selectCost(expression: Extract<Expression, { op: 'select' }>, reckoning: Reckoning): Costed {
  const { field, isTest, isOptional } = expression
  const name = dottedName(expression)
  if (name?.startsWith('google.protobuf.') === true) return reckon(expression, { cost: 1, path: [name] }, reckoning)
  const of = costOf(expression.of, reckoning)
  if (isTest) return reckon(expression, { cost: of.cost }, reckoning)
  if (isOptional) return reckon(expression, { cost: sum(of.cost, 1) }, reckoning)
  const isField = of.type?.kind === 'map' || of.type?.kind === 'object'
  const path = [...(of.path ?? []), field]
  return reckon(expression, { cost: sum(of.cost, isField ? 1 : 0), path }, reckoning)
}

function indexCost(expression: Extract<Expression, { op: 'index' }>, reckoning: Reckoning): Costed {
  const of = costOf(expression.of, reckoning)
  const cost = sum(of.cost, costOf(expression.key, reckoning).cost, 1)
  const kind = of.type?.kind
  if (expression.isOptional || kind === 'optional') return reckon(expression, { cost }, reckoning)
  const path = [...(of.path ?? []), kind === 'list' ? items : values]
  return reckon(expression, { cost, path }, reckoning)
}

function ofCall(expression: Extract<Expression, { op: 'call' }>, reckoning: Reckoning): Costed {
  const called = reckoning.parts.get(expression)?.called
  const isMember = called?.isMember === true && expression.target !== undefined
  const target = isMember ? costOf(expression.target, reckoning) : undefined
  const args = expression.args.map((each) => costOf(each, reckoning))
  const { cost, size } = callCost({
    name: called?.name ?? expression.name,
    overloads: called?.overloads ?? [],
    target,
    args,
  })
  const within = sum(target?.cost ?? 0, ...args.map((each) => each.cost))
  return reckon(expression, { cost: sum(within, cost), ...(size && { size }) }, reckoning)
}

function choiceCost(expression: Extract<Expression, { op: 'choice' }>, reckoning: Reckoning): Costed {
  const [test, yes, no] = [expression.test, expression.yes, expression.no].map((each) => costOf(each, reckoning)) as [
    Costed,
    Costed,
    Costed,
  ]
  const size = either(ownSize(yes), ownSize(no))
  return reckon(expression, { cost: sum(test.cost, Math.max(yes.cost, no.cost)), size }, reckoning)
}

/** A macro is spelled out as a loop that fills a variable: its beginning, its test, its step, and what it comes to. */
function loopCost(expression: Extract<Expression, { op: 'loop' }>, reckoning: Reckoning): Costed {
  const range = costOf(expression.range, reckoning)
  const inner = { ...reckoning, ranges: new Map([...reckoning.ranges, ...rangesOf(expression, range)]) }
  const body = costOf(expression.body, inner).cost
  const filter = expression.filter && costOf(expression.filter, inner).cost
  const { before, each, after } = spelledOut(expression, body)
  const step = filter === undefined ? each : sum(filter, Math.max(each, 1))
  const size = ownSize(range)
  const cost = sum(range.cost, before, product(size.max, step), after)
  return reckon(expression, { cost, size }, reckoning)
}

function rangesOf({ variable, valueVariable }: Loop, range: Costed): readonly (readonly [string, readonly string[]])[] {
  const isMap = range.type?.kind === 'map'
  const path = range.path ?? []
  if (valueVariable === undefined) return [[variable, [...path, isMap ? keys : items]]]
  return [
    [variable, isMap ? [...path, keys] : [variable]],
    [valueVariable, [...path, isMap ? values : items]],
  ]
}

interface SpelledOut {
  readonly before: number
  readonly each: number
  readonly after: number
}

function spelledOut({ kind }: Loop, body: number): SpelledOut {
  switch (kind) {
    case 'all':
      return { before: 0, each: sum(3, body), after: 1 }
    case 'exists':
      return { before: 0, each: sum(4, body), after: 1 }
    case 'exists_one':
      return { before: 0, each: sum(2, body), after: 2 }
    case 'filter':
      return { before: listCost, each: sum(13, body), after: 1 }
    case 'map':
    case 'transformList':
      return { before: listCost, each: sum(12, body), after: 1 }
    case 'transformMap':
      return { before: mapCost, each: sum(3, body), after: 1 }
    case 'transformMapEntry':
      return { before: mapCost, each: sum(2, body), after: 1 }
  }
}

/** `optMap` looks twice at what it is called on, and makes a loop over nothing of its body. */
function bindCost(expression: Extract<Expression, { op: 'bind' }>, reckoning: Reckoning): Costed {
  const { name, value, body } = expression
  if (name === '@optional') {
    const inner = { ...reckoning, bound: new Map([...reckoning.bound, [name, costOf(value, reckoning)] as const]) }
    const { cost, size } = costOf(body, inner)
    return reckon(expression, { cost, ...(size && { size }) }, reckoning)
  }
  const ranges = new Map([...reckoning.ranges, [name, [name]] as const])
  const cost = sum(costOf(value, reckoning).cost, costOf(body, { ...reckoning, ranges }).cost, listCost)
  return reckon(expression, { cost, size: exactly(0) }, reckoning)
}
