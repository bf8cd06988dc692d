/** Times as Kubernetes writes them. The caller brings the time; nothing here reads a clock. */
/* oxlint-disable no-restricted-globals -- Date turns given milliseconds into text and back here, and nowhere else. */

/** `metav1.Time`: seconds, UTC. */
export function timestamp(ms: number): string {
  const second = Math.floor(ms / 1000)
  if (second !== lastSecond.second) lastSecond = { second, text: `${isoText(ms).slice(0, 19)}Z` }
  return lastSecond.text
}

/** The text of the second that was asked for last: each write asks for the one it happens in. */
let lastSecond: { readonly second: number; readonly text: string } = { second: 0, text: '1970-01-01T00:00:00Z' }

/** The last moment that a Date can be, either way. */
const timeMsMax = 8.64e15

/**
 * Milliseconds, UTC: for waits, where a second is too coarse. What is beyond all time is its end: nobody's mistake
 * hides an object.
 */
export function microTimestamp(ms: number): string {
  const isOrdinary = ms >= 0 && ms < usualMsMax && Number.isInteger(ms)
  return isOrdinary ? `${timestamp(ms).slice(0, 19)}.${String(ms % 1_000).padStart(3, '0')}Z` : isoText(ms)
}

/** Years have four digits until then. */
const usualMsMax = 2e14

function isoText(ms: number): string {
  return new Date(Math.max(-timeMsMax, Math.min(timeMsMax, ms || 0))).toISOString()
}

/** `metav1.MicroTime`: microseconds, UTC. What happened in one millisecond is told apart by its place in it. */
export function formatOrderedTimestamp(ms: number, place: number): string {
  return `${microTimestamp(ms).slice(0, -1)}${String(Math.min(place, 999)).padStart(3, '0')}Z`
}

/** A time in the form of `metav1.MicroTime`; undefined if it is none. */
export function microTimeOf(text: string): string | undefined {
  if (microTime.test(text)) return text
  const [, second, fraction = '', zone] = anyTime.exec(text) ?? []
  const ms = second === undefined ? undefined : parseTimestamp(`${second}${zone}`)
  return ms === undefined ? undefined : `${timestamp(ms).slice(0, 19)}.${fraction.padEnd(6, '0').slice(0, 6)}Z`
}

/**
 * Of the times that programs in Go read, by `time.RFC3339`; the day of a year is not looked at. Others they refuse, and
 * with them the whole list that one is in.
 */
export const goTimePattern =
  '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d+)?(Z|[-+]([01]\\d|2[0-3]):[0-5]\\d)$'

/** What is said of a text that is none of them. */
export const notGoTime = 'must be a time such as 2026-01-01T00:00:00Z'

const microTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/
const anyTime = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[-+]\d\d:\d\d)$/i

/** Milliseconds since the epoch, or `undefined` if the text is not a date. Accepts fractions of a second. */
export function parseTimestamp(text: string): number | undefined {
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? undefined : ms
}
