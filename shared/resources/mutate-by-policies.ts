import { CostError } from '../model/cel/meter.ts'
import { OperatingError } from '../model/errors.ts'
import { objectText } from '../model/object-text.ts'
import { admissionCosts, costOf, type AdmissionBudget } from '../model/policy/admission-budget.ts'
import { equal } from '../model/json.ts'
import type { ApiObject } from '../model/object.ts'
import { findConcern, makePatch, type PolicyPatch } from '../model/policy/mutate.ts'
import { matchesResources, ruledForm, type RuledForm } from '../model/policy/matches.ts'
import type { PolicySubject } from '../model/policy/subject.ts'
import type { Clock } from '../ports/clock.ts'
import type { ObjectStore } from '../ports/object-store.ts'
import type { AdmissionConfiguration } from './admission-configuration.ts'
import type { Surrounding } from './call-webhooks.ts'
import type { KindCatalog } from './kind-catalog.ts'
import { withPolicyPatch } from './policy-patch.ts'
import { collectParams } from './policy-params.ts'
import { admissionRequestOf, matchedOf, partOf } from './policy-request.ts'
import type { Mutable } from './policy-review.ts'
import { inVersionOf, reviewInVersion } from './review-in-version.ts'
import { restBefore } from './rest.ts'
import { failedPolicies, type PolicyFailure } from './refusals.ts'

export interface MutationSources {
  readonly store: ObjectStore
  readonly catalog: Pick<KindCatalog, 'byKind' | 'inVersion'>
}

export type Mutating = AdmissionConfiguration['mutating'][number]

/** A policy through one binding, with one set of parameters. */
interface Invocation {
  readonly id: string
  readonly policy: Mutating
  readonly binding: Mutating['bindings'][number]
  readonly params: ApiObject | undefined
  /** In which the policy is asked. */
  readonly form: RuledForm
}

interface Pass {
  /** The same object if nothing has changed. */
  readonly object: ApiObject
  /** Those that were asked, and want to be asked again. */
  readonly again: ReadonlySet<string>
}

interface Around extends MutationSources, Surrounding {
  readonly budget: AdmissionBudget
  readonly clock: Clock
}

/**
 * What policies make of an object, one after the other by their names: all, or those that were asked before. Throws
 * FORBIDDEN with all that fail.
 */
export async function mutateBy(
  policies: readonly Mutating[],
  asked: Mutable,
  around: Around,
  only?: ReadonlySet<string>,
): Promise<Pass> {
  const failures: PolicyFailure[] = []
  const invocations = await findInvocations(policies, asked, { ...around, failures })
  const chosen = invocations.filter(({ id }) => only?.has(id) !== false)
  const pass = await invokeAll(chosen, asked, { ...around, failures })
  if (failures.length > 0) throw failedPolicies(asked, failures)
  return pass
}

interface Finding extends Around {
  readonly failures: PolicyFailure[]
}

async function findInvocations(
  policies: readonly Mutating[],
  asked: Mutable,
  { namespaceObject, failures, ...sources }: Finding,
): Promise<readonly Invocation[]> {
  const matched = matchedOf(asked, namespaceObject)
  const found: Invocation[] = []
  for (const policy of policies) {
    if (!matchesResources(policy.spec.matchConstraints, matched)) continue
    const form = ruledForm(policy.spec.matchConstraints, matched) ?? asked.kind
    for (const binding of policy.bindings) {
      if (!matchesResources(binding.spec.matchResources, matched)) continue
      const { paramKind } = policy.spec
      const wanted = { paramKind, paramRef: binding.spec.paramRef, namespace: partOf(asked, 'namespace') }
      const params = await collectParams(wanted, sources)
      sources.budget.spend(admissionCosts.binding * ('found' in params ? 1 + params.found.length : 1))
      if ('fault' in params) note(failures, { policy, binding }, `failed to configure binding: ${params.fault}`)
      else
        found.push(
          ...params.found.map((one) => ({ id: idOf(policy, binding, one), policy, binding, params: one, form })),
        )
    }
  }
  return found
}

function idOf({ name }: Mutating, binding: Invocation['binding'], params: ApiObject | undefined): string {
  return [name, binding.name, params?.metadata.namespace, params?.metadata.name].join('/')
}

function note(
  failures: PolicyFailure[],
  { policy, binding }: Pick<Invocation, 'policy' | 'binding'>,
  why: string,
): void {
  if (policy.spec.failurePolicy === 'Ignore') return
  failures.push({ policy: policy.name, binding: binding.name, why })
}

type Invoking = Surrounding & Pick<Finding, 'failures' | 'catalog' | 'budget' | 'clock'>

async function invokeAll(invocations: readonly Invocation[], asked: Mutable, around: Invoking): Promise<Pass> {
  const again = new Set<string>()
  let { object } = asked
  for (const invocation of invocations) {
    try {
      const seen = await reviewInVersion({ ...asked, object }, invocation.form, around.catalog)
      await restBefore(object, around.clock)
      const made = invoke(invocation, seen, around)
      if (made === undefined) continue
      if (made !== seen.object) object = await inVersionOf({ ...asked, object }, made, seen.kind)
      if (invocation.policy.spec.reinvocationPolicy === 'IfNeeded') again.add(invocation.id)
    } catch (error) {
      if (!(error instanceof CostError)) throw error
      note(around.failures, invocation, 'running out of cost budget, no further mutations will be run')
      break
    }
  }
  return { object, again }
}

/** The object after all mutations of a policy; undefined if its conditions do not hold. Throws CostError. */
function invoke(
  invocation: Invocation,
  asked: Mutable,
  { namespaceObject, failures, meter, decide, budget }: Invoking,
): ApiObject | undefined {
  const { policy, params } = invocation
  const fixed = { oldObject: asked.old, request: admissionRequestOf(asked), params, namespaceObject, decide }
  const concern = findConcern(policy.compiled, { ...fixed, object: asked.object }, meter)
  if (concern === false) return undefined
  if (concern !== true) {
    note(failures, invocation, concern.failure)
    return undefined
  }
  let { object } = asked
  for (const mutation of policy.compiled.mutations) {
    meter.spend(objectText(object).length >> 3)
    const patch = makePatch(policy.compiled, mutation, { ...fixed, object } satisfies PolicySubject, meter)
    budget.spend(costOf(objectText(object).length, 'made'))
    const made = 'failure' in patch ? patch : tryPatchOn({ ...asked, object, budget }, patch)
    budget.spend('object' in made ? costOf(objectText(made.object).length, 'made') : 0)
    if ('failure' in made) note(failures, invocation, made.failure)
    else if (!equal(made.object, object)) object = made.object
  }
  return object
}

function tryPatchOn(asked: Mutable, patch: PolicyPatch): { readonly object: ApiObject } | { readonly failure: string } {
  try {
    return { object: withPolicyPatch(asked, patch) }
  } catch (error) {
    if (!(error instanceof OperatingError)) throw error
    return { failure: error.message }
  }
}
