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
  const stepsPerCharacter = measureUnrolled(source)
  if (stepsPerCharacter > largestPattern) throw new Error(`unrolls to more than ${largestPattern} steps`)
  const expression = RE2JS.compile(source)
  const native = nativeExpression(source, expression)
  if (native === undefined) return { source, matches: (text) => expression.test(text), stepsPerCharacter }
  const matches = (text: string): boolean => (text.length <= longestForNative ? native : expression).test(text)
  return { source, matches, stepsPerCharacter }
}

/** Backtracking keeps a stack as long as the text. */
const longestForNative = 10_000

/**
 * The same pattern for the engine of JavaScript, which is thirty times as fast, where it is sure to be linear, too:
 * nothing repeats but single characters, and RE2 found that each next character leaves one way to go on at most ("one
 * pass"). Only what means the same in both dialects comes into question.
 */
function nativeExpression(source: string, expression: RE2JS): RegExp | undefined {
  if (!commonDialect.test(source) || isRisky.test(source) || !isOnePass(expression)) return undefined
  try {
    return new RegExp(source, 'u')
  } catch {
    // It has other rules about braces and escapes.
    return undefined
  }
}

const commonDialect =
  /^\^(?:[\w :@/,=#%&~'"<>;!^$()|*+?{}-]|\\[-./\\+*?()[\]{}^$|dw]|\[\^?(?:[^[\]\\]|\\[-./\\+*?()[\]{}^$|dw])+\])*$/
/** A group that repeats, or that is more than a group. */
const isRisky = /\)[*+{]|\(\?[^:]/

/** RE2JS keeps to itself whether a pattern is of one pass: where it no longer says so, none is. */
function isOnePass(expression: RE2JS): boolean {
  const { re2Input } = expression as unknown as { readonly re2Input?: { readonly onepass?: object | null } }
  return typeof re2Input?.onepass === 'object' && re2Input.onepass !== null
}

/**
 * How many single-character matchers a pattern becomes once its counted repetitions are written out, computed before
 * anything is compiled: a few characters such as `(a{1000}b){1000}` can stand for a program of a million steps.
 */
function measureUnrolled(source: string): number {
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
