/**
 * A text as it reads when it is decoded, and where each of its characters stands in the text that was given. Bytes that
 * were encoded are characters of one byte each.
 */
export interface DecodedView {
  readonly text: string
  /** Where the characters from `from` to before `to` stand. */
  readonly rangeOf: (from: number, to: number) => Range
  /** Whether it comes of bytes, of which a text may be any part. */
  readonly isBytes: boolean
}

export interface Range {
  readonly from: number
  readonly to: number
}

/** An encoding in an encoding in an encoding is read, and no deeper. */
const levelsMax = 3
/** Characters of all views for each of the text: a text of nothing but escapes in escapes takes no longer. */
const lengthFactor = 64

/** Shorter runs of hex or base64 hold no value that is long enough to be known. */
const hexDigitsMin = 12
const base64DigitsMin = 8

/**
 * All that a text may say when it is decoded: by percents, backslashes or entities, from hex or from base64 at any of
 * its bits. Runs that are too short for `shortest` characters are left out. The time is linear in the text.
 */
export function* viewsOf(text: string, shortest: number): Generator<DecodedView> {
  let left = lengthFactor * text.length
  let level: readonly DecodedView[] = [{ text, rangeOf: (from, to) => ({ from, to }), isBytes: false }]
  // Escapes that are decoded in turn give the same in most orders.
  const seen = new Set([text])
  for (let i = 0; i < levelsMax; i++) {
    const next: DecodedView[] = []
    for (const view of decodingsOf(level, seen, shortest)) {
      left -= view.text.length
      if (left < 0) return
      yield view
      if (!view.isBytes || !control.test(view.text)) next.push(view)
    }
    level = next
  }
}

function* decodingsOf(level: readonly DecodedView[], seen: Set<string>, shortest: number): Generator<DecodedView> {
  for (const outer of level)
    for (const inner of decodings(outer.text, shortest)) {
      const view = within(outer, inner)
      if (!view.isBytes && seen.has(view.text)) continue
      if (!view.isBytes) seen.add(view.text)
      yield view
    }
}

/** Bytes with one of these are no text that says more. */
// oxlint-disable-next-line no-control-regex -- these are meant
const control = /[\x00-\x08\x0e-\x1f\x7f]/

function within(outer: DecodedView, inner: DecodedView): DecodedView {
  return {
    text: inner.text,
    isBytes: outer.isBytes || inner.isBytes,
    rangeOf: (start, end) => {
      const { from, to } = inner.rangeOf(start, end)
      return outer.rangeOf(from, to)
    },
  }
}

function* decodings(text: string, shortest: number): Generator<DecodedView> {
  if (text.includes('%')) yield* unescape(text, percent, (_, hex = '') => fromHex(hex))
  if (text.includes('\\')) yield* unescape(text, backslash, fromBackslash)
  if (text.includes('&')) yield* unescape(text, entity, (_, name = '') => fromEntity(name))
  for (const { 0: run, index } of text.matchAll(hexRun)) if (run.length >= 2 * shortest) yield* decodeHex(run, index)
  for (const { 0: run, index } of text.matchAll(base64Run))
    if (run.length * 3 >= shortest * 4) yield* decodeBase64(run, index)
  for (const { 0: run, index } of text.matchAll(decimalRun)) yield decodeDecimal(run, index)
}

const percent = /%([0-9a-f]{2})/gi
const backslash = /\\(?:u([0-9a-f]{4})|x([0-9a-f]{2})|([^]))/gi
const entity = /&(amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9a-f]{1,6});/gi
/** Also as dumps of bytes and fingerprints write it. */
const hexRun = new RegExp(`[0-9a-f](?:[ :-]?[0-9a-f]){${hexDigitsMin - 1},}`, 'gi')
/** Of either alphabet; a mail or a key is broken into lines, which YAML indents. */
const base64Run = new RegExp(`[\\w+/-](?:(?:\\r?\\n[ \\t]{0,64})?[\\w+/-]){${base64DigitsMin - 1},}`, 'g')
/** As the JSON of a Buffer has its bytes. */
const decimalRun = /\d{1,3}(?:, ?\d{1,3}){5,}/g

function fromHex(hex: string): string {
  return String.fromCharCode(parseInt(hex, 16))
}

const controls: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v', 0: '\0' }

