import { forbidden, type FieldError } from '../schema/field-error.ts'
import { compileStepsOf } from '../schema/pattern.ts'
import { ExpressionError } from './expression.ts'
import { parseExpression } from './parse.ts'
import { literalPatterns } from './patterns.ts'
import { TypeBudget } from './type.ts'

/** All patterns of a definition, a policy or a configuration are compiled while one request waits: 30 ms. */
const patternStepsMax = 1_000_000

/** What the expressions of one object may still take to compile, and its patterns, of which each text counts once. */
export class CompileBudget {
  readonly types = new TypeBudget()
  readonly #known = new Set<string>()
  #left = patternStepsMax

  /** What is wrong where a pattern stands that is too much; nothing is said of those behind it. */
  spend(source: string, path: string): readonly FieldError[] {
    if (this.#left < 0 || this.#known.has(source)) return []
    this.#known.add(source)
    this.#left -= compileStepsOf(source)
    return this.#left < 0 ? [forbidden(path, tooManySteps)] : []
  }

  /** The same for all patterns that are written down in an expression. */
  spendOnExpression(text: string, path: string): readonly FieldError[] {
    return literalsIn(text).flatMap((source) => this.spend(source, path))
  }

  get isSpent(): boolean {
    return this.#left < 0 || this.types.isSpent
  }
}

const tooManySteps =
  `its pattern and those before it take more than ${patternStepsMax} steps to compile; ` +
  'repeat less with counts such as {240}, or give fields the same pattern, which counts once'

/** Of a text that is no expression there are none. */
function literalsIn(text: string): readonly string[] {
  // Most expressions have none, and need no second look.
  if (!/matches|find/.test(text)) return []
  try {
    return literalPatterns(parseExpression(text))
  } catch (error) {
    if (error instanceof ExpressionError) return []
    throw error
  }
}
