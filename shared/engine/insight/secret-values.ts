import { bytesFromBase64, toBase64 } from '../../model/base64.ts'
import { publicKeysOf } from '../../model/control-annotations.ts'
import { isObject, type Json, type JsonObject } from '../../model/json.ts'
import type { ApiObject } from '../../model/object.ts'
import { viewsOf, type Range } from './decoded-views.ts'
import { secretPartsOf } from './secret-parts.ts'

/** Shorter values, such as `true` and `5432`, are in too many texts that are not about them. */
const lengthMin = 6
/** Characters of all values of a run. What comes after them is not known. */
const lengthSumMax = 4 << 20
/** Characters of values that are held against a text, beside so many for each of its own. */
const workMin = 4 << 20
const workPerCharacter = 64
/** Places in the table of beginnings; a power of two. */
const beginningsMax = 8_192

const masked = '***'
/** In the place of a name that may hold no asterisk. */
const maskedName = 'Masked'
/** A number stays one. */
const maskedNumber = 0

/**
 * The values of the Secrets that one run has read or written, so that no text of the run tells one of them. Values are
 * known in clear, with what of them is secret by itself; a text is read in clear, and in each way that it can be
 * decoded.
 */
export class SecretValues {
  /** The object that is reconciled. */
  readonly #own: ApiObject
  /** By the first characters of what is known: how long it is, longest first. */
  readonly #lengths = new Map<string, readonly number[]>()
  /** What is looked for, and the value that it is in clear. */
  readonly #known = new Map<string, string>()
  /** Where two characters may begin what is known, so that most places of a text cost one look. */
  readonly #beginnings = new Uint8Array(beginningsMax)
  /** Values that are numbers. */
  readonly #numbers = new Map<number, string>()
  readonly #public = new Set<string>()
  /** Names are told everywhere. */
  readonly #names = new Set<string>()
  #declared: ReadonlySet<string> | undefined
  #lengthSum = 0
  #shortest = Infinity
  #hasMasked = false

  constructor(own: ApiObject) {
    this.#own = own
    this.#noteName(own)
  }

  /** Whether a text has told a value. */
  get hasMasked(): boolean {
    return this.#hasMasked
  }

  /** Whether it holds a value. Nothing is told by that. */
  tells(value: string | number): boolean {
    if (typeof value === 'number') return this.#numberIn(value) !== undefined
    return this.#known.size > 0 && this.#rangesIn(value).length > 0
  }

  /** Notes the values of a Secret, or of what is to become one. */
  note(secret: JsonObject): void {
    this.#noteName(secret)
    const isPublic = publicKeysOf(secret)
    const { data, stringData } = secret
    for (const [key, value] of entriesOf(data)) this.#noteStored(value, isPublic(key))
    for (const [key, value] of entriesOf(stringData)) this.#noteText(value, isPublic(key))
  }

