import { build } from './build.ts'
import type { Constructs, Frame, Scope } from './built.ts'
import { describeError, ExpressionError } from './expression.ts'
import { calendar } from './functions/calendar.ts'
import { conversions } from './functions/conversions.ts'
import { jsonPatches } from './functions/json-patch.ts'
import { lists } from './functions/lists.ts'
import { namedFormats } from './functions/named-formats.ts'
import { network } from './functions/network.ts'
import { operators } from './functions/operators.ts'
import { quantities } from './functions/quantity.ts'
import { patternOf, strings } from './functions/strings.ts'
import { urls } from './functions/url.ts'
import { Meter } from './meter.ts'
import type { Overload } from './overload.ts'
import { parseExpression } from './parse.ts'
import { Bindings, showType, type Type } from './type.ts'
import { CelFailure, type Result } from './value.ts'

/** An expression that runs on values of its variables. */
export interface Program {
  /** Throws CostError once the meter has nothing left. */
  run(variables: readonly Result[], meter: Meter): Result
}

const all = [operators, conversions, strings, lists, calendar, quantities, network, urls, namedFormats].flat()

const functions: ReadonlyMap<string, readonly Overload[]> = Map.groupBy(all, ({ name }) => name)

const functionsOfChanges: ReadonlyMap<string, readonly Overload[]> = Map.groupBy(
  [...all, ...jsonPatches],
  ({ name }) => name,
)

/** What an expression that makes objects comes to: a value of exactly this type, of objects of these types. */
export interface Making {
  readonly gives: Type
  readonly constructs: Constructs
}

/**
 * The program of a text, with variables by their names in their order, that gives a value of one of the types;
 * otherwise what is wrong with the text, in the words of Kubernetes.
 */
export function compileExpression(
  text: string,
  variables: Readonly<Record<string, Type>>,
  gives: readonly Type['kind'][] | Making,
): Program | { readonly fault: string } {
  try {
    const places = Object.entries(variables).map(([name, type], slot) => [name, { type, slot }] as const)
    const bindings = new Bindings()
    const scope = { variables: new Map(places), bindings, checkPattern, ...languageOf(gives) }
    const { type, run } = build(parseExpression(text), scope)
    const fault = findTypeFault(bindings.settle(type), gives)
    if (fault !== undefined) throw new ExpressionError(fault, 0)
    return {
      run: (values, meter) => {
        const frame: Frame = { slots: [...values], meter }
        return run(frame)
      },
    }
  } catch (error) {
    if (error instanceof ExpressionError) return { fault: describeError(text, error) }
    throw error
  }
}

function languageOf(gives: readonly Type['kind'][] | Making): Pick<Scope, 'functions' | 'constructs'> {
  return 'constructs' in gives ? { functions: functionsOfChanges, constructs: gives.constructs } : { functions }
}

function findTypeFault(type: Type, gives: readonly Type['kind'][] | Making): string | undefined {
  const shown = showType(type)
  if ('constructs' in gives) {
    const wanted = showType(gives.gives)
    return shown === wanted ? undefined : `must evaluate to ${wanted} but got ${shown}`
  }
  const isOpen = type.kind === 'dyn' || type.kind === 'parameter'
  return isOpen || gives.includes(type.kind) ? undefined : `must evaluate to ${gives.join(' or ')}, not ${shown}`
}

function checkPattern(source: string): string | undefined {
  const pattern = patternOf(source, new Meter(Infinity))
  return pattern instanceof CelFailure ? pattern.message : undefined
}
