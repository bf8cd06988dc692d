import { compileExpression, type Program } from '../cel/program.ts'
import { objectOf, plain, type Type } from '../cel/type.ts'
import { child, entry, invalid, type FieldError } from '../schema/field-error.ts'
import type { PolicySpec, PolicyValidation } from './policy.ts'

/** A policy whose expressions are ready to run. */
export interface CompiledPolicy {
  readonly conditions: readonly NamedProgram[]
  readonly variables: readonly NamedProgram[]
  readonly validations: readonly CompiledValidation[]
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

/** In the order in which programs are given their values. */
const policyVariables = ['object', 'oldObject', 'request', 'params', 'namespaceObject', 'variables'] as const

/** The policy, and what is wrong with the expressions that are left out of it. */
export function compilePolicy(spec: PolicySpec): {
  readonly policy: CompiledPolicy
  readonly errors: readonly FieldError[]
} {
  const errors: FieldError[] = []
  const known = new Map<string, Type>()
  const compile = (field: string, text: string, gives: 'bool' | 'string' | 'any'): Program | undefined => {
    const made = compileExpression(text, typesWith(known, spec), gives === 'any' ? anyKind : [gives])
    if (!('fault' in made)) return made
    errors.push(invalid(field, text, `compilation failed: ${made.fault}`))
    return undefined
  }
  const conditions = (spec.matchConditions ?? []).flatMap((one, i) => {
    const program = compile(child(entry('spec.matchConditions', i), 'expression'), one.expression, 'bool')
    return program === undefined ? [] : [{ ...one, program }]
  })
  const variables = (spec.variables ?? []).flatMap((one, i) => {
    const program = compile(child(entry('spec.variables', i), 'expression'), one.expression, 'any')
    known.set(one.name, plain.dyn)
    return program === undefined ? [] : [{ ...one, program }]
  })
  const validations = (spec.validations ?? []).flatMap((validation, i) => {
    const field = entry('spec.validations', i)
    const { expression, messageExpression } = validation
    const program = compile(child(field, 'expression'), expression, 'bool')
    const message =
      messageExpression === undefined
        ? undefined
        : compile(child(field, 'messageExpression'), messageExpression, 'string')
    return program === undefined ? [] : [{ validation, program, ...(message === undefined ? {} : { message }) }]
  })
  return { policy: { conditions, variables, validations }, errors }
}

const anyKind: readonly Type['kind'][] = [
  ...(['bool', 'int', 'uint', 'double', 'string', 'bytes', 'null', 'timestamp', 'duration', 'list', 'map'] as const),
  ...(['type', 'optional', 'object', 'opaque'] as const),
]

/** A variable sees those ahead of it. `params` is there for policies that have some; its place is there for all. */
function typesWith(known: ReadonlyMap<string, Type>, { paramKind }: PolicySpec): Readonly<Record<string, Type>> {
  const typeOf = (name: string): Type =>
    name === 'variables' ? objectOf('kubernetes.variables', new Map(known)) : plain.dyn
  const isHidden = (name: string): boolean => name === 'params' && paramKind === undefined
  return Object.fromEntries(policyVariables.map((name) => [isHidden(name) ? '' : name, typeOf(name)]))
}
