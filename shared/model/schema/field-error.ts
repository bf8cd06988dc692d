import { shorten } from '../shorten.ts'
import { canonicalStart } from './canonical-json.ts'

/**
 * One field that is not as it must be: what a client gets as a cause of a 422. `message` is worded as Kubernetes words
 * it (apimachinery `field.Error`), so that kubectl prints the same line it prints against a real API server.
 */
export interface FieldError {
  /** Path such as `spec.ports[0].name`; `<nil>` stands for the object itself. */
  readonly field: string
  readonly reason: FieldErrorReason
  readonly message: string
}

/** Nobody is told of more errors than that, so that an answer is not hundreds of times as long as its request. */
export const errorsMax = 100

/** Errors as one text, as Kubernetes writes them. */
export function listErrors(errors: readonly FieldError[]): string {
  const list = errors.map(({ field, message }) => `${field}: ${message}`)
  return list.length === 1 ? (list[0] as string) : `[${list.join(', ')}]`
}

/** What is wrong with the parts of a list. It looks no further when there are more errors than anybody is told. */
export function checkEach<Part>(
  parts: readonly Part[],
  check: (part: Part, i: number) => readonly FieldError[],
): readonly FieldError[] {
  const errors: FieldError[] = []
  for (const [i, part] of parts.entries()) {
    errors.push(...check(part, i))
    if (errors.length >= errorsMax) break
  }
  return errors
}

/** The machine's word for what is wrong: the reasons of apimachinery's `metav1.CauseType` that occur here. */
export type FieldErrorReason =
  | 'FieldValueRequired'
  | 'FieldValueInvalid'
  | 'FieldValueTypeInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueDuplicate'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'

/** The same fault, in words that are made without the value: for what nobody may read in a message. */
export function concealValue({ field, reason }: FieldError): FieldError {
  return { field, reason, message: reasonWords[reason] }
}

/** What a reason alone says. */
export const reasonWords: Readonly<Record<FieldErrorReason, string>> = {
  FieldValueRequired: 'Required value',
  FieldValueInvalid: 'Invalid value',
  FieldValueTypeInvalid: 'Invalid value: it is of another type',
  FieldValueNotSupported: 'Unsupported value',
  FieldValueDuplicate: 'Duplicate value',
  FieldValueForbidden: 'Forbidden',
  FieldValueTooLong: 'Too long',
  FieldValueTooMany: 'Too many',
}

/** The path of a named field below `path`; the empty path is the object itself. */
export function child(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}

/** The path of a list item by position, or of a map entry by key. */
export function entry(path: string, key: string | number): string {
  return `${path}[${key}]`
}

/** A value is missing; the detail says why it is asked for, if that is not plain. */
export function fieldRequired(field: string, detail = ''): FieldError {
  return fieldError(field, 'FieldValueRequired', 'Required value', detail)
}

/** The value is of the right type and yet not allowed; the detail is a sentence about the field. */
export function invalid(field: string, value: unknown, detail: string): FieldError {
  return fieldError(field, 'FieldValueInvalid', `Invalid value: ${showValue(value)}`, detail)
}

/** The value has another JSON type or format than asked for; `value` names what was found. */
export function typeInvalid(field: string, value: unknown, detail: string): FieldError {
  return fieldError(field, 'FieldValueTypeInvalid', `Invalid value: ${showValue(value)}`, detail)
}

/** The value is none of a short list. */
export function notSupported(field: string, value: unknown, supported: readonly string[]): FieldError {
  const detail = supported.length === 0 ? '' : `supported values: ${listSupported(supported)}`
  return fieldError(field, 'FieldValueNotSupported', `Unsupported value: ${showValue(value)}`, detail)
}

/** The value, or the keys it stands for, occurred before. */
export function duplicate(field: string, value: unknown): FieldError {
  return fieldError(field, 'FieldValueDuplicate', `Duplicate value: ${showValue(value)}`, '')
}

/** The field may not be set here, whatever its value. */
export function forbidden(field: string, detail: string): FieldError {
  return fieldError(field, 'FieldValueForbidden', 'Forbidden', detail)
}

/** Says the limit, not the value. Kubernetes says "bytes" here although it counts characters. */
export function tooLong(field: string, maxLength: number): FieldError {
  return fieldError(field, 'FieldValueTooLong', 'Too long', `may not be more than ${maxLength} bytes`)
}

/** Of items, entries or fields there are more than may be. */
export function tooMany(field: string, actual: number, max: number): FieldError {
  return fieldError(field, 'FieldValueTooMany', `Too many: ${actual}`, `must have at most ${max} items`)
}

function fieldError(field: string, reason: FieldErrorReason, what: string, detail: string): FieldError {
  return {
    field: field === '' ? '<nil>' : shortenSent(field),
    reason,
    message: detail === '' ? what : `${what}: ${detail}`,
  }
}

/** A reply repeats at most this much of what was sent, however long the bad value is, and the path to it. */
const shownLength = 1_000

/** A text that was sent, as far as a reply repeats it. */
export function shortenSent(text: string): string {
  return shorten(text, shownLength)
}

function showValue(value: unknown): string {
  const text =
    typeof value === 'string'
      ? quote(value.slice(0, shownLength))
      : typeof value === 'number'
        ? numeral(value)
        : canonicalStart(value, shownLength + 1)
  return shortenSent(text)
}

/** What is supported, as far as anybody reads it. */
function listSupported(supported: readonly string[]): string {
  let text = ''
  for (const value of supported) {
    if (text.length > shownLength) return `${text}, …`
    text += `${text === '' ? '' : ', '}${showValue(value)}`
  }
  return text
}

/** A number as Go's `%v` prints it: whole ones in full, others with an exponent from a million on and below 0.0001. */
export function numeral(value: number): string {
  const size = Math.abs(value)
  if (Number.isInteger(value) || (size >= 1e-4 && size < 1e6)) return String(value)
  return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2')
}

/** A string as Go's `%q` prints it. */
export function quote(text: string): string {
  return `"${text.replace(unprintable, escapeCharacter)}"`
}

const unprintable = /["\\]|[[\p{C}\p{Z}]--[\x20]]/gv
const shortEscapes: { readonly [character: string]: string } = {
  '"': '\\"',
  '\\': '\\\\',
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
}

function escapeCharacter(character: string): string {
  const short = shortEscapes[character]
  if (short !== undefined) return short
  const code = character.codePointAt(0) ?? 0
  const [prefix, digits] = code < 0x80 ? ['\\x', 2] : code <= 0xffff ? ['\\u', 4] : ['\\U', 8]
  return prefix + code.toString(16).padStart(digits, '0')
}
