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
  /** What is known counts no longer: something was written past `follow`. */
  forget(): void
}

export interface ConfigurationOptions {
  readonly store: ObjectStore
  readonly clock: Clock
  /** How long what others wrote may stay unseen; Infinity where every write goes by `follow`. */
  readonly maxAgeMs: number
}

export function createConfigurationReader({ store, clock, maxAgeMs }: ConfigurationOptions): ConfigurationReader {
  const kept = keepReading({ read: () => readConfiguration(store, clock), clock, maxAgeMs })
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
    forget: kept.forget,
  }
}

async function readConfiguration(store: ObjectStore, clock: Clock): Promise<AdmissionConfiguration> {
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
  const validating = bind<PolicySpec, PolicyBindingSpec>(policies, bindings)
  const mutating = bind<MutatingPolicySpec, BindingBase>(mutatingPolicies, mutatingBindings)
  return {
    validating: await inTurns(validating, (one) => ({ ...one, compiled: compilePolicy(one.spec).policy }), clock),
    mutating: await inTurns(mutating, (one) => ({ ...one, compiled: compileMutations(one.spec).policy }), clock),
    validatingWebhooks: (await inTurns(validatingHooks, webhooksOf, clock)).flat(),
    mutatingWebhooks: (await inTurns(mutatingHooks, webhooksOf, clock)).flat(),
    damaged,
  }
}

/** One after the other: to compile one takes milliseconds, and there may be many. */
async function inTurns<One, Made>(
  all: readonly One[],
  make: (one: One) => Made,
  { nextTurn }: Pick<Clock, 'nextTurn'>,
): Promise<readonly Made[]> {
  const made: Made[] = []
  for (const one of all) {
    if (made.length > 0) await nextTurn?.()
    made.push(make(one))
  }
  return made
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

function bind<Spec, Binding extends BindingBase>(
  policies: readonly StoredObject[],
  bindings: readonly StoredObject[],
): readonly Omit<Bound<Spec, never, Binding>, 'compiled'>[] {
  const bound = bindings.map(({ object }) => ({
    name: object.metadata.name,
    spec: object.spec as unknown as Binding,
  }))
  return policies.flatMap(({ object }) => {
    const { name } = object.metadata
    const own = bound.filter(({ spec }) => spec.policyName === name)
    if (own.length === 0) return []
    const spec = object.spec as unknown as Spec
    return [{ name, spec, bindings: own, asksRights: asksRights(spec) }]
  })
}
