import { compareBytes, compareNumbers, compareTexts, isSame, numberOf, Places } from '../equality.ts'
import { topologyOf, withTopology, type Topology } from '../keyed-list.ts'
import type { Meter } from '../meter.ts'
import { spendText, type Functions, type Run } from '../overload.ts'
import { CelDuration, CelFailure, Timestamp, Uint, type Result, type Value, type ValueMap } from '../value.ts'

/** What the signs of CEL do. */

const overflow = new CelFailure('integer overflow')

export function wholeNumber(value: bigint): Result {
  return BigInt.asIntN(64, value) === value ? value : overflow
}

export function naturalNumber(value: bigint): Result {
  return BigInt.asUintN(64, value) === value ? new Uint(value) : new CelFailure('unsigned integer overflow')
}

function onInts(calculate: (a: bigint, b: bigint) => bigint): Run {
  return ([a, b]) => wholeNumber(calculate(a as bigint, b as bigint))
}

function onUints(calculate: (a: bigint, b: bigint) => bigint): Run {
  return ([a, b]) => naturalNumber(calculate((a as Uint).value, (b as Uint).value))
}

function onDoubles(calculate: (a: number, b: number) => number): Run {
  return ([a, b]) => calculate(a as number, b as number)
}

const byZero = new CelFailure('division by zero')
const moduloZero = new CelFailure('modulus by zero')

function divided(run: Run, failure: CelFailure): Run {
  return (args, meter) => (numberOf(args[1]) === 0n ? failure : run(args, meter))
}

const nsMax = (1n << 63n) - 1n

function span(ns: bigint): Result {
  return ns > nsMax || ns < -nsMax - 1n ? overflow : new CelDuration(ns)
}

const firstNs = -62_135_596_800_000_000_000n
const lastNs = 253_402_300_799_999_999_999n

export function moment(ns: bigint): Result {
  return ns < firstNs || ns > lastNs ? new CelFailure('timestamp overflow') : new Timestamp(ns)
}

const times: Readonly<Record<string, Run>> = {
  '_+_(duration, duration) duration': ([a, b]) => span((a as CelDuration).ns + (b as CelDuration).ns),
  '_-_(duration, duration) duration': ([a, b]) => span((a as CelDuration).ns - (b as CelDuration).ns),
  '_+_(timestamp, duration) timestamp': ([a, b]) => moment((a as Timestamp).ns + (b as CelDuration).ns),
  '_+_(duration, timestamp) timestamp': ([a, b]) => moment((a as CelDuration).ns + (b as Timestamp).ns),
  '_-_(timestamp, duration) timestamp': ([a, b]) => moment((a as Timestamp).ns - (b as CelDuration).ns),
  '_-_(timestamp, timestamp) duration': ([a, b]) => span((a as Timestamp).ns - (b as Timestamp).ns),
}

const numbers: Readonly<Record<string, Run>> = {
  '_+_(int, int) int': onInts((a, b) => a + b),
  '_-_(int, int) int': onInts((a, b) => a - b),
  '_*_(int, int) int': onInts((a, b) => a * b),
  '_/_(int, int) int': divided(
    onInts((a, b) => a / b),
    byZero,
  ),
  '_%_(int, int) int': divided(
    onInts((a, b) => a % b),
    moduloZero,
  ),
  '_+_(uint, uint) uint': onUints((a, b) => a + b),
  '_-_(uint, uint) uint': onUints((a, b) => a - b),
  '_*_(uint, uint) uint': onUints((a, b) => a * b),
  '_/_(uint, uint) uint': divided(
    onUints((a, b) => a / b),
    byZero,
  ),
  '_%_(uint, uint) uint': divided(
    onUints((a, b) => a % b),
    moduloZero,
  ),
  '_+_(double, double) double': onDoubles((a, b) => a + b),
  '_-_(double, double) double': onDoubles((a, b) => a - b),
  '_*_(double, double) double': onDoubles((a, b) => a * b),
  '_/_(double, double) double': onDoubles((a, b) => a / b),
  '-_(int) int': ([a]) => wholeNumber(-(a as bigint)),
  '-_(double) double': ([a]) => -(a as number),
  '!_(bool) bool': ([a]) => a === false,
}

/** Items that come again take the places of those before. */
function unite(topology: Topology, all: readonly Value[], meter: Meter): Result {
  return withTopology(new Places(topology, all, meter).items, topology)
}

const joins: Readonly<Record<string, Run>> = {
  '_+_(string, string) string': ([a, b], meter) => {
    spendText(meter, a as string, b as string)
    return `${a as string}${b as string}`
  },
  '_+_(bytes, bytes) bytes': ([a, b], meter) => {
    const [one, other] = [a as Uint8Array, b as Uint8Array]
    meter.spend((one.length + other.length) >> 3)
    const whole = new Uint8Array(one.length + other.length)
    whole.set(one)
    whole.set(other, one.length)
    return whole
  },
  '_+_(list(A), list(A)) list(A)': ([a, b], meter) => {
    const [one, other] = [a as readonly Value[], b as readonly Value[]]
    meter.spend(one.length + other.length)
    const topology = topologyOf(one)
    const all = [...one, ...other]
    return topology === undefined ? all : unite(topology, all, meter)
  },
  '_in_(A, list(A)) bool': ([a, b], meter) => (b as readonly Value[]).some((item) => isSame(a as Value, item, meter)),
  '_in_(A, map(A, B)) bool': ([a, b]) => (b as ValueMap).get(a as Value) !== undefined,
}

const signs: Readonly<Record<string, (order: number) => boolean>> = {
  '_<_': (order) => order < 0,
  '_<=_': (order) => order <= 0,
  '_>_': (order) => order > 0,
  '_>=_': (order) => order >= 0,
}

const comparable = ['bool', 'string', 'bytes', 'timestamp', 'duration'] as const
const numeric = ['int', 'uint', 'double'] as const

function comparisons(): Readonly<Record<string, Run>> {
  const pairs = [
    ...comparable.map((type) => [type, type] as const),
    ...numeric.flatMap((a) => numeric.map((b) => [a, b] as const)),
  ]
  return Object.fromEntries(
    Object.entries(signs).flatMap(([sign, holds]) =>
      pairs.map(([a, b]): [string, Run] => [
        `${sign}(${a}, ${b}) bool`,
        ([one, other], meter) => {
          const order = compareValues(one as Value, other as Value, meter)
          return !Number.isNaN(order) && holds(order)
        },
      ]),
    ),
  )
}

/** Below zero if the first is less; NaN if there is no order. */
export function compareValues(a: Value, b: Value, meter: Meter): number {
  const [x, y] = [numberOf(a), numberOf(b)]
  if (x !== undefined && y !== undefined) return compareNumbers(x, y)
  if (typeof a === 'string' || a instanceof Uint8Array) meter.spend(a.length >> 3)
  if (typeof a === 'string') return compareTexts(a, b as string)
  if (typeof a === 'boolean') return Number(a) - Number(b)
  if (a instanceof Uint8Array) return compareBytes(a, b as Uint8Array)
  const [one, other] = [(a as Timestamp | CelDuration).ns, (b as Timestamp | CelDuration).ns]
  return one < other ? -1 : one > other ? 1 : 0
}

export const operators: Functions = { ...numbers, ...times, ...joins, ...comparisons() }
