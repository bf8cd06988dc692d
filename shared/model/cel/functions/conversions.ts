import { textLengthOf } from '../../schema/text-length.ts'
import { typeNameOf } from '../equality.ts'
import type { Meter } from '../meter.ts'
import { spendText, type Functions } from '../overload.ts'
import { durationLengthMax, showDuration, showTimestamp, readDuration, readTimestamp } from '../times.ts'
import {
  CelDuration,
  CelFailure,
  TypeValue,
  type Result,
  type Timestamp,
  type Uint,
  type Value,
  type ValueMap,
} from '../value.ts'
import { spendPoints } from './code-points.ts'
import { moment, naturalNumber, wholeNumber } from './operators.ts'

function fromDouble(value: number): Result {
  if (!Number.isFinite(value) || Math.abs(value) >= 2 ** 63) return new CelFailure('integer overflow')
  return BigInt(Math.trunc(value))
}

function failure(text: string, type: string): CelFailure {
  return new CelFailure(`type conversion error from 'string' to '${type}': ${text.slice(0, 100)}`)
}

function toInt(text: string): Result {
  return /^[+-]?\d{1,19}$/.test(text) ? wholeNumber(BigInt(text.replace('+', ''))) : failure(text, 'int')
}

function toDouble(text: string): Result {
  if (/^[+-]?inf(?:inity)?$/i.test(text)) return text.startsWith('-') ? -Infinity : Infinity
  if (/^nan$/i.test(text)) return NaN
  const isNumber = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) && Number.isFinite(Number(text))
  return isNumber ? Number(text) : failure(text, 'double')
}

function toBool(text: string): Result {
  if (['1', 't', 'T', 'true', 'TRUE', 'True'].includes(text)) return true
  return ['0', 'f', 'F', 'false', 'FALSE', 'False'].includes(text) ? false : failure(text, 'bool')
}

/** A number as Go's `%g` prints it. */
export function showDouble(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'
  if (Object.is(value, -0)) return '-0'
  const size = Math.abs(value)
  if (value === 0 || (size >= 1e-4 && size < 1e6)) return String(value)
  return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2')
}

export function toText(bytes: Uint8Array): string | CelFailure {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (error) {
    if (error instanceof TypeError) return new CelFailure('invalid UTF-8 in bytes, cannot convert to string')
    throw error
  }
}

const sizes = {
  'size(string) int': ([a]: readonly Value[], meter: Meter) => {
    spendPoints(meter, a as string)
    return BigInt(textLengthOf(a as string))
  },
  'size(bytes) int': ([a]: readonly Value[]) => BigInt((a as Uint8Array).length),
  'size(list(A)) int': ([a]: readonly Value[]) => BigInt((a as readonly Value[]).length),
  'size(map(A, B)) int': ([a]: readonly Value[], meter: Meter) => {
    const { size } = a as ValueMap
    meter.spend(size)
    return BigInt(size)
  },
}

export const conversions: Functions = {
  ...sizes,
  'string.size() int': sizes['size(string) int'],
  'bytes.size() int': sizes['size(bytes) int'],
  'list(A).size() int': sizes['size(list(A)) int'],
  'map(A, B).size() int': sizes['size(map(A, B)) int'],
  'dyn(A) dyn': ([a]) => a as Value,
  'type(A) type(A)': ([a]) => new TypeValue(typeNameOf(a as Value)),
  'int(int) int': ([a]) => a as Value,
  'int(uint) int': ([a]) => wholeNumber((a as Uint).value),
  'int(double) int': ([a]) => fromDouble(a as number),
  'int(string) int': ([a]) => toInt(a as string),
  'int(timestamp) int': ([a]) => floorSeconds((a as Timestamp).ns),
  'int(duration) int': ([a]) => (a as CelDuration).ns,
  'uint(uint) uint': ([a]) => a as Value,
  'uint(int) uint': ([a]) => naturalNumber(a as bigint),
  'uint(double) uint': ([a]) => {
    const whole = Number.isFinite(a) && Number(a) >= 0 ? BigInt(Math.trunc(a as number)) : -1n
    return naturalNumber(whole)
  },
  'uint(string) uint': ([a]) =>
    /^\d{1,20}$/.test(a as string) ? naturalNumber(BigInt(a as string)) : failure(a as string, 'uint'),
  'double(double) double': ([a]) => a as Value,
  'double(int) double': ([a]) => Number(a),
  'double(uint) double': ([a]) => Number((a as Uint).value),
  'double(string) double': ([a], meter) => {
    spendText(meter, a as string)
    return toDouble(a as string)
  },
  'bool(bool) bool': ([a]) => a as Value,
  'bool(string) bool': ([a]) => toBool(a as string),
  'string(string) string': ([a]) => a as Value,
  'string(bool) string': ([a]) => String(a),
  'string(int) string': ([a]) => String(a),
  'string(uint) string': ([a]) => String((a as Uint).value),
  'string(double) string': ([a]) => showDouble(a as number),
  'string(timestamp) string': ([a]) => showTimestamp((a as Timestamp).ns),
  'string(duration) string': ([a]) => showDuration((a as CelDuration).ns),
  'string(bytes) string': ([a], meter) => {
    meter.spend((a as Uint8Array).length >> 3)
    return toText(a as Uint8Array)
  },
  'bytes(bytes) bytes': ([a]) => a as Value,
  'bytes(string) bytes': ([a], meter) => {
    spendText(meter, a as string)
    return new TextEncoder().encode(a as string)
  },
  'timestamp(timestamp) timestamp': ([a]) => a as Value,
  'timestamp(int) timestamp': ([a]) => moment((a as bigint) * 1_000_000_000n),
  'timestamp(string) timestamp': ([a], meter) => {
    spendText(meter, a as string)
    const ns = readTimestamp(a as string)
    return ns === undefined ? failure(a as string, 'google.protobuf.Timestamp') : moment(ns)
  },
  'duration(duration) duration': ([a]) => a as Value,
  'duration(string) duration': ([a], meter) => {
    meter.spend(stepsOfDuration + Math.min((a as string).length, durationLengthMax) * stepsOfDurationCharacter)
    const ns = readDuration(a as string)
    return ns === undefined ? failure(a as string, 'google.protobuf.Duration') : new CelDuration(ns)
  },
  'duration(int) duration': ([a]) => new CelDuration(a as bigint),
}

const stepsOfDuration = 40
const stepsOfDurationCharacter = 6

function floorSeconds(ns: bigint): bigint {
  const seconds = ns / 1_000_000_000n
  return ns % 1_000_000_000n < 0n ? seconds - 1n : seconds
}
