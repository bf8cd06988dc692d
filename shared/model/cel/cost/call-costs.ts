import type { Overload } from '../overload.ts'
import type { Type } from '../type.ts'
import type { Value } from '../value.ts'
import { added, exactly, single, perUnit, product, sum, times, unknownSize, type Size } from './size.ts'

/** A part of an expression, with what it costs. */
export interface Costed {
  readonly cost: number
  readonly type: Type | undefined
  readonly literal?: Value
  /** Where its value is: a variable, then fields and `@items`, `@keys`, `@values`. */
  readonly path?: readonly string[]
  /** As the expression itself tells it. */
  readonly size?: Size
  /** As the schema tells it. */
  readonly declaredSize?: Size
  /** Of an item of it, as the schema tells it. */
  readonly itemSize?: Size
}

export interface CostedCall {
  readonly name: string
  readonly overloads: readonly Overload[]
  readonly target: Costed | undefined
  readonly args: readonly Costed[]
}

interface CallCost {
  /** Beyond what its target and its arguments cost. */
  readonly cost: number
  /** Of its result. */
  readonly size?: Size
}

/** To go through a character of a text. */
const perCharacter = 0.1
/** For a character of a pattern. */
const perPattern = 0.25
/** The characters of the pattern behind a named format. */
const formatPattern = 128
const formatMax = 64

export function callCost(call: CostedCall): CallCost {
  const own = Object.hasOwn(byName, call.name) ? byName[call.name]?.(call) : undefined
  return own ?? { cost: 1 }
}

type Reckon = (call: CostedCall) => CallCost | undefined

/** As Kubernetes' library reckons a size; what nothing is known of may have any. */
function size(value: Costed | undefined): Size {
  return value?.size ?? value?.declaredSize ?? unknownSize
}

/** As the language does: what is of a fixed size counts as one. */
export function ownSize(value: Costed | undefined): Size {
  const known = value?.size ?? value?.declaredSize
  return known ?? (fixed.has(value?.type?.kind ?? '') ? single : unknownSize)
}

const fixed: ReadonlySet<string> = new Set(['bool', 'double', 'duration', 'int', 'timestamp', 'uint'])

function takes({ overloads }: CostedCall, ...kinds: readonly Type['kind'][]): boolean {
  return overloads.some(({ takes: [first] }) => first !== undefined && kinds.includes(first.kind))
}

const throughFirst: Reckon = ({ args: [first] }) => ({ cost: perUnit(size(first).max, perCharacter) })

const throughTarget: Reckon = ({ target }) => {
  const all = size(target)
  return { cost: perUnit(all.max, perCharacter), size: all }
}

/** A look at each item, and through each that is a text; or through a text. */
const throughItems: Reckon = ({ target }) => {
  const item = target?.type?.kind === 'list' ? target.type.of[0] : undefined
  if (item === undefined) return { cost: perUnit(size(target).max, perCharacter) }
  const isText = item.kind === 'string' || item.kind === 'bytes'
  const each = isText ? sum(1, perUnit((target?.itemSize ?? unknownSize).max, perCharacter)) : 1
  return { cost: product(size(target).max, each) }
}

const replacing: Reckon = ({ target, args: [sought, by] }) => {
  const [all, from, to] = [size(target), size(sought), size(by)]
  const most = pieces(from.min, { isNoLonger: to.max <= from.min, length: all.max })
  const least = pieces(from.max, { isNoLonger: from.max <= to.min, length: all.min })
  const made = added(times({ min: least.count, max: most.count }, to), { min: least.kept, max: most.kept })
  return { cost: perUnit(all.max, 2 * perCharacter), size: made }
}

/** How often something of that length is replaced, and how much of the text stays. */
function pieces(
  sought: number,
  { isNoLonger, length }: { readonly isNoLonger: boolean; readonly length: number },
): { readonly count: number; readonly kept: number } {
  if (sought === 0) return { count: sum(length, 1), kept: length }
  return isNoLonger ? { count: 0, kept: length } : { count: Math.ceil(length / sought), kept: 0 }
}

const splitting: Reckon = ({ target, args: [, limit] }) => {
  const all = size(target)
  const most = typeof limit?.literal === 'bigint' ? limit.literal : undefined
  const max = most === undefined ? all.max : most < 0n ? unknownSize.max : Number(most)
  return { cost: perUnit(all.max, 2 * perCharacter), size: { min: 0, max } }
}

const joining: Reckon = ({ target, args: [between] }) => {
  const count = size(target)
  const texts = target?.type?.kind === 'list' ? times(count, target.itemSize ?? unknownSize) : exactly(0)
  const gaps = { min: Math.max(0, count.min - 1), max: Math.max(0, count.max - 1) }
  const all = between === undefined ? texts : added(texts, times(size(between), gaps))
  return { cost: perUnit(all.max, perCharacter), size: all }
}

function matchCost(text: Size, pattern: Size): number {
  return product(perUnit(sum(text.max, 1), perCharacter), perUnit(pattern.max, perPattern))
}

const finding: Reckon = ({ target, args: [pattern] }) => {
  const text = size(target)
  return { cost: matchCost(text, size(pattern)), size: { min: 0, max: text.max } }
}

