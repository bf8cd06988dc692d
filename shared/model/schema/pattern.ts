import { RE2JS } from 're2js'

/** A compiled `pattern`: matches in time linear in the text, whatever pattern and text are. */
export interface Pattern {
  readonly source: string
  /** Whether the text contains a match; anchors are the pattern's own business. */
  readonly matches: (text: string) => boolean
  /** What it finds in a text, one place after the other. */
  readonly findIn: (text: string) => Iterable<Found>
  /** Steps a character of text can cost at most: the worth of one character against a budget. */
  readonly stepsPerCharacter: number
}

interface Found {
  readonly text: string
  /** Where it ends in the text that is searched. */
  readonly end: number
}

const longestPattern = 10_000

/** Patterns that unroll to more than this are refused: each character of a value could cost that many steps. */
const largestPattern = 5_000

/**
 * Compiles a pattern in RE2's syntax, the one Kubernetes uses: no lookaround and no back references.
 * Throws an error that says what is wrong with the pattern. Those that are asked for often are compiled once.
 */
export function compilePattern(source: string): Pattern {
  const known = recent.patterns.get(source)
  if (known !== undefined) return known
  const pattern = compileAnew(source)
  keep(pattern)
  return pattern
}

/** Patterns that were compiled last, as many as have so many steps in all: some tens of megabytes. */
const recent = { patterns: new Map<string, Pattern>(), steps: 0 }
const recentStepsMax = 100_000
/** A pattern takes room beside its steps. */
const stepsBeside = 50

function keep(pattern: Pattern): void {
  recent.patterns.set(pattern.source, pattern)
  recent.steps += pattern.stepsPerCharacter + stepsBeside
  for (const [source, { stepsPerCharacter }] of recent.patterns) {
    if (recent.steps <= recentStepsMax) return
    recent.patterns.delete(source)
    recent.steps -= stepsPerCharacter + stepsBeside
  }
}

function compileAnew(source: string): Pattern {
  if (source.length > longestPattern) throw new Error(`has more than ${longestPattern} characters`)
  const stepsPerCharacter = measurePattern(source).unrolled
  if (stepsPerCharacter > largestPattern) throw new Error(`unrolls to more than ${largestPattern} steps`)
  const expression = RE2JS.compile(source)
  const native = nativeExpression(source, expression)
  const matches = (text: string): boolean =>
    native !== undefined && text.length <= longestForNative ? native.test(text) : expression.test(text)
  return { source, matches, findIn: (text) => findAll(expression, text), stepsPerCharacter }
}

function* findAll(expression: RE2JS, text: string): Iterable<Found> {
  const matcher = expression.matcher(text)
  while (matcher.find()) yield { text: matcher.group() ?? '', end: matcher.end() }
}

/**
 * What it costs to compile a pattern, in steps of 30 ns, told from its text in time linear in the text. One that is
 * refused costs no more than a look.
 */
export function compileStepsOf(source: string): number {
  const byText = stepsOfPattern + source.length * stepsOfCharacter
  if (source.length > longestPattern) return byText
  const { unrolled, classes, categories } = measurePattern(source)
  if (unrolled > largestPattern) return byText
  return byText + unrolled * stepsOfUnrolled + classes * stepsOfClass + categories * stepsOfCategory
}

/** Measured with RE2JS on two cores of 2.5 GHz: 20 µs, 0.3 µs, 4 µs, 6 µs and 75 µs. */
const stepsOfPattern = 700
const stepsOfCharacter = 10
const stepsOfUnrolled = 150
const stepsOfClass = 200
/** `\p{L}` and its like stand for hundreds of ranges. */
const stepsOfCategory = 2_500

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

interface PatternSize {
  /**
   * How many single-character matchers and groups a pattern becomes once its counted repetitions are written out: a
   * few characters such as `(a{1000}b){1000}` can stand for a program of a million steps.
   */
  readonly unrolled: number
  /** Classes in brackets, and names of categories such as `\p{L}`, as they are written. */
  readonly classes: number
  readonly categories: number
}

const patternToken =
  /\\Q[^]*?(?:\\E|$)|\\[pP]\{[^}]*\}|\\x\{[^}]*\}|\\[^]|\[\^?\]?(?:\[:\^?\w+:\]|\\[^]|[^\]\\])*\]|\{(\d*)(?:,(\d*))?\}|[^]/gu
const categoryToken = /\\[pP]/g

/** Computed before anything is compiled. */
function measurePattern(source: string): PatternSize {
  const outer: number[] = []
  let [total, last, classes] = [0, 0, 0]
  for (const [text, least, most] of source.matchAll(patternToken)) {
    if (text === '(') {
      outer.push(total)
      total = last = 0
    } else if (text === ')') {
      // A group without anything in it is there, too.
      last = Math.max(total, 1)
      total = last + (outer.pop() ?? 0)
    } else if (least !== undefined) {
      const times = Math.max(Number(least), Number(most ?? 0), 1)
      total += last * (times - 1)
    } else {
      last = 1
      total += text.startsWith('\\Q') ? text.length : 1
      if (text.startsWith('[')) classes++
    }
  }
  const categories = source.match(categoryToken)?.length ?? 0
  return { unrolled: outer.reduce((sum, size) => sum + size, total), classes, categories }
}
