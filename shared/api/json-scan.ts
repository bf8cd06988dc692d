import { parseJson } from '../model/parse-json.ts'
import { child, entry } from '../model/schema/field-error.ts'

/** The field of an object, or the number of an item in a list. */
export type JsonStep = string | number

/** What a scan tells of, each with the objects and lists that it is in. */
export interface JsonVisitor {
  /** A field begins: the last place names it. */
  readonly name?: (places: readonly JsonPlace[]) => void
  /** A number, as it is written from here to there: its own place is the last one. */
  readonly number?: (from: number, to: number, places: readonly JsonPlace[]) => void
}

/** An object or a list that a scan is in, and which of its values comes next. */
export class JsonPlace {
  readonly isList: boolean
  #step: JsonStep = 0
  /** The name as JSON has it: few are ever asked for. */
  #written: string | undefined

  constructor(isList: boolean) {
    this.isList = isList
  }

  step(): JsonStep {
    const written = this.#written
    if (written === undefined) return this.#step
    // Most names are written as they are.
    this.#step = written.includes('\\') ? (parseJson(written) as string) : written.slice(1, -1)
    this.#written = undefined
    return this.#step
  }

  nameNext(written: string): void {
    this.#written = written
  }

  countNext(): void {
    if (typeof this.#step === 'number') this.#step++
  }
}

/** Goes through a text, which is known to be JSON, once. What JSON.parse leaves out is told here. */
export function scanJson(text: string, { name, number }: JsonVisitor): void {
  const places: JsonPlace[] = []
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) {
      const end = endOfString(text, at)
      if (isName(text, end)) {
        places.at(-1)?.nameNext(text.slice(at, end))
        name?.(places)
      }
      at = end - 1
    } else if (code === openBrace || code === openBracket) places.push(new JsonPlace(code === openBracket))
    else if (code === closeBrace || code === closeBracket) places.pop()
    else if (code === comma) {
      const last = places.at(-1)
      if (last?.isList === true) last.countNext()
    } else if (code === minus || isDigit(code)) {
      const end = endOfNumber(text, at)
      number?.(at, end, places)
      at = end - 1
    }
  }
}

/** The path of a place, as errors name it: `spec.list[3].name`. */
export function pathOfSteps(steps: readonly JsonStep[]): string {
  return steps.reduce<string>((path, step) => (typeof step === 'string' ? child(path, step) : entry(path, step)), '')
}

/** Behind its last quote. */
function endOfString(text: string, begin: number): number {
  let end = text.indexOf('"', begin + 1)
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end + 1
}

/** Behind an odd number of backslashes. */
function isEscaped(text: string, at: number): boolean {
  let first = at
  while (text.charCodeAt(first - 1) === backslash) first--
  return (at - first) % 2 === 1
}

/** Of a string that ends there: a colon follows. */
export function isName(text: string, end: number): boolean {
  let next = end
  while (isSpace(text.charCodeAt(next))) next++
  return text.charCodeAt(next) === colon
}

/** All of them stand in numbers only, outside of strings and words. */
function endOfNumber(text: string, begin: number): number {
  let end = begin + 1
  while (isOfNumber(text.charCodeAt(end))) end++
  return end
}

function isOfNumber(code: number): boolean {
  return isDigit(code) || code === minus || code === plus || code === dot || code === smallE || code === largeE
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}

const quote = 0x22
const plus = 0x2b
const comma = 0x2c
const minus = 0x2d
const dot = 0x2e
const colon = 0x3a
const largeE = 0x45
const openBracket = 0x5b
const backslash = 0x5c
const closeBracket = 0x5d
const smallE = 0x65
const openBrace = 0x7b
const closeBrace = 0x7d