/** The bytes of two addresses, and of a text that has to be read first. */
function comparingNetworks(bytesCost: number): Reckon {
  return (call) => {
    const isText = call.overloads.some(({ takes: [, second] }) => second?.kind === 'string')
    return { cost: sum(bytesCost, isText ? perUnit(size(call.args[0]).max, perCharacter) : 0) }
  }
}

const settling =
  (isOrder: boolean): Reckon =>
  (call) => {
    if (isOrder && !takes(call, 'string', 'bytes')) return
    const [a, b] = call.args.map((arg) => ownSize(arg).max)
    return { cost: perUnit(Math.min(a ?? 0, b ?? 0), perCharacter) }
  }

const opaqueCosts: Readonly<Record<string, (other: Costed) => number>> = {
  'net.IP': () => 1,
  'net.CIDR': () => 1,
  'kubernetes.Quantity': () => 1,
  'kubernetes.NamedFormat': () => perUnit(formatMax, perCharacter),
  'kubernetes.URL': (other) => perUnit(other.size?.max ?? 1, perCharacter),
}

/** Values that libraries add are compared as a whole; by `!=` they count as something of any size. */
const equalling: Reckon = (call) => {
  const [a, b] = call.args
  const known = a?.type?.kind === 'opaque' && a.type.name === b?.type?.name ? opaqueCosts[a.type.name] : undefined
  return b === undefined || known === undefined ? settling(false)(call) : { cost: known(b) }
}

const adding: Reckon = (call) => {
  const [a, b] = call.args.map(ownSize)
  const made = added(a ?? single, b ?? single)
  if (takes(call, 'string', 'bytes')) return { cost: perUnit(made.max, perCharacter), size: made }
  return takes(call, 'list') ? { cost: 1, size: made } : undefined
}

function onSets(factor: number): Reckon {
  return ({ args: [a, b] }) => ({ cost: sum(product(product(size(a).max, size(b).max), factor), 1) })
}

/** What turns a text into bytes or back. */
function reading(kind: Type['kind'], change: (of: Size) => Size): Reckon {
  return (call) => {
    if (!takes(call, kind)) return
    const all = ownSize(call.args[0])
    return { cost: perUnit(all.max, perCharacter), size: change(all) }
  }
}

const order = settling(true)

const readBytes = reading('bytes', ({ min, max }) => ({ min: Math.floor(min / 4), max }))

/** The digits of a number, or a time, as a text. */
const shortTextMax = 32

/** Kubernetes has no bound here, so that it refuses `'at most ' + string(self.limit)`: that is no rule to learn. */
const writeShort: Reckon = (call) =>
  takes(call, 'string', 'bytes', 'dyn') ? undefined : { cost: 1, size: { min: 0, max: shortTextMax } }

/** All others cost one. */
const byName: Readonly<Record<string, Reckon>> = {
  ...Object.fromEntries(
    ['isSorted', 'sum', 'max', 'min', 'indexOf', 'lastIndexOf'].map((name) => [name, throughItems]),
  ),
  ...Object.fromEntries(['lowerAscii', 'upperAscii', 'substring', 'trim'].map((name) => [name, throughTarget])),
  ...Object.fromEntries(['cidr', 'isIP', 'isCIDR', 'quantity', 'isQuantity'].map((name) => [name, throughFirst])),
  url: (call) => ({ ...throughFirst(call), size: size(call.args[0]) }) as CallCost,
  ip: (call) => (call.target === undefined ? throughFirst(call) : undefined),
  'ip.isCanonical': ({ args: [first] }) => ({ cost: perUnit(size(first).max, 2 * perCharacter) }),
  containsIP: comparingNetworks(4),
  containsCIDR: comparingNetworks(7),
  validate: ({ args: [first] }) => ({
    cost: perUnit(perUnit(size(first).max, perCharacter), formatPattern * perPattern),
  }),
  replace: replacing,
  split: splitting,
  join: joining,
  find: finding,
  findAll: finding,
  matches: ({ target, args: [pattern] }) =>
    target === undefined ? undefined : { cost: matchCost(ownSize(target), ownSize(pattern)) },
  contains: ({ target, args: [sought] }) => ({
    cost: product(perUnit(ownSize(target).max, perCharacter), perUnit(ownSize(sought).max, perCharacter)),
  }),
  startsWith: ({ args: [sought] }) => ({ cost: perUnit(ownSize(sought).max, perCharacter) }),
  endsWith: ({ args: [sought] }) => ({ cost: perUnit(ownSize(sought).max, perCharacter) }),
  format: (call) => (call.target === undefined ? undefined : { cost: perUnit(ownSize(call.target).max, perCharacter) }),
  bytes: reading('string', ({ min, max }) => ({ min, max: product(max, 4) })),
  string: (call) => readBytes(call) ?? writeShort(call),
  'strings.quote': reading('string', ({ min, max }) => ({ min: min + 2, max: sum(product(max, 2), 2) })),
  _in_: (call) =>
    call.overloads.some(({ takes: [, second] }) => second?.kind === 'list')
      ? { cost: ownSize(call.args[1]).max }
      : undefined,
  '_+_': adding,
  '_==_': equalling,
  '_!=_': settling(false),
  '_<_': order,
  '_<=_': order,
  '_>_': order,
  '_>=_': order,
  'sets.contains': onSets(1),
  'sets.intersects': onSets(1),
  'sets.equivalent': onSets(2),
}
