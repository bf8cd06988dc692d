import { quote } from '../../schema/field-error.ts'
import { textLengthOf } from '../../schema/text-length.ts'
import type { Meter } from '../meter.ts'
import { spendText, type Functions, type Run } from '../overload.ts'
import { CelFailure, type Result, type Value } from '../value.ts'
import { codePlaceOf, pointsOf, sliceOf, spendPoints, codeUnitOf } from './code-points.ts'
import { findLastText, findText, splitText } from './find-text.ts'
import { formatText } from './format-text.ts'

const outOfRange = (index: number): CelFailure => new CelFailure(`index out of range: ${index}`)

function onTexts(run: (a: string, b: string) => Value): Run {
  return ([a, b], meter) => {
    spendText(meter, a as string, b as string)
    return run(a as string, b as string)
  }
}

/** JavaScript's own way is fast, and changes letters beyond ASCII, too: where there are some, each run is changed. */
function inAscii(run: (text: string) => string, letters: RegExp): Run {
  return ([a], meter) => {
    const text = a as string
    const isAscii = !beyondAscii.test(text)
    meter.spend(isAscii ? text.length >> 3 : text.length * stepsOfLetter)
    return isAscii ? run(text) : text.replace(letters, run)
  }
}

// oxlint-disable-next-line no-control-regex -- all of ASCII
const beyondAscii = /[^\x00-\x7f]/
const stepsOfLetter = 2

function onText(run: (text: string) => Value): Run {
  return ([a], meter) => {
    spendText(meter, a as string)
    return run(a as string)
  }
}

/** Without the white space of Unicode at its ends. JavaScript's own counts U+FEFF, and leaves out U+0085. */
function trim(text: string): string {
  let [start, end] = [0, text.length]
  while (start < end && spaces.has(text.charCodeAt(start))) start++
  while (end > start && spaces.has(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

const lonelySpaces = [0x9, 0xa, 0xb, 0xc, 0xd, 0x20, 0x85, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000]
const spaces: ReadonlySet<number> = new Set([...lonelySpaces, ...Array.from({ length: 11 }, (_, i) => 0x2000 + i)])

function charAt(text: string, place: number): Result {
  const points = pointsOf(text)
  if (place < 0 || place > points.length) return outOfRange(place)
  return points[place] ?? ''
}

function indexOf(text: string, sought: string, from: number): Result {
  if (sought === '') return BigInt(from)
  if (from < 0) return outOfRange(from)
  if (from >= textLengthOf(text)) return -1n
  return BigInt(codePlaceOf(text, findText(text, sought, codeUnitOf(text, from))))
}

function lastIndexOf(text: string, sought: string, from: number): Result {
  if (sought === '') return BigInt(from)
  if (from < 0) return outOfRange(from)
  if (from >= textLengthOf(text)) return -1n
  return BigInt(codePlaceOf(text, findLastText(text, sought, codeUnitOf(text, from))))
}

function substring(text: string, from: number, to?: number): Result {
  const points = pointsOf(text)
  const end = to ?? points.length
  if (from < 0 || from > points.length) return outOfRange(from)
  if (end < 0 || end > points.length) return outOfRange(end)
  return from > end
    ? new CelFailure(`invalid substring range. start: ${from}, end: ${end}`)
    : sliceOf(points, from, end)
}

function replace([text, sought, by]: readonly string[], most: number, meter: Meter): Result {
  if (sought === '') meter.spend((text as string).length * stepsOfLetter)
  const pieces =
    sought === '' ? spread(text as string, most) : split(text as string, sought as string, most < 0 ? -1 : most + 1)
  const length = (text as string).length + pieces.length * (by as string).length
  meter.spend(length >> 3)
  return most === 0 ? (text as string) : pieces.join(by)
}

/** What stands between the places ahead of, between and behind all characters, or the first so many. */
function spread(text: string, most: number): readonly string[] {
  const points = Array.from(text)
  const count = most < 0 ? points.length + 1 : Math.min(most, points.length + 1)
  return ['', ...points.slice(0, count - 1), points.slice(Math.max(0, count - 1)).join('')]
}

/** Into so many pieces at most, or into all there are. */
function split(text: string, by: string, most: number): readonly string[] {
  if (most === 0) return []
  const all = by === '' ? Array.from(text) : splitText(text, by)
  if (most < 0 || all.length <= most) return all
  return [...all.slice(0, most - 1), all.slice(most - 1).join(by)]
}

const joined: Run = ([list, by = ''], meter) => {
  const texts = list as readonly string[]
  // Not as arguments of one call: a long list has more items than a call may have arguments.
  for (const text of texts) spendText(meter, text)
  meter.spend((texts.length * (by as string).length) >> 3)
  return texts.join(by as string)
}

const splitting: Run = ([text, by, most = -1n], meter) => {
  const pieces = split(text as string, by as string, Number(most))
  meter.spend(pieces.length + ((text as string).length >> 3))
  return pieces
}

const replacing: Run = ([text, sought, by, most = -1n], meter) =>
  replace([text, sought, by] as string[], Number(most), meter)

export const strings: Functions = {
  'string.startsWith(string) bool': onTexts((a, b) => a.startsWith(b)),
  'string.endsWith(string) bool': onTexts((a, b) => a.endsWith(b)),
  'string.contains(string) bool': onTexts((a, b) => findText(a, b) >= 0),
  'string.charAt(int) string': ([a, b], meter) => {
    spendPoints(meter, a as string)
    return charAt(a as string, Number(b))
  },
  'string.indexOf(string) int': ([a, b], meter) => {
    spendPoints(meter, a as string)
    return indexOf(a as string, b as string, 0)
  },
  'string.indexOf(string, int) int': ([a, b, c], meter) => {
    spendPoints(meter, a as string)
    return indexOf(a as string, b as string, Number(c))
  },
  'string.lastIndexOf(string) int': ([a, b], meter) => {
    spendPoints(meter, a as string)
    const length = textLengthOf(a as string)
    if (b === '') return BigInt(length)
    return length === 0 ? -1n : lastIndexOf(a as string, b as string, length - 1)
  },
  'string.lastIndexOf(string, int) int': ([a, b, c], meter) => {
    spendPoints(meter, a as string)
    return lastIndexOf(a as string, b as string, Number(c))
  },
  'string.lowerAscii() string': inAscii((text) => text.toLowerCase(), /[A-Z]+/g),
  'string.upperAscii() string': inAscii((text) => text.toUpperCase(), /[a-z]+/g),
  'string.trim() string': onText(trim),
  'string.substring(int) string': ([a, b], meter) => {
    spendPoints(meter, a as string)
    return substring(a as string, Number(b))
  },
  'string.substring(int, int) string': ([a, b, c], meter) => {
    spendPoints(meter, a as string)
    return substring(a as string, Number(b), Number(c))
  },
  'string.replace(string, string) string': replacing,
  'string.replace(string, string, int) string': replacing,
  'string.split(string) list(string)': splitting,
  'string.split(string, int) list(string)': splitting,
  'list(string).join() string': joined,
  'list(string).join(string) string': joined,
  'strings.quote(string) string': ([a], meter) => {
    const quoted = quote(a as string)
    // An escaped character is longer than it was.
    spendText(meter, a as string, quoted)
    return quoted
  },
  'string.format(list(dyn)) string': ([a, b], meter) => formatText(a as string, b as readonly Value[], meter),
}
