import { CostError, type Meter } from '../cel/meter.ts'
import { LazyMap, readUntyped } from '../cel/untyped-value.ts'
import { CelFailure, type Result, type Value } from '../cel/value.ts'
import type { Json } from '../json.ts'
import type { CompiledPolicy, CompiledValidation, NamedProgram } from './compile-policy.ts'
import type { PolicySpec } from './policy.ts'

/** What expressions of a policy see, with one set of parameters. */
export interface PolicySubject {
  readonly object: Json | undefined
  readonly oldObject: Json | undefined
  readonly request: Json
  readonly params: Json | undefined
  readonly namespaceObject: Json | undefined
}

/** Why a policy is against a request. */
export interface Denial {
  readonly message: string
  readonly reason?: string
}

/** What a policy has against a request. What an expression fails to say counts as its `failurePolicy` says. */
export function judge(
  spec: Pick<PolicySpec, 'failurePolicy'>,
  policy: CompiledPolicy,
  subject: PolicySubject,
  meter: Meter,
): readonly Denial[] {
  const onFailure = (message: string): readonly Denial[] => (spec.failurePolicy === 'Ignore' ? [] : [{ message }])
  try {
    const values = valuesOf(policy, subject, meter)
    const matched = findMatch(policy.conditions, values, meter)
    if (matched !== true) return matched === false ? [] : onFailure(matched.failure)
    return policy.validations.flatMap((one) => {
      const result = one.program.run(values, meter)
      if (result === true) return []
      const text = one.validation.expression
      if (result instanceof CelFailure) return onFailure(`expression '${text}' resulted in error: ${result.message}`)
      return [denialOf(one, values, meter)]
    })
  } catch (error) {
    if (!(error instanceof CostError)) throw error
    return onFailure('validation failed due to running out of cost budget, no further validation rules will be run')
  }
}

function valuesOf({ variables }: CompiledPolicy, subject: PolicySubject, meter: Meter): readonly Value[] {
  const { object, oldObject, request, params, namespaceObject } = subject
  const plain = [object, oldObject, request, params, namespaceObject].map(readUntyped)
  const lazy = new LazyMap(
    new Map(variables.map(({ name, program }) => [name, (): Result => program.run([...plain, lazy], meter)])),
  )
  return [...plain, lazy]
}

/** All conditions hold, or one does not; a condition that fails counts only where all others hold. */
function findMatch(
  conditions: readonly NamedProgram[],
  values: readonly Value[],
  meter: Meter,
): boolean | { readonly failure: string } {
  let failure: string | undefined
  for (const { expression, program } of conditions) {
    const result = program.run(values, meter)
    if (result === false) return false
    if (result instanceof CelFailure) failure ??= `expression '${expression}' resulted in error: ${result.message}`
  }
  return failure === undefined ? true : { failure }
}

const messageLengthMax = 5_120

function denialOf({ validation, message }: CompiledValidation, values: readonly Value[], meter: Meter): Denial {
  const said = message?.run(values, meter)
  const isSaid =
    typeof said === 'string' && said.trim() !== '' && !said.includes('\n') && said.length <= messageLengthMax
  const given = validation.message?.trim() ?? ''
  const otherwise = given === '' ? `failed expression: ${validation.expression.trim()}` : given
  return {
    message: isSaid ? said.trim() : otherwise,
    ...(validation.reason === undefined ? {} : { reason: validation.reason }),
  }
}