function fromBackslash(_: string, unicode?: string, byte?: string, character = ''): string {
  const hex = unicode ?? byte
  return hex === undefined ? (controls[character] ?? character) : fromHex(hex)
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function fromEntity(name: string): string {
  if (!name.startsWith('#')) return entities[name.toLowerCase()] ?? ''
  const code = /^#x/i.test(name) ? parseInt(name.slice(2), 16) : Number(name.slice(1))
  // A character of two halves has two places; none is more than there is.
  return code > 0x10_ff_ff ? '' : String.fromCodePoint(code)
}

type Decode = (escape: string, ...groups: (string | undefined)[]) => string

/** The text with each escape decoded. */
function* unescape(text: string, escapes: RegExp, decode: Decode): Generator<DecodedView> {
  /** For each escape where what follows it stands, decoded and as given. */
  const starts: number[] = []
  const shifts: number[] = []
  let decoded = ''
  let end = 0
  for (const found of text.matchAll(escapes)) {
    const [escape, ...groups] = found
    const character = decode(escape, ...groups)
    decoded += text.slice(end, found.index) + character
    end = found.index + escape.length
    starts.push(decoded.length)
    shifts.push(end - decoded.length)
  }
  if (starts.length === 0) return
  // Where a character begins is where the one ahead of it ends.
  const place = (at: number): number => at + (shifts[countUpTo(starts, at) - 1] ?? 0)
  const rangeOf = (from: number, to: number): Range => ({ from: place(from), to: place(to) })
  yield { text: decoded + text.slice(end), rangeOf, isBytes: false }
}

/** How many of the rising numbers are not above the limit. */
function countUpTo(numbers: readonly number[], limit: number): number {
  let [low, high] = [0, numbers.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((numbers[middle] ?? 0) <= limit) low = middle + 1
    else high = middle
  }
  return low
}

function* decodeHex(run: string, index: number): Generator<DecodedView> {
  const { digits, placeOf } = digitsOf(run, index, /[ :-]/)
  for (const skipped of [0, 1]) {
    let text = ''
    for (let at = skipped; at + 2 <= digits.length; at += 2) text += fromHex(digits.slice(at, at + 2))
    const rangeOf = (from: number, to: number): Range => ({
      from: placeOf(skipped + 2 * from),
      to: placeOf(skipped + 2 * to - 1) + 1,
    })
    yield bytesView(text, rangeOf)
  }
}

function decodeDecimal(run: string, index: number): DecodedView {
  const numbers = [...run.matchAll(/\d+/g)]
  const text = numbers.map(([digits]) => String.fromCharCode(Number(digits))).join('')
  const placeOf = (i: number): number => index + (numbers[i]?.index ?? run.length)
  return bytesView(text, (from, to) => ({
    from: placeOf(from),
    to: placeOf(to - 1) + (numbers[to - 1]?.[0].length ?? 0),
  }))
}

function* decodeBase64(run: string, index: number): Generator<DecodedView> {
  const { digits, placeOf } = digitsOf(run, index, /\s/)
  const standard = digits.replaceAll('-', '+').replaceAll('_', '/')
  for (const skipped of [0, 1, 2, 3]) {
    const whole = standard.slice(skipped)
    const text = atob(whole.length % 4 === 1 ? whole.slice(0, -1) : whole)
    const rangeOf = (from: number, to: number): Range => ({
      from: placeOf(skipped + Math.floor((from * 4) / 3)),
      to: placeOf(skipped + Math.ceil((to * 4) / 3) - 1) + 1,
    })
    yield bytesView(text, rangeOf)
  }
}

/** White space around a value goes with it, because files end with it; so do a byte order mark, and padding. */
function bytesView(text: string, rangeOf: DecodedView['rangeOf']): DecodedView {
  const rangeWithBlanks: DecodedView['rangeOf'] = (from, to) => {
    let [start, end] = [from, to]
    while (start > 0 && blank.test(text.charAt(start - 1))) start--
    while (end < text.length && blank.test(text.charAt(end))) end++
    return rangeOf(start, end)
  }
  return { text, rangeOf: rangeWithBlanks, isBytes: true }
}

const blank = /[\s=\xbb\xbf\xef]/

/** The digits of a run without what stands between them, and where each of them stands. */
function digitsOf(run: string, index: number, separator: RegExp) {
  if (!separator.test(run)) return { digits: run, placeOf: (i: number) => index + i }
  const places: number[] = []
  for (let i = 0; i < run.length; i++) if (!separator.test(run.charAt(i))) places.push(index + i)
  const digits = places.map((place) => run.charAt(place - index)).join('')
  return { digits, placeOf: (i: number) => places[i] ?? index + run.length }
}
