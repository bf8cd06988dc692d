import { nanosPerOne as one, parseQuantity } from '../../quantity.ts'
import type { Functions, Run } from '../overload.ts'
import { CelFailure, Opaque, type Result, type Value } from '../value.ts'

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

function readQuantity(text: string): Quantity | undefined {
  const nano = parseQuantity(text)
  return nano === undefined ? undefined : new Quantity(nano)
}

function nanoOf(value: Value | undefined): bigint {
  return (value as Quantity).nano
}

function isWhole(nano: bigint): boolean {
  return nano % one === 0n && BigInt.asIntN(64, nano / one) === nano / one
}

function calculated(calculate: (a: bigint, b: bigint) => bigint, scaled: 'quantities' | 'int'): Run {
  return ([a, b]) => new Quantity(calculate(nanoOf(a), scaled === 'int' ? (b as bigint) * one : nanoOf(b)))
}

function toQuantity(text: string): Result {
  return readQuantity(text) ?? new CelFailure(`quantities must match the regular expression: ${text.slice(0, 100)}`)
}

export const quantities: Functions = {
  'quantity(string) kubernetes.Quantity': ([a]) => toQuantity(a as string),
  'isQuantity(string) bool': ([a]) => readQuantity(a as string) !== undefined,
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
  'kubernetes.Quantity.compareTo(kubernetes.Quantity) int': ([a, b]) =>
    nanoOf(a) < nanoOf(b) ? -1n : nanoOf(a) > nanoOf(b) ? 1n : 0n,
}
