import { typeNameOf } from '../equality.ts'
import type { Meter } from '../meter.ts'
import { showDuration, showTimestamp } from '../times.ts'
import { CelDuration, CelFailure, Timestamp, TypeValue, Uint, ValueMap, type Result, type Value } from '../value.ts'
import { showDouble } from './conversions.ts'

const clause = /%(?:(%)|(?:\.(\d{1,3}))?([a-zA-Z]))/g

/** A text with values in the place of `%s`, `%d`, `%f`, `%e`, `%x`, `%X`, `%o` and `%b`. */
export function formatText(text: string, values: readonly Value[], meter: Meter): Result {
  let failure: CelFailure | undefined
  let place = 0
  const made = text.replace(clause, (_, percent: string | undefined, precision: string | undefined, verb: string) => {
    if (percent !== undefined) return '%'
    const value = values[place++]
    const shown =
      value === undefined
        ? new CelFailure(`index ${place - 1} out of range`)
        : formatValue(value, verb, precision, meter)
    if (shown instanceof CelFailure) failure ??= shown
    else meter.spend(shown.length >> 3)
    return shown instanceof CelFailure ? '' : shown
  })
  return failure ?? made
}

function formatValue(value: Value, verb: string, precision: string | undefined, meter: Meter): string | CelFailure {
  switch (verb) {
    case 's':
      return showValue(value, meter)
    case 'd':
      return typeof value === 'bigint' || value instanceof Uint
        ? String(wholeOf(value))
        : typeof value === 'number' && !Number.isFinite(value)
          ? showSpecial(value)
          : wrongType(verb, value)
    case 'f':
    case 'e':
      return formatDouble(value, verb, Number(precision ?? 6))
    case 'x':
    case 'X':
      return formatHex(value, verb)
    case 'o':
    case 'b':
      if (typeof value === 'boolean' && verb === 'b') return value ? '1' : '0'
      return typeof value === 'bigint' || value instanceof Uint
        ? wholeOf(value).toString(verb === 'o' ? 8 : 2)
        : wrongType(verb, value)
    default:
      return new CelFailure(`could not parse formatting clause: unrecognized formatting clause "${verb}"`)
  }
}

function wholeOf(value: bigint | Uint): bigint {
  return value instanceof Uint ? value.value : value
}

function wrongType(verb: string, value: Value): CelFailure {
  return new CelFailure(`error during formatting: no formatting clause "%${verb}" for type ${typeNameOf(value)}`)
}

function showSpecial(value: number): string {
  return Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity'
}

function formatDouble(value: Value, verb: 'f' | 'e', digits: number): string | CelFailure {
  const number = typeof value === 'bigint' ? Number(value) : value instanceof Uint ? Number(value.value) : value
  if (typeof number !== 'number') return wrongType(verb, value)
  if (!Number.isFinite(number)) return showSpecial(number)
  if (digits > 100) return new CelFailure('error during formatting: precision is too large')
  return verb === 'f' ? number.toFixed(digits) : number.toExponential(digits).replace(/e([+-])(\d)$/, 'e$10$2')
}

function formatHex(value: Value, verb: 'x' | 'X'): string | CelFailure {
  const hex = hexOf(value)
  if (hex === undefined) return wrongType(verb, value)
  return verb === 'X' ? hex.toUpperCase() : hex
}

function hexOf(value: Value): string | undefined {
  if (typeof value === 'bigint' || value instanceof Uint) return wholeOf(value).toString(16)
  const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value
  if (!(bytes instanceof Uint8Array)) return undefined
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function showValue(value: Value, meter: Meter): string {
  meter.spend(2)
  if (typeof value === 'string') return value
  if (typeof value === 'number') return Number.isFinite(value) ? showDouble(value) : showSpecial(value)
  if (value instanceof Uint) return String(value.value)
  if (value instanceof Uint8Array) return new TextDecoder().decode(value)
  if (value instanceof Timestamp) return showTimestamp(value.ns)
  if (value instanceof CelDuration) return showDuration(value.ns)
  if (value instanceof TypeValue) return value.name
  if (Array.isArray(value)) return `[${(value as readonly Value[]).map((item) => showValue(item, meter)).join(', ')}]`
  if (value instanceof ValueMap) return showMap(value, meter)
  return String(value)
}

function showMap(map: ValueMap, meter: Meter): string {
  const entries = map.keys().map((key) => {
    const value = map.get(key)
    const shown = value === undefined || value instanceof CelFailure ? '' : showValue(value, meter)
    return `${showValue(key, meter)}: ${shown}`
  })
  return `{${entries.toSorted().join(', ')}}`
}
