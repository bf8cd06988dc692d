import { OperatingError } from './errors.ts'

/** A length of time: milliseconds, or Go's notation as Kubernetes writes it (`1h30m`, `500ms`, `1.5s`). */
export type Duration = number | `${number}${Unit}` | (string & {})

type Unit = 'ms' | 's' | 'm' | 'h'
const unitMs: Record<Unit, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }
const term = /(\d+(?:\.\d+)?)(ms|s|m|h)/y

/** A hundred years: times that far ahead can still be written down. */
const msMax = 3_155_760_000_000

/**
 * Milliseconds of a duration, whole ones. Throws BAD_REQUEST for anything that is not one, lengths that are negative or
 * above a hundred years included.
 */
export function durationMs(duration: Duration): number {
  const ms = tryDurationMs(duration)
  if (ms === undefined) throw new OperatingError('BAD_REQUEST', noDuration(duration))
  return ms
}

/** Milliseconds of a duration, or undefined for anything that is not one. */
export function tryDurationMs(duration: Duration): number | undefined {
  const ms = typeof duration === 'string' ? parse(duration) : duration
  if (typeof ms !== 'number') return undefined
  return ms >= 0 && ms <= msMax ? Math.round(ms) : undefined
}

function parse(text: string): number {
  let total = 0
  term.lastIndex = 0
  for (let at = 0; at < text.length; at = term.lastIndex) {
    const match = term.exec(text)
    if (match === null) return Number.NaN
    total += Number(match[1]) * unitMs[match[2] as Unit]
  }
  return text === '' ? Number.NaN : total
}

/** Why that is no duration, and what to write. */
export function noDuration(value: unknown): string {
  // JSON says null of NaN.
  const said = typeof value === 'string' ? JSON.stringify(value) : String(value)
  return `not a duration: ${said}; write for example "30s", "5m" or "1h30m"`
}
