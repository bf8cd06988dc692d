import { overloads, type Overload, type Run } from '../overload.ts'
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

const one = 1_000_000_000n
const form = /^([+-]?)(?:(\d+)\.?(\d*)|\.(\d+))(?:([KMGTPE]i|[numkMGTPE])|[eE]([+-]?\d{1,2}))?$/
const binary: Readonly<Record<string, bigint>> = { Ki: 10n, Mi: 20n, Gi: 30n, Ti: 40n, Pi: 50n, Ei: 60n }
const decimal: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 }

/** Undefined for a text that is no quantity. */
function readQuantity(text: string): Quantity | undefined {
  const found = text.length > 100 ? null : form.exec(text)
  if (found === null) return undefined
  const [, sign, whole = '', fraction = '', bare = '', suffix, exponent] = found
  const digits = `${whole}${fraction}${bare}`
  const scale = (fraction + bare).length
  let top = BigInt(digits) * one
  let bottom = 10n ** BigInt(scale)
  const bits = suffix === undefined ? undefined : binary[suffix]
  const power = exponent === undefined ? (suffix === undefined ? 0 : (decimal[suffix] ?? 0)) : Number(exponent)
  if (bits !== undefined) top <<= bits
  else if (power >= 0) top *= 10n ** BigInt(power)
  else bottom *= 10n ** BigInt(-power)
  // What is smaller than can be counted is rounded up, away from zero.
  const nano = (top + bottom - 1n) / bottom
  return new Quantity(sign === '-' ? -nano : nano)
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

export const quantities: readonly Overload[] = overloads({
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
})
