import type { ObjectKey } from '../model/object-key.ts'
import { parseApiVersion } from '../model/object.ts'
import {
  compileConditions,
  compileMutations,
  compilePolicy,
  type CompiledMutations,
  type CompiledPolicy,
} from '../model/policy/compile-policy.ts'
import type { BindingBase, MutatingPolicySpec, PolicyBindingSpec, PolicySpec } from '../model/policy/policy.ts'
import type { WebhookSpec } from '../model/policy/webhook.ts'
import type { ServedKind } from '../model/served-kind.ts'
import type { StoredObject } from '../model/stored-object.ts'
import type { Clock } from '../ports/clock.ts'
import type { ObjectStore } from '../ports/object-store.ts'
import type { StoredWebhook } from './call-webhooks.ts'
import { keepReading } from '../model/keep-reading.ts'
import { mutatingBindingKind, mutatingPolicyKind, policyBindingKind, policyGroup, policyKind } from './policy-kinds.ts'
import { mutatingWebhookKind, validatingWebhookKind } from './webhook-kinds.ts'

/** What is stored about admission: policies that are bound, and webhooks. In the order of their names. */
export interface AdmissionConfiguration {
  readonly validating: readonly Bound<PolicySpec, CompiledPolicy, PolicyBindingSpec>[]
  readonly mutating: readonly Bound<MutatingPolicySpec, CompiledMutations, BindingBase>[]
  readonly validatingWebhooks: readonly StoredWebhook[]
  readonly mutatingWebhooks: readonly StoredWebhook[]
  /** What of all that cannot be read: nobody knows what it would deny. */
  readonly damaged: readonly ObjectKey[]
}

/** A policy with the bindings that name it. */
export interface Bound<Spec, Compiled, Binding> {
  readonly name: string
  readonly spec: Spec
  readonly compiled: Compiled
  readonly bindings: readonly { readonly name: string; readonly spec: Binding }[]
  /** It asks who may do what. */
  readonly asksRights: boolean
}

export interface ConfigurationReader {
  /** Holds every write that was made through `follow` and has resolved. At once, as a rule. */
  read(): AdmissionConfiguration | Promise<AdmissionConfiguration>
  /** The store, whose writes of configuration are noted. */
  follow(store: ObjectStore): ObjectStore
}

export interface ConfigurationOptions {
  readonly store: ObjectStore
  readonly clock: Clock
  /** How long what others wrote may stay unseen; Infinity where every write goes by `follow`. */
  readonly maxAgeMs: number
}

export function createConfigurationReader({ store, clock, maxAgeMs }: ConfigurationOptions): ConfigurationReader {
  const kept = keepReading({ read: () => readConfiguration(store), clock, maxAgeMs })
  const concerns = ({ object }: StoredObject): boolean => parseApiVersion(object.apiVersion).group === policyGroup
  const noting = (stored: StoredObject, write: Promise<StoredObject>): Promise<StoredObject> =>
    concerns(stored) ? write.finally(kept.forget) : write
  return {
    read: () => kept.peek() ?? kept.get(),
    follow: (followed) => ({
      ...followed,
      create: (stored) => noting(stored, followed.create(stored)),
      replace: (stored, touched) => noting(stored, followed.replace(stored, touched)),
      remove: (stored) => noting(stored, followed.remove(stored)),
    }),
  }
}

async function readConfiguration(store: ObjectStore): Promise<AdmissionConfiguration> {
  const damaged: ObjectKey[] = []
  const list = async ({ group, kind }: ServedKind): Promise<readonly StoredObject[]> => {
    const page = await store.list({ group, kind })
    damaged.push(...(page.damaged ?? []))
    return page.items
  }
  const [policies, bindings, mutatingPolicies, mutatingBindings, validatingHooks, mutatingHooks] = await Promise.all([
    list(policyKind),
    list(policyBindingKind),
    list(mutatingPolicyKind),
    list(mutatingBindingKind),
    list(validatingWebhookKind),
    list(mutatingWebhookKind),
  ])
  return {
    validating: bind<PolicySpec, CompiledPolicy, PolicyBindingSpec>(policies, bindings, compilePolicy),
    mutating: bind<MutatingPolicySpec, CompiledMutations, BindingBase>(
      mutatingPolicies,
      mutatingBindings,
      compileMutations,
    ),
    validatingWebhooks: validatingHooks.flatMap(webhooksOf),
    mutatingWebhooks: mutatingHooks.flatMap(webhooksOf),
    damaged,
  }
}

function webhooksOf({ object }: StoredObject): readonly StoredWebhook[] {
  const { webhooks = [] } = object as unknown as { readonly webhooks?: readonly WebhookSpec[] }
  return webhooks.map((spec) => ({
    configuration: object.metadata.name,
    spec,
    asksRights: asksRights(spec.matchConditions),
    compiled: compileConditions(spec.matchConditions ?? [], '').conditions,
  }))
}

/** Whether an expression may name `authorizer`. In JSON a line that begins with it begins with other letters. */
function asksRights(spec: unknown): boolean {
  return (JSON.stringify(spec) ?? '').includes('authorizer')
}

function bind<Spec, Compiled, Binding extends BindingBase>(
  policies: readonly StoredObject[],
  bindings: readonly StoredObject[],
  compile: (spec: Spec) => { readonly policy: Compiled },
): readonly Bound<Spec, Compiled, Binding>[] {
  const bound = bindings.map(({ object }) => ({
    name: object.metadata.name,
    spec: object.spec as unknown as Binding,
  }))
  return policies.flatMap(({ object }) => {
    const { name } = object.metadata
    const own = bound.filter(({ spec }) => spec.policyName === name)
    if (own.length === 0) return []
    const spec = object.spec as unknown as Spec
    return [{ name, spec, compiled: compile(spec).policy, bindings: own, asksRights: asksRights(spec) }]
  })
}
