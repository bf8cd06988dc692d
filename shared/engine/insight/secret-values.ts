import { bytesFromBase64, toBase64 } from '../../model/base64.ts'
import { publicKeysOf } from '../../model/control-annotations.ts'
import { isObject, type Json, type JsonObject } from '../../model/json.ts'
import type { ApiObject } from '../../model/object.ts'

/** Shorter values, such as `true` and `5432`, are in too many texts that are not about them. */
const lengthMin = 6
/** Of a text with several lines each line counts from this length on: a key is often told line by line. */
const lineLengthMin = 16
/** Nobody encodes a longer text to tell it in a message, which is cut to less. */
const encodedLengthMax = 16_384
/** Characters of all values of a run. What comes after them is not known. */
const lengthSumMax = 4 << 20

const masked = '***'
/** In the place of a name that may hold no asterisk. */
const maskedName = 'Masked'

/**
 * The values of the Secrets that one run has read or written, so that no text of the run tells one of them. A value is
 * known as others may write it: in clear, in base64, in a URL, in JSON.
 */
export class SecretValues {
  /** The object that is reconciled. */
  readonly #own: ApiObject
  /** By the first characters of what is known: how long it is, longest first. */
  readonly #lengths = new Map<string, readonly number[]>()
  readonly #known = new Set<string>()
  readonly #public = new Set<string>()
  /** Names are told everywhere. */
  readonly #names = new Set<string>()
  #declared: ReadonlySet<string> | undefined
  #lengthSum = 0
  #hasMasked = false

  constructor(own: ApiObject) {
    this.#own = own
    this.#noteName(own)
  }

  /** Whether a text has told a value. */
  get hasMasked(): boolean {
    return this.#hasMasked
  }

  /** Notes the values of a Secret, or of what is to become one. */
  note(secret: JsonObject): void {
    this.#noteName(secret)
    const isPublic = publicKeysOf(secret)
    const { data, stringData } = secret
    for (const [key, value] of entriesOf(data)) {
      const forms = formsOf(decode(value))
      if (forms.length > 0) this.#noteForms([trimBase64(value), ...forms], isPublic(key))
    }
    for (const [key, value] of entriesOf(stringData)) this.#noteForms(formsOf(value), isPublic(key))
  }

  /** The text with asterisks in the place of each value. */
  mask(text: string): string {
    let told = ''
    let from = 0
    for (let at = 0; at + lengthMin <= text.length;) {
      const found = this.#findAt(text, at)
      if (found === undefined) {
        at++
        continue
      }
      told += text.slice(from, at) + masked
      from = at += found.length
    }
    if (from === 0) return text
    this.#hasMasked = true
    return told + text.slice(from)
  }

  /** A name that is no sentence; another one if it holds a value. */
  maskName(name: string): string {
    return this.mask(name) === name ? name : maskedName
  }

  maskJson(object: JsonObject): JsonObject {
    return Object.fromEntries(Object.entries(object).map(([key, value]) => [this.mask(key), this.#maskValue(value)]))
  }

  #maskValue(value: Json | undefined): Json | undefined {
    if (typeof value === 'string') return this.mask(value)
    if (Array.isArray(value)) return value.map((item) => this.#maskValue(item) ?? null)
    return isObject(value) ? this.maskJson(value) : value
  }

  #findAt(text: string, at: number): string | undefined {
    for (const length of this.#lengths.get(text.slice(at, at + lengthMin)) ?? []) {
      const form = text.slice(at, at + length)
      if (this.#known.has(form) && !this.#isPublic(form)) return form
    }
    return undefined
  }

  #noteForms(forms: readonly string[], isPublic: boolean): void {
    for (const form of forms) {
      if (isPublic) this.#public.add(form)
      else if (form.length >= lengthMin && !this.#known.has(form)) this.#noteForm(form)
    }
  }

  #noteForm(form: string): void {
    if (this.#lengthSum + form.length > lengthSumMax) return
    this.#lengthSum += form.length
    this.#known.add(form)
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
  #isPublic(form: string): boolean {
    if (this.#public.has(form)) return true
    for (const name of this.#names) if (name.includes(form)) return true
    this.#declared ??= new Set(textsIn(this.#own['spec']))
    return this.#declared.has(form)
  }
}

function entriesOf(map: unknown): readonly (readonly [string, string])[] {
  if (!isObject(map)) return []
  return Object.entries(map).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
}

function formsOf(value: string): readonly string[] {
  // Files end with a new line, and whoever uses the value leaves it out.
  const clear = value.trim()
  if (clear.length < lengthMin) return []
  const lines = clear.split('\n').map((line) => line.trim())
  const told = lines.filter((line) => line.length >= lineLengthMin && !line.startsWith('-----'))
  if (clear.length > encodedLengthMax) return [clear, ...told]
  const stored = [value, clear].map((text) => trimBase64(toBase64(text)))
  const inUrls = [encodeURIComponent(clear.toWellFormed()), ...stored.map(toUrlAlphabet)]
  return [clear, JSON.stringify(clear).slice(1, -1), ...stored, ...inUrls, ...told]
}

function trimBase64(text: string): string {
  return text.replace(/=+$/, '')
}

function toUrlAlphabet(text: string): string {
  return text.replaceAll('+', '-').replaceAll('/', '_')
}

/** The text that is stored; the given one if it is no base64, or of bytes that are no text. */
function decode(stored: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytesFromBase64(stored))
  } catch {
    return stored
  }
}

function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (typeof value === 'object' && value !== null) for (const one of Object.values(value)) yield* textsIn(one)
}
