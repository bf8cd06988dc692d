/** Times of CEL: nanoseconds as bigints. */

const units: Readonly<Record<string, bigint>> = {
  h: 3_600_000_000_000n,
  m: 60_000_000_000n,
  s: 1_000_000_000n,
  ms: 1_000_000n,
  us: 1_000n,
  '\u00b5s': 1_000n,
  '\u03bcs': 1_000n,
  ns: 1n,
}

/** Longer texts are no durations. */
export const durationLengthMax = 100

/** A duration as Go writes it, such as `1h30m`; undefined for any other text, and for what is beyond 292 years. */
export function readDuration(text: string): bigint | undefined {
  if (/^[+-]?0$/.test(text)) return 0n
  if (
    text.length > durationLengthMax ||
    !/^[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:h|ms|m|s|us|\u00b5s|\u03bcs|ns))+$/.test(text)
  )
    return undefined
  let ns = 0n
  for (const [, digits = '', unit = ''] of text.matchAll(/(\d+\.?\d*|\.\d+)(h|ms|m|s|us|\u00b5s|\u03bcs|ns)/g)) {
    const [whole = '', fraction = ''] = digits.split('.')
    const size = units[unit] ?? 0n
    ns += BigInt(whole) * size
    if (fraction !== '') ns += (BigInt(fraction) * size) / 10n ** BigInt(fraction.length)
  }
  return asNanoseconds(text.startsWith('-') ? -ns : ns)
}

/** Of what is within 64 bits. */
function asNanoseconds(ns: bigint): bigint | undefined {
  return BigInt.asIntN(64, ns) === ns ? ns : undefined
}

/** By the words that Scala writes for units, of which some may go on: `7d`, `3 days`. */
const words: readonly (readonly [RegExp, bigint])[] = [
  [/^(?:ns$|nano)/, 1n],
  [/^(?:[u\u00b5]s$|micro)/, 1_000n],
  [/^(?:ms$|milli)/, 1_000_000n],
  [/^(?:s$|sec)/, 1_000_000_000n],
  [/^(?:m$|min)/, 60_000_000_000n],
  [/^(?:hr?$|hour)/, 3_600_000_000_000n],
  [/^(?:d$|day)/, 86_400_000_000_000n],
  [/^(?:wk?$|week)/, 604_800_000_000_000n],
]

/**
 * The same of a text that `format: duration` takes: as Go writes it, or else the sum of all numbers with a unit behind
 * them. Source: kube-openapi, `strfmt.ParseDuration`, where a sum beyond 292 years begins again.
 */
export function readFormatDuration(text: string): bigint | undefined {
  const exact = readDuration(text)
  if (exact !== undefined || text.length > durationLengthMax) return exact
  const parts = [...text.matchAll(/(\d+)[\t\n\f\r ]*([A-Za-z\u00b5]+)/g)].flatMap(([, digits = '', word = '']) => {
    const [, size] = words.find(([form]) => form.test(word.toLowerCase())) ?? []
    return size === undefined ? [] : [BigInt(digits) * size]
  })
  return parts.length === 0 ? undefined : asNanoseconds(parts.reduce((sum, part) => sum + part, 0n))
}

/** As CEL prints a duration: seconds. */
export function showDuration(ns: bigint): string {
  const sign = ns < 0n ? '-' : ''
  const size = ns < 0n ? -ns : ns
  const fraction = String(size % 1_000_000_000n)
    .padStart(9, '0')
    .replace(/0+$/, '')
  return `${sign}${size / 1_000_000_000n}${fraction === '' ? '' : `.${fraction}`}s`
}

const rfc3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9})\d*)?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/

/** Of a text such as `2026-01-01T00:00:00Z`; undefined for any other. */
export function readTimestamp(text: string): bigint | undefined {
  const found = rfc3339.exec(text)
  if (found === null) return undefined
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  const [, , , , , , , fraction = '', sign, offsetHours = '0', offsetMinutes = '0'] = found
  if (month < 1 || month > 12 || day < 1 || day > daysOfMonth(year, month)) return undefined
  if (hour > 23 || minute > 59 || second > 59) return undefined
  const offset = (Number(offsetHours) * 60 + Number(offsetMinutes)) * (sign === '-' ? -60 : 60)
  const seconds = daysFrom(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second - offset
  return BigInt(seconds) * 1_000_000_000n + BigInt(fraction.padEnd(9, '0'))
}

/** A moment as people write it, in one time zone. */
export interface Civil {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
  readonly second: number
  readonly dayOfWeek: number
  readonly dayOfYear: number
}

export function civilOf(seconds: number): Civil {
  const days = Math.floor(seconds / 86_400)
  const rest = seconds - days * 86_400
  const { year, month, day } = dateOf(days)
  return {
    year,
    month,
    day,
    hour: Math.floor(rest / 3_600),
    minute: Math.floor(rest / 60) % 60,
    second: rest % 60,
    dayOfWeek: (((days + 4) % 7) + 7) % 7,
    dayOfYear: days - daysFrom(year, 1, 1),
  }
}

export function showTimestamp(ns: bigint): string {
  const fraction = ((ns % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n
  const { year, month, day, hour, minute, second } = civilOf(Number((ns - fraction) / 1_000_000_000n))
  const two = (value: number): string => String(value).padStart(2, '0')
  const digits = String(fraction).padStart(9, '0').replace(/0+$/, '')
  const date = `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`
  return `${date}T${two(hour)}:${two(minute)}:${two(second)}${digits === '' ? '' : `.${digits}`}Z`
}

/** Days since 1970, by the calendar that has always been as it is now. */
function daysFrom(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year
  const era = Math.floor(y / 400)
  const yearOfEra = y - era * 400
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1
  return era * 146_097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - 719_468
}

function dateOf(days: number): { readonly year: number; readonly month: number; readonly day: number } {
  const shifted = days + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const leap = Math.floor(dayOfEra / 1_460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096)
  const yearOfEra = Math.floor((dayOfEra - leap) / 365)
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const part = Math.floor((5 * dayOfYear + 2) / 153)
  const month = part < 10 ? part + 3 : part - 9
  const day = dayOfYear - Math.floor((153 * part + 2) / 5) + 1
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day }
}

function daysOfMonth(year: number, month: number): number {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0
}
