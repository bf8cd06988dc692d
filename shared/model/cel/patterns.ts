import { compilePattern, compileStepsOf, type Pattern } from '../schema/pattern.ts'
import type { Expression } from './expression.ts'
import type { Meter } from './meter.ts'
import { CelFailure } from './value.ts'

const matchers: readonly string[] = ['matches', 'find', 'findAll']

/** The pattern that a call is given as a text that is written down, and where it stands. */
export function literalPattern(
  called: string,
  args: readonly Expression[],
): { readonly source: string; readonly at: number } | undefined {
  const literal = matchers.includes(called) ? args.find((arg) => arg.op === 'literal') : undefined
  if (literal?.op !== 'literal' || typeof literal.value !== 'string') return undefined
  return { source: literal.value, at: literal.at }
}

/** All patterns that are written down in an expression: they are compiled with it. */
export function literalPatterns(expression: Expression): readonly string[] {
  const found: string[] = []
  collect(expression, found)
  return found
}

function collect(part: unknown, found: string[]): void {
  if (typeof part !== 'object' || part === null) return
  if ('op' in part) {
    const expression = part as Expression
    if (expression.op === 'literal') return
    const own = expression.op === 'call' ? literalPattern(expression.name, expression.args) : undefined
    if (own !== undefined) found.push(own.source)
  }
  for (const below of Object.values(part)) collect(below, found)
}

/**
 * The pattern of a text; a failure for a text that is none. What is computed costs what it takes to compile, once for
 * each meter: the same expression costs the same whenever it runs.
 */
export function patternOf(source: string, meter: Meter): Pattern | CelFailure {
  const known = meter.patterns.get(source)
  if (known !== undefined) return known
  meter.spend(compileStepsOf(source))
  const pattern = tryCompile(source)
  meter.patterns.set(source, pattern)
  return pattern
}

export function tryCompile(source: string): Pattern | CelFailure {
  try {
    return compilePattern(source)
  } catch (error) {
    return new CelFailure(error instanceof Error ? error.message : String(error))
  }
}
