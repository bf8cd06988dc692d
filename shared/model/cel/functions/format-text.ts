import { typeNameOf } from '../equality.ts'
import type { Meter } from '../meter.ts'
import { spendText } from '../overload.ts'
import { showDuration, showTimestamp } from '../times.ts'
import { CelDuration, CelFailure, Timestamp, Uint, type Result, type Value } from '../value.ts'
import { showDouble, toText } from './conversions.ts'
import { literalText } from './literal-text.ts'
import { decimalsMax, groupedText, scientificText } from './number-text.ts'

const clause = /%(?:(%)|(?:\.(\d{1,3}))?([a-zA-Z]))/g
const stepsOfClause = 3

/** A text with values in the place of `%s`, `%d`, `%f`, `%e`, `%x`, `%X`, `%o` and `%b`. */
export function formatText(text: string, values: readonly Value[], meter: Meter): Result {
  spendText(meter, text)
  let failure: CelFailure | undefined
  let place = 0
  const made = text.replace(clause, (_, percent: string | undefined, precision: string | undefined, verb: string) => {
    meter.spend(stepsOfClause)
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
      return wholeText(value, 10) ?? misfit('decimal clause can only be used on integers', value)
    case 'f':
      return formatFixed(value, Number(precision ?? 6))
    case 'e': {
      const number = doubleOf(value)
      return number === undefined
        ? misfit('scientific clause can only be used on doubles', value)
        : scientificText(number)
    }
    case 'x':
    case 'X':
      return formatHex(value, verb, meter)
    case 'o':
      return wholeText(value, 8) ?? misfit('octal clause can only be used on integers', value)
    case 'b':
      if (typeof value === 'boolean') return value ? '1' : '0'
      return wholeText(value, 2) ?? misfit('only integers and bools can be formatted as binary', value)
    default:
      return new CelFailure(`could not parse formatting clause: unrecognized formatting clause "${verb}"`)
  }
}

function wholeText(value: Value, base: number): string | undefined {
  const whole = value instanceof Uint ? value.value : value
  return typeof whole === 'bigint' ? whole.toString(base) : undefined
}

function misfit(why: string, value: Value): CelFailure {
  return new CelFailure(`error during formatting: ${why}, was given ${typeNameOf(value)}`)
}

/** These texts stand for numbers that cannot be written down. */
const specials: ReadonlyMap<Value, number> = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Infinity],
  ['-Infinity', -Infinity],
])

function doubleOf(value: Value): number | undefined {
  return typeof value === 'number' ? value : specials.get(value)
}

function formatFixed(value: Value, decimals: number): string | CelFailure {
  const number = doubleOf(value)
  if (number === undefined) return misfit('fixed-point clause can only be used on doubles', value)
  return decimals > decimalsMax
    ? new CelFailure('error during formatting: precision is too large')
    : groupedText(number, decimals)
}

function formatHex(value: Value, verb: 'x' | 'X', meter: Meter): string | CelFailure {
  const hex = wholeText(value, 16) ?? hexOf(value, meter)
  if (hex === undefined) return misfit('only integers, byte buffers, and strings can be formatted as hex', value)
  return verb === 'X' ? hex.toUpperCase() : hex
}

function hexOf(value: Value, meter: Meter): string | undefined {
  const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value
  if (!(bytes instanceof Uint8Array)) return undefined
  meter.spend(bytes.length * stepsOfByte)
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

const stepsOfByte = 3

/** What stands alone is written as `string()` writes it. */
function showValue(value: Value, meter: Meter): string | CelFailure {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return showDouble(value)
  if (value instanceof Timestamp) return showTimestamp(value.ns)
  if (value instanceof CelDuration) return showDuration(value.ns)
  if (value instanceof Uint8Array) {
    const read = toText(value)
    return read instanceof CelFailure ? unreadable(read) : read
  }
  const text = literalText(value, meter)
  return text instanceof CelFailure ? misfit(`string clause can only be used on ${shownTypes}`, value) : text
}

function unreadable({ message }: CelFailure): CelFailure {
  return new CelFailure(`error during formatting: could not convert argument "${message}" to string`)
}

const shownTypes = 'strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps'
