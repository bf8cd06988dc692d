import { nanosPerOne as one, parseQuantity } from '../../quantity.ts'
import type { Meter } from '../meter.ts'
import type { Functions, Run } from '../overload.ts'
import { CelFailure, Opaque, type Value } from '../value.ts'

/** An amount as Kubernetes writes it: `1.5Gi`, `100m`. It counts in thousand-millionths. */
class Quantity extends Opaque {
  readonly type = 'kubernetes.Quantity'
  readonly nano: bigint

  constructor(nano: bigint) {
    super()
    this.nano = nano
  }

  equals(other: Opaque): boolean {
    return other instanceof Quantity && other.nano === this.nano
  }
}

/** Longer texts are none. */
const readLengthMax = 100
const stepsOfCharacter = 4

function readQuantity(text: string, meter: Meter): Quantity | undefined {
  meter.spend(Math.min(text.length, readLengthMax) * stepsOfCharacter)
  const nano = parseQuantity(text)
  return nano === undefined ? undefined : new Quantity(nano)
}

function nanoOf(value: Value | undefined): bigint {
  return (value as Quantity).nano
}

function isWhole(nano: bigint): boolean {
  return nano % one === 0n && BigInt.asIntN(64, nano / one) === nano / one
}

function signOf(nano: bigint): bigint {
  return nano < 0n ? -1n : nano > 0n ? 1n : 0n
}

function calculated(calculate: (a: bigint, b: bigint) => bigint, scaled: 'quantities' | 'int'): Run {
  return ([a, b]) => new Quantity(calculate(nanoOf(a), scaled === 'int' ? (b as bigint) * one : nanoOf(b)))
}

const toQuantity: Run = ([text], meter) =>
  readQuantity(text as string, meter) ??
  new CelFailure(`quantities must match the regular expression: ${(text as string).slice(0, 100)}`)

export const quantities: Functions = {
  'quantity(string) kubernetes.Quantity': toQuantity,
  'isQuantity(string) bool': ([a], meter) => readQuantity(a as string, meter) !== undefined,
  'kubernetes.Quantity.isInteger() bool': ([a]) => isWhole(nanoOf(a)),
  'kubernetes.Quantity.asInteger() int': ([a]) =>
    isWhole(nanoOf(a)) ? nanoOf(a) / one : new CelFailure('cannot convert value to integer'),
  'kubernetes.Quantity.asApproximateFloat() double': ([a]) => Number(nanoOf(a)) / Number(one),
  'kubernetes.Quantity.add(kubernetes.Quantity) kubernetes.Quantity': calculated((a, b) => a + b, 'quantities'),
  'kubernetes.Quantity.add(int) kubernetes.Quantity': calculated((a, b) => a + b, 'int'),
  'kubernetes.Quantity.sub(kubernetes.Quantity) kubernetes.Quantity': calculated((a, b) => a - b, 'quantities'),
  'kubernetes.Quantity.sub(int) kubernetes.Quantity': calculated((a, b) => a - b, 'int'),
  'kubernetes.Quantity.isLessThan(kubernetes.Quantity) bool': ([a, b]) => nanoOf(a) < nanoOf(b),
  'kubernetes.Quantity.isGreaterThan(kubernetes.Quantity) bool': ([a, b]) => nanoOf(a) > nanoOf(b),
  'kubernetes.Quantity.compareTo(kubernetes.Quantity) int': ([a, b]) => signOf(nanoOf(a) - nanoOf(b)),
  // Kubernetes' documents call it on a quantity; its checker does not take that.
  'sign(kubernetes.Quantity) int': ([a]) => signOf(nanoOf(a)),
}
