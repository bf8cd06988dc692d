import { decimal, nanosPerOne as one, parseQuantity, quantityLengthMax } from '../../quantity.ts'
import type { Meter } from '../meter.ts'
import type { Functions, Run } from '../overload.ts'
import { CelFailure, Opaque, type Value } from '../value.ts'

/** An amount as Kubernetes writes it: `1.5Gi`, `100m`. It counts in thousand-millionths. */
class Quantity extends Opaque {
  readonly type = 'kubernetes.Quantity'
  readonly nano: bigint
  /** Kubernetes holds it as a whole number times ten to this power; undefined for one that it holds otherwise. */
  readonly scale: number | undefined

  constructor(nano: bigint, scale: number | undefined) {
    super()
    this.nano = nano
    this.scale = scale
  }

  equals(other: Opaque): boolean {
    return other instanceof Quantity && other.nano === this.nano
  }
}

const stepsOfCharacter = 4

function readQuantity(text: string, meter: Meter): Quantity | undefined {
  meter.spend(Math.min(text.length, quantityLengthMax) * stepsOfCharacter)
  const nano = parseQuantity(text)
  return nano === undefined ? undefined : new Quantity(nano, scaleOf(text))
}

/** Source: apimachinery, `resource.ParseQuantity`. */
function scaleOf(text: string): number | undefined {
  const [, whole = '', fraction = '', exponent, unit = ''] = form.exec(text) ?? []
  const digits = Math.max(1, whole.length) + fraction.length
  const bits = binary.indexOf(unit) * 10
  if (bits > 0) return fraction === '' && digits + Math.trunc((bits * 3) / 10) < 15 ? 0 : undefined
  const power = exponent === undefined ? (decimal[unit] ?? 0) : Number(exponent)
  const scale = power - fraction.length
  return digits <= 18 && scale >= -9 ? scale : undefined
}

const form = /^[-+]?0*(\d*)\.?(\d*)(?:[eE]([-+]?\d+)|(.*))$/
const binary = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']

function nanoOf(value: Value | undefined): bigint {
  return (value as Quantity).nano
}

/** Not of `1.0` and `1000m`, as Kubernetes holds them. */
function isWhole({ nano, scale = -1 }: Quantity): boolean {
  return scale >= 0 && isInt64(nano / one)
}

function isInt64(value: bigint): boolean {
  return BigInt.asIntN(64, value) === value
}

/** Source: apimachinery, `int64Amount.Add`. */
function scaleOfSum(a: Quantity, b: Quantity, sum: bigint): number | undefined {
  if (a.scale === undefined || b.scale === undefined) return undefined
  if (b.nano === 0n) return a.scale
  if (a.nano === 0n) return b.scale
  const scale = Math.min(a.scale, b.scale)
  const isHeld = (nano: bigint): boolean => isInt64(nano / 10n ** BigInt(9 + scale))
  return isHeld(a.nano) && isHeld(b.nano) && isHeld(sum) ? scale : undefined
}

function signOf(nano: bigint): bigint {
  return nano < 0n ? -1n : nano > 0n ? 1n : 0n
}

function calculated(calculate: (a: bigint, b: bigint) => bigint): Run {
  return ([a, b]) => {
    const [first, second] = [a as Quantity, typeof b === 'bigint' ? new Quantity(b * one, 0) : (b as Quantity)]
    const sum = calculate(first.nano, second.nano)
    return new Quantity(sum, scaleOfSum(first, second, sum))
  }
}

const toQuantity: Run = ([text], meter) =>
  readQuantity(text as string, meter) ??
  new CelFailure(`quantities must match the regular expression: ${(text as string).slice(0, 100)}`)

export const quantities: Functions = {
  'quantity(string) kubernetes.Quantity': toQuantity,
  'isQuantity(string) bool': ([a], meter) => readQuantity(a as string, meter) !== undefined,
  'kubernetes.Quantity.isInteger() bool': ([a]) => isWhole(a as Quantity),
  'kubernetes.Quantity.asInteger() int': ([a]) =>
    isWhole(a as Quantity) ? nanoOf(a) / one : new CelFailure('cannot convert value to integer'),
  'kubernetes.Quantity.asApproximateFloat() double': ([a]) => Number(nanoOf(a)) / Number(one),
  'kubernetes.Quantity.add(kubernetes.Quantity) kubernetes.Quantity': calculated((a, b) => a + b),
  'kubernetes.Quantity.add(int) kubernetes.Quantity': calculated((a, b) => a + b),
  'kubernetes.Quantity.sub(kubernetes.Quantity) kubernetes.Quantity': calculated((a, b) => a - b),
  'kubernetes.Quantity.sub(int) kubernetes.Quantity': calculated((a, b) => a - b),
  'kubernetes.Quantity.isLessThan(kubernetes.Quantity) bool': ([a, b]) => nanoOf(a) < nanoOf(b),
  'kubernetes.Quantity.isGreaterThan(kubernetes.Quantity) bool': ([a, b]) => nanoOf(a) > nanoOf(b),
  'kubernetes.Quantity.compareTo(kubernetes.Quantity) int': ([a, b]) => signOf(nanoOf(a) - nanoOf(b)),
  // Kubernetes' documents call it on a quantity; its checker does not take that.
  'sign(kubernetes.Quantity) int': ([a]) => signOf(nanoOf(a)),
}
