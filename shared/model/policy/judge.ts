import { CostError, type Meter } from '../cel/meter.ts'
import { CelFailure, type Result } from '../cel/value.ts'
import type { CompiledNote, CompiledPolicy, CompiledValidation } from './compile-policy.ts'
import type { PolicySpec } from './policy.ts'
import { findMatch, valuesOf, type PolicySubject } from './subject.ts'

/** Why a policy is against a request. */
export interface Denial {
  readonly message: string
  readonly reason?: string
  /** Of the validation, its place. */
  readonly expression?: number
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
    const denials = policy.validations.flatMap((one, expression) => {
      const result = one.program.run(values, meter)
      if (result === true) return []
      const text = one.validation.expression
      if (result instanceof CelFailure) return onFailure(`expression '${text}' resulted in error: ${result.message}`)
      return [{ ...denialOf(one, values, meter), expression }]
    })
    const faults = policy.notes.flatMap((one) => noteValue(one, subject, one.program.run(values, meter)) ?? [])
    return [...denials, ...faults.flatMap(onFailure)]
  } catch (error) {
    if (!(error instanceof CostError)) throw error
    return onFailure('validation failed due to running out of cost budget, no further validation rules will be run')
  }
}

/** Nothing is noted of an empty text, or of null. What is wrong with anything else. */
function noteValue({ key, expression }: CompiledNote, { note }: PolicySubject, value: Result): string | undefined {
  if (typeof value === 'string' && value.trim() !== '') note?.(key, value.trim())
  return value instanceof CelFailure ? `expression '${expression}' resulted in error: ${value.message}` : undefined
}

const messageLengthMax = 5_120

function denialOf({ validation, message }: CompiledValidation, values: readonly Result[], meter: Meter): Denial {
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
