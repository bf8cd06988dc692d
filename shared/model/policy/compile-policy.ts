import type { CompileBudget } from '../cel/compile-budget.ts'
import { compileExpression, type PolicyGoal, type Program } from '../cel/program.ts'
import { objectOf, parseType, plain, type Type } from '../cel/type.ts'
import { child, entry, invalid, type FieldError } from '../schema/field-error.ts'
import { patchOperations, wholeObjects } from './made-types.ts'
import { requestType } from './request-type.ts'
import type { MutatingPolicySpec, PolicyBase, PolicyMutation, PolicySpec, PolicyValidation } from './policy.ts'

/** What policies of both kinds say, ready to run. */
export interface CompiledBase {
  readonly conditions: readonly NamedProgram[]
  readonly variables: readonly NamedProgram[]
}

/** A policy whose expressions are ready to run. */
export interface CompiledPolicy extends CompiledBase {
  readonly validations: readonly CompiledValidation[]
  /** What it has written beside the record of a request. */
  readonly notes: readonly CompiledNote[]
}

/** The same of a policy that changes what is written. */
export interface CompiledMutations extends CompiledBase {
  readonly mutations: readonly CompiledMutation[]
}

export interface NamedProgram {
  readonly name: string
  readonly expression: string
  readonly program: Program
}

export interface CompiledValidation {
  readonly validation: PolicyValidation
  readonly program: Program
  readonly message?: Program
}

export interface CompiledNote {
  readonly key: string
  readonly expression: string
  readonly program: Program
}

export interface CompiledMutation {
  readonly patchType: PolicyMutation['patchType']
  readonly program: Program
}

/** In the order in which programs are given their values. */
const policyVariables = [
  'object',
  'oldObject',
  'request',
  'params',
  'namespaceObject',
  'variables',
  'authorizer',
  'authorizer.requestResource',
] as const

/**
 * The policy, and what is wrong with the expressions that are left out of it. With a budget patterns that are too much
 * are left out, too: of what is stored already, none.
 */
export function compilePolicy(
  spec: PolicySpec,
  budget?: CompileBudget,
): {
  readonly policy: CompiledPolicy
  readonly errors: readonly FieldError[]
} {
  const { base, compile, errors } = compileBase(spec, policyConditions, budget)
  const validations = (spec.validations ?? []).flatMap((validation, i) => {
    const field = entry('spec.validations', i)
    const { expression, messageExpression } = validation
    const program = compile(child(field, 'expression'), expression, truth)
    const said =
      messageExpression === undefined
        ? undefined
        : compile(child(field, 'messageExpression'), messageExpression, message)
    return program === undefined ? [] : [{ validation, program, ...(said && { message: said }) }]
  })
  const notes = (spec.auditAnnotations ?? []).flatMap(({ key, valueExpression: expression }, i) => {
    const field = child(entry('spec.auditAnnotations', i), 'valueExpression')
    const program = compile(field, expression, textOrNull)
    return program === undefined ? [] : [{ key, expression, program }]
  })
  return { policy: { ...base, validations, notes }, errors }
}

/** The same of a policy that changes what is written. */
export function compileMutations(
  spec: MutatingPolicySpec,
  budget?: CompileBudget,
): {
  readonly policy: CompiledMutations
  readonly errors: readonly FieldError[]
} {
  const { base, compile, errors } = compileBase(spec, policyConditions, budget)
  const mutations = (spec.mutations ?? []).flatMap(({ patchType, applyConfiguration, jsonPatch }, i) => {
    const isApply = patchType === 'ApplyConfiguration'
    const { expression } = (isApply ? applyConfiguration : jsonPatch) ?? {}
    if (expression === undefined) return []
    const field = child(entry('spec.mutations', i), isApply ? 'applyConfiguration' : 'jsonPatch')
    const program = compile(child(field, 'expression'), expression, isApply ? wholeObjects : patchOperations)
    return program === undefined ? [] : [{ patchType, program }]
  })
  return { policy: { ...base, mutations }, errors }
}

/** The conditions of a webhook, and what is wrong with those that are left out. */
export function compileConditions(
  matchConditions: NonNullable<PolicyBase['matchConditions']>,
  path: string,
  budget?: CompileBudget,
): { readonly conditions: CompiledBase; readonly errors: readonly FieldError[] } {
  const { base, errors } = compileBase({ matchConditions }, path, budget)
  return { conditions: base, errors }
}

const policyConditions = 'spec.matchConditions'

type Compile = (field: string, text: string, goal: PolicyGoal) => Program | undefined

function compileBase(
  spec: PolicyBase,
  conditionsAt: string,
  budget?: CompileBudget,
): {
  readonly base: CompiledBase
  readonly compile: Compile
  readonly errors: FieldError[]
} {
  const errors: FieldError[] = []
  const known = new Map<string, Type>()
  const compile: Compile = (field, text, goal) => {
    errors.push(...(budget?.spendOnExpression(text, field) ?? []))
    const made =
      budget?.isSpent === true ? undefined : compileExpression(text, typesWith(known, spec, goal), goal, budget?.types)
    if (made !== undefined && 'fault' in made) errors.push(invalid(field, text, `compilation failed: ${made.fault}`))
    return made === undefined || 'fault' in made ? undefined : made
  }
  const conditions = (spec.matchConditions ?? []).flatMap((one, i) => {
    const program = compile(child(entry(conditionsAt, i), 'expression'), one.expression, truth)
    return program === undefined ? [] : [{ ...one, program }]
  })
  const variables = (spec.variables ?? []).flatMap((one, i) => {
    const program = compile(child(entry('spec.variables', i), 'expression'), one.expression, anything)
    known.set(one.name, program?.type ?? plain.dyn)
    return program === undefined ? [] : [{ ...one, program }]
  })
  return { base: { conditions, variables }, compile, errors }
}

const truth: PolicyGoal = { gives: [plain.bool] }
const message: PolicyGoal = { gives: [plain.string] }
const textOrNull: PolicyGoal = { gives: [plain.string, plain.null] }
const anything: PolicyGoal = { gives: [] }

/** A variable sees those ahead of it. `params` is there for policies that have some; its place is there for all. */
function typesWith(
  known: ReadonlyMap<string, Type>,
  { paramKind }: PolicyBase,
  goal: PolicyGoal,
): Readonly<Record<string, Type>> {
  const types: Readonly<Record<string, Type>> = {
    request: requestType,
    variables: objectOf('kubernetes.variables', new Map(known)),
    authorizer: parseType('kubernetes.authorization.Authorizer'),
    'authorizer.requestResource': parseType('kubernetes.authorization.ResourceCheck'),
  }
  const isHidden = (name: string): boolean =>
    (name === 'params' && paramKind === undefined) || (goal === message && name.startsWith('authorizer'))
  return Object.fromEntries(
    policyVariables.map((name, i) => [isHidden(name) ? ` ${i}` : name, types[name] ?? plain.dyn]),
  )
}
