import { lazy } from '../lazy.ts'
import type { Pattern } from '../schema/pattern.ts'
import { build } from './build.ts'
import type { Built, Constructs, Frame, Scope } from './built.ts'
import { describeError, ExpressionError, type Expression } from './expression.ts'
import { authorizers } from './functions/authorizer.ts'
import { calendar } from './functions/calendar.ts'
import { conversions } from './functions/conversions.ts'
import { jsonPatches } from './functions/json-patch.ts'
import { lists } from './functions/lists.ts'
import { namedFormats } from './functions/named-formats.ts'
import { network } from './functions/network.ts'
import { operators } from './functions/operators.ts'
import { quantities } from './functions/quantity.ts'
import { strings } from './functions/strings.ts'
import { urls } from './functions/url.ts'
import type { Meter } from './meter.ts'
import { overloadsOf } from './overload.ts'
import { parseExpression } from './parse.ts'
import { tryCompile } from './patterns.ts'
import { Bindings, showType, TypeBudget, type Type } from './type.ts'
import { CelFailure, type Result } from './value.ts'

/** An expression that runs on values of its variables. */
export interface Program {
  /** What it comes to, as far as it is known. */
  readonly type: Type
  /** Throws CostError once the meter has nothing left. */
  run(variables: readonly Result[], meter: Meter): Result
}

const ofRules = [operators, conversions, strings, lists, calendar, quantities, network, urls, namedFormats]
const ofPolicies = [...ofRules, authorizers]

// Most starts of a function compile no expression, and signatures take some milliseconds to read.
const functions = lazy(() => overloadsOf(ofRules))
const functionsOfPolicies = lazy(() => overloadsOf(ofPolicies))
const functionsOfChanges = lazy(() => overloadsOf([...ofPolicies, jsonPatches]))

/**
 * The parts of a text that compiles as a rule, with what is known of each; undefined for one that does not. Types are
 * whole.
 */
export function checkParts(
  text: string,
  variables: Readonly<Record<string, Type>>,
  types = new TypeBudget(),
): { readonly expression: Expression; readonly parts: ReadonlyMap<Expression, Built> } | undefined {
  const bindings = new Bindings(types)
  const parts = new Map<Expression, Built>()
  const note = (part: Expression, built: Built): void => void parts.set(part, built)
  try {
    const expression = parseExpression(text)
    build(expression, { variables: placesOf(variables), bindings, functions: functions(), checkPattern, note })
    const settled = [...parts].map(([part, built]) => [part, { ...built, type: bindings.settle(built.type) }] as const)
    return { expression, parts: new Map(settled) }
  } catch (error) {
    if (error instanceof ExpressionError) return undefined
    throw error
  }
}

function placesOf(variables: Readonly<Record<string, Type>>): Scope['variables'] {
  return new Map(Object.entries(variables).map(([name, type], slot) => [name, { type, slot }]))
}

/** An expression of a policy: it comes to exactly one of these types, or to any if there are none. */
export interface PolicyGoal {
  readonly gives: readonly Type[]
  /** The objects that it may make. */
  readonly constructs?: Constructs
}

/**
 * The program of a text, with variables by their names in their order, that gives a value of one of the types;
 * otherwise what is wrong with the text, in the words of Kubernetes.
 */
export function compileExpression(
  text: string,
  variables: Readonly<Record<string, Type>>,
  goal: readonly Type['kind'][] | PolicyGoal,
  types = new TypeBudget(),
): Program | { readonly fault: string } {
  try {
    const bindings = new Bindings(types)
    const patterns = new Map<string, Pattern>()
    const usePattern = (source: string): string | undefined => checkPattern(source, patterns)
    const scope = { variables: placesOf(variables), bindings, checkPattern: usePattern, ...languageOf(goal) }
    const { type, run } = build(parseExpression(text), scope)
    const settled = bindings.settle(type)
    const fault = findTypeFault(settled, goal)
    if (fault !== undefined) throw new ExpressionError(fault, 0)
    return {
      type: settled,
      run: (values, meter) => {
        for (const [source, pattern] of patterns) meter.patterns.set(source, pattern)
        const frame: Frame = { slots: [...values], meter }
        return run(frame)
      },
    }
  } catch (error) {
    if (error instanceof ExpressionError) return { fault: describeError(text, error) }
    throw error
  }
}

type Goal = readonly Type['kind'][] | PolicyGoal

function languageOf(goal: Goal): Pick<Scope, 'functions' | 'constructs'> {
  if (!('gives' in goal)) return { functions: functions() }
  const { constructs } = goal
  return constructs === undefined
    ? { functions: functionsOfPolicies() }
    : { functions: functionsOfChanges(), constructs }
}

function findTypeFault(type: Type, goal: Goal): string | undefined {
  const shown = showType(type)
  if ('gives' in goal) {
    const wanted = goal.gives.map(showType)
    const fits = wanted.length === 0 || wanted.includes(shown)
    return fits ? undefined : `must evaluate to ${wanted.join(' or ')} but got ${shown}`
  }
  const isOpen = type.kind === 'dyn' || type.kind === 'parameter'
  return isOpen || goal.includes(type.kind) ? undefined : `must evaluate to ${goal.join(' or ')}, not ${shown}`
}

/** What is wrong with a pattern that is written down; one that holds goes to the others. */
function checkPattern(source: string, patterns = new Map<string, Pattern>()): string | undefined {
  const pattern = tryCompile(source)
  if (pattern instanceof CelFailure) return pattern.message
  patterns.set(source, pattern)
  return undefined
}
