import type { Meter } from '../cel/meter.ts'
import { findMisnamed, toJson } from '../cel/to-json.ts'
import { BuiltObject, CelFailure, type Value } from '../cel/value.ts'
import { isObject, type JsonObject } from '../json.ts'
import type { CompiledBase, CompiledMutation, CompiledMutations } from './compile-policy.ts'
import { findMatch, valuesOf, type PolicySubject } from './subject.ts'

/** What a policy wants to change about an object. */
export type PolicyPatch =
  | { readonly type: 'apply'; readonly config: JsonObject }
  | { readonly type: 'json'; readonly operations: readonly JsonObject[] }

/** Whether a policy or a webhook has a say in a request; otherwise why nobody can tell. Throws CostError. */
export function findConcern(
  policy: CompiledBase,
  subject: PolicySubject,
  meter: Meter,
): boolean | { readonly failure: string } {
  return policy.conditions.length === 0 || findMatch(policy.conditions, valuesOf(policy, subject, meter), meter)
}

/** What one mutation makes of an object, in Kubernetes' words where that fails. Throws CostError. */
export function makePatch(
  policy: CompiledMutations,
  { patchType, program }: CompiledMutation,
  subject: PolicySubject,
  meter: Meter,
): PolicyPatch | { readonly failure: string } {
  const made = program.run(valuesOf(policy, subject, meter), meter)
  const patch = made instanceof CelFailure ? made : readPatch(patchType, made, meter)
  return patch instanceof CelFailure ? { failure: patch.message } : patch
}

function readPatch(type: CompiledMutation['patchType'], made: Value, meter: Meter): PolicyPatch | CelFailure {
  const misnamed = type === 'ApplyConfiguration' ? findMisnamed(made, 'Object', meter) : findMisnamedValues(made, meter)
  if (misnamed.length > 0) return new CelFailure(`type mismatch: ${misnamed.join('\n')}`)
  const json = toJson(made, meter)
  if (json instanceof CelFailure) return json
  if (type === 'ApplyConfiguration')
    return isObject(json) ? { type: 'apply', config: json } : new CelFailure('it makes no object')
  return { type: 'json', operations: Array.isArray(json) ? json.filter(isObject).map(withValue) : [] }
}

/** A value may be an object of any place, and what is in it follows from there. */
function findMisnamedValues(made: Value, meter: Meter): readonly string[] {
  const operations = Array.isArray(made) ? (made as readonly Value[]) : []
  return operations.flatMap((operation) => {
    const value = operation instanceof BuiltObject ? operation.get('value') : undefined
    return value instanceof BuiltObject ? findMisnamed(value, value.type, meter) : []
  })
}

/** Where no value is said, it is null. */
function withValue(operation: JsonObject): JsonObject {
  return valued.has(String(operation['op'])) && !('value' in operation) ? { ...operation, value: null } : operation
}

const valued: ReadonlySet<string> = new Set(['add', 'replace', 'test'])
