import { Meter } from '../model/cel/meter.ts'
import type { ApiObject } from '../model/object.ts'
import { judge, type Denial } from '../model/policy/judge.ts'
import { matchesResources, matchesRules } from '../model/policy/matches.ts'
import type { Clock } from '../ports/clock.ts'
import type { ObjectStore } from '../ports/object-store.ts'
import { createConfigurationReader, type AdmissionConfiguration } from './admission-configuration.ts'
import type { KindCatalog } from './kind-catalog.ts'
import { mutateBy } from './mutate-by-policies.ts'
import { collectParams } from './policy-params.ts'
import { admissionRequestOf, askedOf, matchedOf, namespaceOf, partOf } from './policy-request.ts'
import type { PolicyReview, Reviewed } from './policy-review.ts'
import { policyGroup } from './policy-kinds.ts'
import { deniedByPolicy } from './refusals.ts'

/** The admission policies that are bound. */
export interface StoredPolicies extends PolicyReview {
  /** The store, whose writes of policies are noted. */
  follow(store: ObjectStore): ObjectStore
}

export interface StoredPoliciesOptions {
  readonly store: ObjectStore
  readonly catalog: Pick<KindCatalog, 'byKind' | 'inVersion'>
  readonly clock: Clock
  /** How long a policy that others wrote may stay unseen; Infinity where every write goes by `follow`. */
  readonly maxAgeMs: number
}

type Validating = AdmissionConfiguration['validating'][number]

/** All policies of a kind over one request may take so many steps together. */
const stepsMax = 300_000

export function createStoredPolicies(options: StoredPoliciesOptions): StoredPolicies {
  const { read, follow } = createConfigurationReader(options)
  const ask = <Answer>(
    { kind }: Reviewed,
    answer: (configuration: AdmissionConfiguration) => Promise<Answer> | undefined,
    otherwise: Answer,
  ): Promise<Answer> | undefined => {
    // Who may write policies can always mend them.
    if (kind.group === policyGroup) return undefined
    const configuration = read()
    if (!(configuration instanceof Promise)) return answer(configuration)
    return configuration.then((found) => answer(found) ?? otherwise)
  }
  return {
    mutate: (asked) =>
      ask(
        asked,
        ({ mutating }) => {
          const concerned = concernedBy(mutating, asked)
          return concerned.length === 0
            ? undefined
            : mutateBy(concerned, asked, { ...options, meter: new Meter(stepsMax) })
        },
        { object: asked.object, warnings: [] },
      ),
    review: (asked) =>
      ask(
        asked,
        ({ validating }) => {
          const concerned = concernedBy(validating, asked)
          return concerned.length === 0 ? undefined : reviewBy(concerned, asked, options)
        },
        [],
      ),
    follow,
  }
}

/** Those whose rules let the request through, which takes no look at anything else. */
function concernedBy<Policy extends Pick<Validating, 'spec'>>(
  policies: readonly Policy[],
  reviewed: Reviewed,
): readonly Policy[] {
  if (policies.length === 0) return policies
  const asked = askedOf(reviewed)
  return policies.filter(({ spec }) => matchesRules(spec.matchConstraints, asked))
}

async function reviewBy(
  policies: readonly Validating[],
  asked: Reviewed,
  options: StoredPoliciesOptions,
): Promise<readonly string[]> {
  const namespaceObject = await namespaceOf(asked, options.store)
  const matched = matchedOf(asked, namespaceObject)
  const meter = new Meter(stepsMax)
  const warnings: string[] = []
  for (const policy of policies) {
    if (!matchesResources(policy.spec.matchConstraints, matched)) continue
    for (const binding of policy.bindings) {
      if (!matchesResources(binding.spec.matchResources, matched)) continue
      const subject = { asked, namespaceObject, meter }
      const { denials, isMisconfigured } = await judgeBinding({ policy, binding }, subject, options)
      const isDenied = isMisconfigured || binding.spec.validationActions.includes('Deny')
      const [first] = denials
      if (first !== undefined && isDenied) throw deniedByPolicy(asked, [policy.name, binding.name], first)
      if (!binding.spec.validationActions.includes('Warn')) continue
      for (const { message } of denials)
        warnings.push(
          `Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}': ${message}`,
        )
    }
  }
  return warnings
}

interface ReviewedBinding {
  readonly policy: Validating
  readonly binding: Validating['bindings'][number]
}

interface Judged {
  readonly denials: readonly Denial[]
  /** Not the policy speaks, but that it cannot be asked: its binding has no say in what becomes of that. */
  readonly isMisconfigured: boolean
}

async function judgeBinding(
  { policy, binding }: ReviewedBinding,
  { asked, namespaceObject, meter }: { asked: Reviewed; namespaceObject: ApiObject | undefined; meter: Meter },
  options: StoredPoliciesOptions,
): Promise<Judged> {
  const { spec, compiled } = policy
  const namespace = partOf(asked, 'namespace')
  const params = await collectParams({ paramKind: spec.paramKind, paramRef: binding.spec.paramRef, namespace }, options)
  if ('fault' in params) {
    const message = `failed to configure binding: ${params.fault}`
    return { denials: spec.failurePolicy === 'Ignore' ? [] : [{ message }], isMisconfigured: true }
  }
  const subject = { object: asked.object, oldObject: asked.old, request: admissionRequestOf(asked), namespaceObject }
  const denials = params.found.flatMap((param) => judge(spec, compiled, { ...subject, params: param }, meter))
  return { denials, isMisconfigured: false }
}
