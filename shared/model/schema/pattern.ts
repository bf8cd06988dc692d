import { RE2JS } from 're2js'

/** A compiled `pattern`: matches in time linear in the text, whatever pattern and text are. */
export interface Pattern {
  readonly source: string
  /** Whether the text contains a match; anchors are the pattern's own business. */
  readonly matches: (text: string) => boolean
  /** Steps a character of text can cost at most: the worth of one character against a budget. */
  readonly stepsPerCharacter: number
}

const longestPattern = 10_000

/** Patterns that unroll to more than this are refused: each character of a value could cost that many steps. */
const largestPattern = 5_000

/**
 * Compiles a pattern in RE2's syntax, the one Kubernetes uses: no lookaround and no back references.
 * Throws an error that says what is wrong with the pattern.
 */
export function compilePattern(source: string): Pattern {
  if (source.length > longestPattern) throw new Error(`has more than ${longestPattern} characters`)
  const stepsPerCharacter = unrolledSize(source)
  if (stepsPerCharacter > largestPattern) throw new Error(`unrolls to more than ${largestPattern} steps`)
  const expression = RE2JS.compile(source)
  return { source, matches: (text) => expression.test(text), stepsPerCharacter }
}

/**
 * How many single-character matchers a pattern becomes once its counted repetitions are written out, computed before
 * anything is compiled: a few characters such as `(a{1000}b){1000}` can stand for a program of a million steps.
 */
function unrolledSize(source: string): number {
  const outer: number[] = []
  let total = 0
  let last = 0
  const token = /\\[pP]\{[^}]*\}|\\x\{[^}]*\}|\\[^]|\[\^?\]?(?:\\[^]|[^\]\\])*\]|\{(\d*)(?:,(\d*))?\}|[^]/gu
  for (const [text, least, most] of source.matchAll(token)) {
    if (text === '(') {
      outer.push(total)
      total = last = 0
    } else if (text === ')') {
      last = total
      total += outer.pop() ?? 0
    } else if (least !== undefined) {
      const times = Math.max(Number(least), Number(most ?? 0), 1)
      total += last * (times - 1)
    } else {
      last = 1
      total += 1
    }
  }
  return outer.reduce((sum, size) => sum + size, total)
}
