import { conditionOf } from '../../../model/conditions.ts'
import { humanDuration } from '../../../model/human-duration.ts'
import type { ObjectKey } from '../../../model/object-key.ts'
import { isDeleting } from '../../../model/object.ts'
import { parseTimestamp } from '../../../model/time.ts'
import type { Facts, Relative, Relatives } from './facts.ts'

/** How an explanation says what recurs in it. */

export function ago(atMs: number, nowMs: number): string {
  return `${humanDuration(Math.max(0, nowMs - atMs))} ago`
}

/** How long ago a timestamp was; `undefined` if it is none, or 1970, which stands for no time at all. */
export function agoText(time: string | undefined, nowMs: number): string | undefined {
  const atMs = parseTimestamp(time ?? '') ?? 0
  return atMs === 0 ? undefined : ago(atMs, nowMs)
}

/** `now` for what is due, else `in 12s`. */
export function until(atMs: number, nowMs: number): string {
  return atMs <= nowMs ? 'now' : `in ${humanDuration(Math.max(1_000, atMs - nowMs))}`
}

/** `ConfigMap default/settings`. */
export function formatKey({ kind, namespace, name }: ObjectKey): string {
  return `${kind} ${namespace === '' ? '' : `${namespace}/`}${name}`
}

/** One line for each relative, and one for those left out. */
export function relativeLines({ shown, more }: Relatives): readonly string[] {
  const width = Math.max(...shown.map(({ key }) => formatKey(key).length))
  const lines = shown.map((one) => `${formatKey(one.key).padEnd(width)}  ${stateOf(one)}`)
  return more > 0 ? [...lines, `and ${more} more`] : lines
}

function stateOf({ object, isDamaged }: Relative): string {
  if (isDamaged) return 'is damaged and cannot be read'
  if (object === undefined) return 'does not exist'
  if (isDeleting(object)) return 'is being deleted'
  const ready = conditionOf(object, 'Ready')
  if (ready === undefined) return 'exists'
  return ready.status === 'True' ? 'ready' : `Ready=${ready.status}  ${withMessage(ready.reason, ready.message)}`
}

export function withMessage(reason: string, message: string): string {
  return message === '' ? reason : `${reason}: ${message}`
}

/** How kubectl names the object: behind `kubectl <verb>`. */
export function kubectlName({ kind, stored: { object } }: Facts): string {
  const { name, namespace } = object.metadata
  const resource = kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`
  return `${resource} ${name}${namespace === undefined ? '' : ` -n ${namespace}`}`
}

/** Every line two columns further in. */
export function indentLines(lines: readonly string[]): readonly string[] {
  return lines.map((line) => (line === '' ? '' : `  ${line}`))
}

/** Lines under a title; nothing without lines. */
export function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [title, ...indentLines(lines)]
}

/** At most so many lines, the last one saying how many are missing. */
export function atMost(max: number, lines: readonly string[]): readonly string[] {
  return lines.length <= max ? lines : [...lines.slice(0, max), `… and ${lines.length - max} more lines`]
}

/**
 * For a terminal, which obeys control characters: messages and annotations are other people's text, and it is shown as
 * it is by kubectl.
 */
export function printable(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n]/gu, (one) => `\\x${one.charCodeAt(0).toString(16).padStart(2, '0')}`)
}
