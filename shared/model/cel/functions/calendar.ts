import type { Functions, Run } from '../overload.ts'
import { civilOf, type Civil } from '../times.ts'
import { CelFailure, type CelDuration, type Timestamp } from '../value.ts'

const billion = 1_000_000_000n

function secondsOf(ns: bigint): number {
  const rest = ((ns % billion) + billion) % billion
  return Number((ns - rest) / billion)
}

/** No time zone has as long a name. */
const zoneLengthMax = 64

/** How far a time zone is ahead of UTC at a moment; undefined for a name that is none. */
function offsetOf(zone: string, seconds: number): number | undefined {
  if (zone.length > zoneLengthMax) return undefined
  const fixed = /^([+-]?)(\d{1,2}):(\d{2})$/.exec(zone)
  if (fixed !== null) {
    const [, sign, hours = '', minutes = ''] = fixed
    return (Number(hours) * 3_600 + Number(minutes) * 60) * (sign === '-' ? -1 : 1)
  }
  try {
    // oxlint-disable-next-line no-restricted-globals -- the expression names the time zone, and the locale is fixed
    const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
    const name = format.formatToParts(seconds * 1_000).find(({ type }) => type === 'timeZoneName')?.value ?? ''
    const [, sign, hours = '0', minutes = '0', rest = '0'] = /GMT([+-])(\d{2}):(\d{2})(?::(\d{2}))?/.exec(name) ?? []
    return (Number(hours) * 3_600 + Number(minutes) * 60 + Number(rest)) * (sign === '-' ? -1 : 1)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function part(of: (civil: Civil) => number): Run {
  return ([time, zone], meter) => {
    const seconds = secondsOf((time as Timestamp).ns)
    if (zone === undefined) return BigInt(of(civilOf(seconds)))
    // A formatter of a time zone takes about fifty microseconds to be made.
    meter.spend(2_000)
    const offset = offsetOf(zone as string, seconds)
    return offset === undefined
      ? new CelFailure(`unknown time zone ${String(zone).slice(0, 100)}`)
      : BigInt(of(civilOf(seconds + offset)))
  }
}

const milliseconds: Run = ([time]) => ((((time as Timestamp).ns % billion) + billion) % billion) / 1_000_000n

const parts: Readonly<Record<string, Run>> = {
  getFullYear: part(({ year }) => year),
  getMonth: part(({ month }) => month - 1),
  getDate: part(({ day }) => day),
  getDayOfMonth: part(({ day }) => day - 1),
  getDayOfWeek: part(({ dayOfWeek }) => dayOfWeek),
  getDayOfYear: part(({ dayOfYear }) => dayOfYear),
  getHours: part(({ hour }) => hour),
  getMinutes: part(({ minute }) => minute),
  getSeconds: part(({ second }) => second),
  getMilliseconds: milliseconds,
}

export const calendar: Functions = {
  ...Object.fromEntries(
    Object.entries(parts).flatMap(([name, run]) => [
      [`timestamp.${name}() int`, run],
      [`timestamp.${name}(string) int`, run],
    ]),
  ),
  'duration.getHours() int': ([a]) => (a as CelDuration).ns / (3_600n * billion),
  'duration.getMinutes() int': ([a]) => (a as CelDuration).ns / (60n * billion),
  'duration.getSeconds() int': ([a]) => (a as CelDuration).ns / billion,
  'duration.getMilliseconds() int': ([a]) => (a as CelDuration).ns / 1_000_000n,
}