  /** The text with asterisks in the place of each value. */
  mask(text: string): string {
    if (this.#known.size === 0) return text
    let told = ''
    let from = 0
    for (const range of this.#rangesIn(text)) {
      if (range.to <= from) continue
      if (range.from >= from) told += text.slice(from, range.from) + masked
      from = range.to
    }
    if (from === 0) return maskJsonErrors(text)
    this.#hasMasked = true
    return maskJsonErrors(told + text.slice(from))
  }

  /** A name that is no sentence; another one if it holds a value. */
  maskName(name: string): string {
    return this.mask(name) === name ? name : maskedName
  }

  maskJson(object: JsonObject): JsonObject {
    return Object.fromEntries(
      Object.entries(object).map(([key, value]) => [this.mask(key), this.#maskField(key, value)]),
    )
  }

  #maskField(key: string, value: Json | undefined): Json | undefined {
    return key === 'reason' && typeof value === 'string' ? this.maskName(value) : this.#maskValue(value)
  }

  #maskValue(value: Json | undefined): Json | undefined {
    if (typeof value === 'string') return this.mask(value)
    if (typeof value === 'number') return this.#maskNumber(value)
    if (Array.isArray(value)) return value.map((item) => this.#maskValue(item) ?? null)
    return isObject(value) ? this.maskJson(value) : value
  }

  #maskNumber(value: number): number {
    if (this.#numberIn(value) === undefined) return value
    this.#hasMasked = true
    return maskedNumber
  }

  #numberIn(value: number): string | undefined {
    const known = this.#numbers.get(value)
    return known === undefined || this.#isPublic(known) ? undefined : known
  }

  /** Where the text tells a value, from left to right. All of it, if that takes too long to say. */
  #rangesIn(text: string): readonly Range[] {
    const work = { left: workMin + workPerCharacter * text.length }
    const ranges = [...this.#findIn(text, work)]
    for (const view of viewsOf(text, this.#shortest))
      for (const found of this.#findIn(view.text, work)) ranges.push(view.rangeOf(found.from, found.to))
    if (work.left < 0) return [{ from: 0, to: text.length }]
    return ranges.length < 2 ? ranges : ranges.sort((a, b) => a.from - b.from || b.to - a.to)
  }

  /** A value may begin in another one, and end behind it. */
  *#findIn(text: string, work: Work): Generator<Range> {
    let end = 0
    for (let at = 0; at + lengthMin <= text.length && work.left >= 0; at++) {
      const to = this.#beginnings[beginningOf(text, at)] === 1 ? at + this.#lengthAt(text, at, work) : at
      if (to > Math.max(at, end)) yield { from: at, to: (end = to) }
    }
  }

  /** How long the value is that stands there; 0 if none does. */
  #lengthAt(text: string, at: number, work: Work): number {
    for (const length of this.#lengths.get(text.slice(at, at + lengthMin)) ?? []) {
      work.left -= length
      if (work.left < 0) return 0
      const known = this.#known.get(text.slice(at, at + length))
      if (known !== undefined && !this.#isPublic(known)) return length
    }
    return 0
  }

  #noteStored(value: string, isPublic: boolean): void {
    const text = decode(value)
    if (text !== undefined) return this.#noteText(text, isPublic)
    // Bytes that are no text are told as they are stored, or encoded in another way.
    const bytes = bytesOf(value)
    if (bytes === undefined) return this.#noteText(value, isPublic)
    const stored = trimBase64(value)
    if (isPublic) this.#public.add(stored)
    else for (const form of [value, stored, bytes]) this.#noteForm(form, stored)
  }

  #noteText(text: string, isPublic: boolean): void {
    for (const part of secretPartsOf(text)) {
      if (part.length < lengthMin) continue
      if (isPublic) this.#public.add(part)
      else for (const form of formsOf(part)) this.#noteForm(form, part)
    }
  }

  #noteForm(form: string, value: string): void {
    if (form.length < lengthMin || this.#known.has(form)) return
    if (this.#lengthSum + form.length > lengthSumMax) return
    this.#lengthSum += form.length
    this.#shortest = Math.min(this.#shortest, form.length)
    this.#known.set(form, value)
    this.#beginnings[beginningOf(form, 0)] = 1
    if (isNumber.test(form)) this.#numbers.set(Number(form), value)
    const start = form.slice(0, lengthMin)
    const lengths = this.#lengths.get(start) ?? []
    if (lengths.includes(form.length)) return
    this.#lengths.set(
      start,
      [...lengths, form.length].sort((a, b) => b - a),
    )
  }

  #noteName({ metadata }: JsonObject | ApiObject): void {
    if (!isObject(metadata)) return
    const { namespace, name } = metadata
    if (typeof namespace === 'string') this.#names.add(namespace)
    if (typeof name === 'string') this.#names.add(name)
  }

  /** What a Secret declares to be public, what is part of a name, and what the object says in clear is no secret. */
  #isPublic(value: string): boolean {
    if (this.#public.has(value)) return true
    for (const name of this.#names) if (name.includes(value)) return true
    this.#declared ??= new Set(textsIn(this.#own['spec']))
    return this.#declared.has(value)
  }
}

/** What is left of the work that one text may take. */
interface Work {
  left: number
}

function entriesOf(map: unknown): readonly (readonly [string, string])[] {
  if (!isObject(map)) return []
  return Object.entries(map).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
}

/** How a text stands in others: as it is, with the spaces of a form in a URL, and in bytes of UTF-8. */
function formsOf(text: string): readonly string[] {
  const texts = text.includes(' ') ? [text, text.replaceAll(' ', '+')] : [text]
  return /^[\0-\x7f]*$/.test(text) ? texts : texts.flatMap((one) => [one, atob(toBase64(one))])
}

const isNumber = /^[-+]?\d{1,20}(?:\.\d{1,20})?$/

function beginningOf(text: string, at: number): number {
  return ((text.charCodeAt(at) << 6) ^ text.charCodeAt(at + 1)) & (beginningsMax - 1)
}

/** V8 quotes some characters of what is no JSON: they may be a part of a value, which no search finds. */
function maskJsonErrors(text: string): string {
  if (!text.includes(noJson)) return text
  const parts = text.split(noJson)
  return parts.map((part, i) => (i === parts.length - 1 ? part : maskLastQuote(part))).join(noJson)
}

const noJson = ' is not valid JSON'

function maskLastQuote(text: string): string {
  const from = Math.max(0, text.length - quoteLengthMax)
  const tail = text.slice(from)
  if (!quoteEnd.test(tail)) return text
  // Of an error that is cut nobody knows where its quote begins.
  const at = quoteBegin.exec(tail)?.[0].length ?? tail.search(/["\\]/)
  return `${text.slice(0, from + at)}"${masked}"`
}

/** V8 quotes 40 characters or less, which may be escaped themselves. */
const quoteLengthMax = 400
const quoteBegin = /^[^]*Unexpected token [^]{1,16}?, /
const quoteEnd = /"(?:\.\.\.)?$/

function trimBase64(text: string): string {
  return text.replace(/=+$/, '')
}

/** The bytes that are stored, a character each; undefined of what is no base64. */
function bytesOf(stored: string): string | undefined {
  try {
    return atob(stored)
  } catch {
    return undefined
  }
}

/** The text that is stored; undefined of what is no base64, and of bytes that are no text. */
function decode(stored: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytesFromBase64(stored))
  } catch {
    return undefined
  }
}

function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (typeof value === 'object' && value !== null) for (const one of Object.values(value)) yield* textsIn(one)
}
