import { Meter } from '../model/cel/meter.ts'
import type { JsonObject } from '../model/json.ts'
import { apiVersionOf, parseApiVersion, type ApiObject } from '../model/object.ts'
import { compilePolicy, type CompiledPolicy } from '../model/policy/compile-policy.ts'
import { judge, type Denial } from '../model/policy/judge.ts'
import { matchesResources, type Matched } from '../model/policy/matches.ts'
import type { PolicyBindingSpec, PolicySpec } from '../model/policy/policy.ts'
import type { StoredObject } from '../model/stored-object.ts'
import type { Clock } from '../ports/clock.ts'
import type { ObjectStore } from '../ports/object-store.ts'
import { keepReading } from './keep-reading.ts'
import type { KindCatalog } from './kind-catalog.ts'
import { collectParams } from './policy-params.ts'
import type { PolicyReview, Reviewed } from './policy-review.ts'
import { policyBindingKind, policyGroup, policyKind } from './policy-kinds.ts'
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

/** A policy with the bindings that name it. */
interface BoundPolicy {
  readonly name: string
  readonly spec: PolicySpec
  readonly compiled: CompiledPolicy
  readonly bindings: readonly { readonly name: string; readonly spec: PolicyBindingSpec }[]
}

/** All policies over one request may take so many steps together. */
const stepsMax = 300_000

export function createStoredPolicies(options: StoredPoliciesOptions): StoredPolicies {
  const { store, clock, maxAgeMs } = options
  const kept = keepReading({ read: () => readPolicies(store), clock, maxAgeMs })

  const isPolicy = ({ object }: StoredObject): boolean => parseApiVersion(object.apiVersion).group === policyGroup
  const noting = (stored: StoredObject, write: Promise<StoredObject>): Promise<StoredObject> =>
    isPolicy(stored) ? write.finally(kept.forget) : write

  return {
    review: (asked) => {
      // Who may write policies can always mend them.
      const isOpen = asked.kind.group === policyGroup
      const known = kept.peek()
      if (isOpen || known?.length === 0) return
      if (known !== undefined) return reviewBy(known, asked, options)
      return kept.get().then((policies) => (policies.length === 0 ? [] : reviewBy(policies, asked, options)))
    },
    follow: (followed) => ({
      ...followed,
      create: (stored) => noting(stored, followed.create(stored)),
      replace: (stored, touched) => noting(stored, followed.replace(stored, touched)),
      remove: (stored) => noting(stored, followed.remove(stored)),
    }),
  }
}

async function readPolicies(store: ObjectStore): Promise<readonly BoundPolicy[]> {
  const [policies, bindings] = await Promise.all(
    [policyKind, policyBindingKind].map(async ({ group, kind }) => (await store.list({ group, kind })).items),
  )
  const bound = (bindings ?? []).map(({ object }) => ({
    name: object.metadata.name,
    spec: object.spec as unknown as PolicyBindingSpec,
  }))
  return (policies ?? []).flatMap(({ object }) => {
    const { name } = object.metadata
    const own = bound.filter(({ spec }) => spec.policyName === name)
    if (own.length === 0) return []
    const spec = object.spec as unknown as PolicySpec
    return [{ name, spec, compiled: compilePolicy(spec).policy, bindings: own }]
  })
}

async function reviewBy(
  policies: readonly BoundPolicy[],
  asked: Reviewed,
  options: StoredPoliciesOptions,
): Promise<readonly string[]> {
  const namespaceObject = await namespaceOf(asked, options.store)
  const matched = matchedBy(asked, namespaceObject)
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

interface Bound {
  readonly policy: BoundPolicy
  readonly binding: BoundPolicy['bindings'][number]
}

interface Judged {
  readonly denials: readonly Denial[]
  /** Not the policy speaks, but that it cannot be asked: its binding has no say in what becomes of that. */
  readonly isMisconfigured: boolean
}

async function judgeBinding(
  { policy, binding }: Bound,
  { asked, namespaceObject, meter }: { asked: Reviewed; namespaceObject: ApiObject | undefined; meter: Meter },
  options: StoredPoliciesOptions,
): Promise<Judged> {
  const { spec, compiled } = policy
  const namespace = nameOf(asked, 'namespace')
  const params = await collectParams({ paramKind: spec.paramKind, paramRef: binding.spec.paramRef, namespace }, options)
  if ('fault' in params) {
    const message = `failed to configure binding: ${params.fault}`
    return { denials: spec.failurePolicy === 'Ignore' ? [] : [{ message }], isMisconfigured: true }
  }
  const subject = { object: asked.object, oldObject: asked.old, request: requestOf(asked), namespaceObject }
  const denials = params.found.flatMap((param) => judge(spec, compiled, { ...subject, params: param }, meter))
  return { denials, isMisconfigured: false }
}

async function namespaceOf({ kind, object, old }: Reviewed, store: ObjectStore): Promise<ApiObject | undefined> {
  const name = kind.namespaced ? ((object ?? old)?.metadata.namespace ?? '') : ''
  if (name === '') return undefined
  return (await store.get({ group: '', kind: 'Namespace', namespace: '', name }))?.object
}

function nameOf({ object, old }: Reviewed, part: 'name' | 'namespace'): string {
  return (object ?? old)?.metadata[part] ?? ''
}

function matchedBy(asked: Reviewed, namespaceObject: ApiObject | undefined): Matched {
  const { kind, operation, subresource, object, old } = asked
  return {
    group: kind.group,
    versions: [...new Set([kind.version, kind.storageVersion])],
    plural: kind.plural,
    subresource,
    operation,
    name: nameOf(asked, 'name'),
    isNamespaced: kind.namespaced,
    objects: [object, old].filter((one) => one !== undefined),
    namespaceLabels: namespaceObject?.metadata.labels ?? (kind.namespaced ? {} : undefined),
  }
}

/** As expressions see it: AdmissionRequest of admission.k8s.io/v1, without the objects. */
function requestOf(asked: Reviewed): JsonObject {
  const { kind, operation, dryRun, subresource, user } = asked
  const { group, version } = kind
  const [of, resource] = [
    { group, version, kind: kind.kind },
    { group, version, resource: kind.plural },
  ]
  return {
    kind: of,
    resource,
    subResource: subresource,
    requestKind: of,
    requestResource: resource,
    requestSubResource: subresource,
    name: nameOf(asked, 'name'),
    namespace: nameOf(asked, 'namespace'),
    operation,
    userInfo: {
      username: user.name,
      groups: [...user.groups],
      ...(user.uid === undefined ? {} : { uid: user.uid }),
      ...(user.extra === undefined ? {} : { extra: user.extra as JsonObject }),
    },
    dryRun,
    options: { apiVersion: apiVersionOf('meta.k8s.io', 'v1'), kind: optionsKinds[operation] },
  }
}

const optionsKinds = { CREATE: 'CreateOptions', UPDATE: 'UpdateOptions', DELETE: 'DeleteOptions' } as const
