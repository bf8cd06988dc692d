import { isSame } from '../equality.ts'
import type { Functions, Run } from '../overload.ts'
import type { Meter } from '../meter.ts'
import { CelDuration, CelFailure, Optional, type Result, Uint, type Value } from '../value.ts'
import { compareValues, naturalNumber, wholeNumber } from './operators.ts'
import { patternOf } from '../patterns.ts'

type Values = readonly Value[]

function extreme(name: 'min' | 'max'): Run {
  return ([list], meter) => {
    const values = list as Values
    const [first] = values
    if (first === undefined) return new CelFailure(`${name} called on empty list`)
    meter.spend(values.length * 2)
    const isBetter = (order: number): boolean => (name === 'min' ? order < 0 : order > 0)
    return values.reduce((best, value) => (isBetter(compareValues(value, best, meter)) ? value : best), first)
  }
}

const isSorted: Run = ([list], meter) => {
  const values = list as Values
  meter.spend(values.length * 2)
  return values.every((value, i) => i === 0 || compareValues(values[i - 1] as Value, value, meter) <= 0)
}

function places(find: 'first' | 'last'): Run {
  return ([list, sought], meter) => {
    const isSought = (value: Value): boolean => isSame(value, sought as Value, meter)
    const values = list as Values
    return BigInt(find === 'first' ? values.findIndex(isSought) : values.findLastIndex(isSought))
  }
}

function sum(add: (values: Values) => Result): Run {
  return ([list], meter) => {
    meter.spend((list as Values).length * 2)
    return add(list as Values)
  }
}

const ordered = ['int', 'uint', 'double', 'bool', 'string', 'bytes', 'timestamp', 'duration'] as const

function forOrdered(name: string, gives: (type: string) => string, run: Run): readonly (readonly [string, Run])[] {
  return ordered.map((type) => [`list(${type}).${name}() ${gives(type)}`, run] as const)
}

const holdsAll = (of: Values, all: Values, meter: Meter): boolean =>
  all.every((one) => of.some((other) => isSame(one, other, meter)))

const listTable: Readonly<Record<string, Run>> = {
  ...Object.fromEntries(forOrdered('isSorted', () => 'bool', isSorted)),
  ...Object.fromEntries(forOrdered('min', (type) => type, extreme('min'))),
  ...Object.fromEntries(forOrdered('max', (type) => type, extreme('max'))),
  'list(int).sum() int': sum((values) => wholeNumber(values.reduce((all: bigint, one) => all + (one as bigint), 0n))),
  'list(uint).sum() uint': sum((values) =>
    naturalNumber(values.reduce((all: bigint, one) => all + (one as Uint).value, 0n)),
  ),
  'list(double).sum() double': sum((values) => values.reduce((all: number, one) => all + (one as number), 0)),
  'list(duration).sum() duration': sum(
    (values) => new CelDuration(values.reduce((all: bigint, one) => all + (one as CelDuration).ns, 0n)),
  ),
  'list(A).indexOf(A) int': places('first'),
  'list(A).lastIndexOf(A) int': places('last'),
  'sets.contains(list(A), list(A)) bool': ([a, b], meter) => holdsAll(a as Values, b as Values, meter),
  'sets.equivalent(list(A), list(A)) bool': ([a, b], meter) =>
    holdsAll(a as Values, b as Values, meter) && holdsAll(b as Values, a as Values, meter),
  'sets.intersects(list(A), list(A)) bool': ([a, b], meter) =>
    (a as Values).some((one) => (b as Values).some((other) => isSame(one, other, meter))),
}

const optionalTable: Readonly<Record<string, Run>> = {
  'optional.none() optional(A)': () => new Optional(undefined),
  'optional.of(A) optional(A)': ([a]) => new Optional(a),
  'optional.ofNonZeroValue(A) optional(A)': ([a]) => new Optional(isZero(a as Value) ? undefined : a),
  'optional(A).hasValue() bool': ([a]) => (a as Optional).value !== undefined,
  'optional(A).value() A': ([a]) => valueOr(a, new CelFailure('optional.none() dereference')),
  'optional(A).orValue(A) A': ([a, b]) => valueOr(a, b as Value),
  'optional(A).or(optional(A)) optional(A)': ([a, b]) => ((a as Optional).value === undefined ? b : a) as Value,
}

/** Null is a value. */
function valueOr(optional: Value | undefined, otherwise: Result): Result {
  const { value } = optional as Optional
  return value === undefined ? otherwise : value
}

function isZero(value: Value): boolean {
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length === 0
  if (value instanceof Uint) return value.value === 0n
  if (typeof value === 'object' && value !== null && 'size' in value) return value.size === 0
  return value === null || value === false || value === 0 || value === 0n || value === ''
}

/** All places of a text where a pattern matches, or the first so many. */
function findAll(text: string, source: string, most: number, meter: Meter): Result {
  const pattern = patternOf(source, meter)
  if (pattern instanceof CelFailure) return pattern
  const found: string[] = []
  const { stepsPerCharacter } = pattern
  meter.spend((1 + text.length) * stepsPerCharacter)
  for (const { text: part, end } of pattern.findIn(text)) {
    found.push(part)
    if (found.length === most) return found
    // Each next search may look at all the rest to find a short place.
    meter.spend(4 + (((text.length - end) * stepsPerCharacter) >> 2))
  }
  return found
}

const regexTable: Readonly<Record<string, Run>> = {
  'string.matches(string) bool': ([a, b], meter) => matches(a as string, b as string, meter),
  'matches(string, string) bool': ([a, b], meter) => matches(a as string, b as string, meter),
  'string.find(string) string': ([a, b], meter) => {
    const found = findAll(a as string, b as string, 1, meter)
    return Array.isArray(found) ? ((found[0] as string | undefined) ?? '') : found
  },
  'string.findAll(string) list(string)': ([a, b], meter) => findAll(a as string, b as string, -1, meter),
  'string.findAll(string, int) list(string)': ([a, b, c], meter) =>
    c === 0n ? [] : findAll(a as string, b as string, Number(c), meter),
}

function matches(text: string, source: string, meter: Meter): Result {
  const pattern = patternOf(source, meter)
  if (pattern instanceof CelFailure) return pattern
  meter.spend((1 + text.length) * pattern.stepsPerCharacter)
  return pattern.matches(text)
}

export const lists: Functions = { ...listTable, ...optionalTable, ...regexTable }
