import { serviceAccountUser, type AccessBook } from '../model/access/access-book.ts'
import { authorize, serviceAccountGroups } from '../model/access/authorize.ts'
import type { Requester } from '../model/admission-hooks.ts'
import type { Eventual } from '../model/eventual.ts'
import { Meter } from '../model/cel/meter.ts'
import { OperatingError } from '../model/errors.ts'
import type { JsonObject } from '../model/json.ts'
import type { ObjectKey } from '../model/object-key.ts'
import { AdmissionBudget, admissionCosts } from '../model/policy/admission-budget.ts'
import { judge, type Denial } from '../model/policy/judge.ts'
import { matchesResources, matchesRules, ruledForm } from '../model/policy/matches.ts'
import type { Clock } from '../ports/clock.ts'
import type { ObjectStore } from '../ports/object-store.ts'
import type { Random } from '../ports/random.ts'
import type { Webhooks } from '../ports/webhooks.ts'
import { createConfigurationReader, type AdmissionConfiguration } from './admission-configuration.ts'
import type { KindCatalog } from './kind-catalog.ts'
import {
  callTogether,
  concernsWebhook,
  webhookRules,
  formFor,
  type ConcernedWebhook,
  type StoredWebhook,
  type Surrounding,
} from './call-webhooks.ts'
import type { MutationSources } from './mutate-by-policies.ts'
import { collectParams } from './policy-params.ts'
import { admissionRequestOf, askedOf, matchedOf, namespaceOf, partOf } from './policy-request.ts'
import { annotationLengthMax, type Mutated, type PolicyReview, type Reviewed } from './policy-review.ts'
import { policyGroup } from './policy-kinds.ts'
import { restBefore } from './rest.ts'
import { reviewInVersion } from './review-in-version.ts'
import { runMutations, type MutationOptions } from './run-mutations.ts'
import { deniedByPolicy } from './refusals.ts'

/** The admission policies that are bound. */
export interface StoredPolicies extends PolicyReview {
  /** The store, whose writes of policies are noted. */
  follow(store: ObjectStore): ObjectStore
  /** What is known counts no longer: something was written past `follow`. */
  forget(): void
}

export interface StoredPoliciesOptions {
  readonly store: ObjectStore
  readonly catalog: Pick<KindCatalog, 'byKind' | 'inVersion'>
  readonly clock: Clock
  /** How long a policy that others wrote may stay unseen; Infinity where every write goes by `follow`. */
  readonly maxAgeMs: number
  readonly random: Random
  /** Left out, this process asks none, which counts as a failure of each. */
  readonly webhooks?: Webhooks | undefined
  /** For expressions that ask who may do what. Left out, nobody may anything. */
  readonly readAccess?: () => Eventual<AccessBook>
}

type Validating = AdmissionConfiguration['validating'][number]

/** All policies of a kind over one request may take so many steps together. */
const stepsMax = 300_000

export function createStoredPolicies(options: StoredPoliciesOptions): StoredPolicies {
  const { read, follow, forget } = createConfigurationReader(options)
  const ask = <Answer>(
    { kind }: Reviewed,
    answer: (configuration: AdmissionConfiguration) => Promise<Answer> | undefined,
    otherwise: Answer,
  ): Promise<Answer> | undefined => {
    // Who may write policies can always mend them.
    if (kind.group === policyGroup) return undefined
    const answerBy = (configuration: AdmissionConfiguration): Promise<Answer> | undefined => {
      const [damaged] = configuration.damaged
      return damaged === undefined ? answer(configuration) : Promise.reject(unreadable(damaged))
    }
    const configuration = read()
    if (!(configuration instanceof Promise)) return answerBy(configuration)
    return configuration.then((found) => answerBy(found) ?? otherwise)
  }
  return {
    mutate: (asked) =>
      ask(
        asked,
        ({ mutating, mutatingWebhooks }) => {
          const concerned = findConcerned(mutating, mutatingWebhooks, asked)
          return concerned && mutateAll(concerned, withBudget(asked), options)
        },
        { ...(asked.object && { object: asked.object }), warnings: [] },
      ),
    review: (asked) =>
      ask(
        asked,
        ({ validating, validatingWebhooks }) => {
          const concerned = findConcerned(validating, validatingWebhooks, asked)
          return concerned && reviewAll(concerned, withBudget(asked), options)
        },
        [],
      ),
    follow,
    forget,
  }
}

/** As of a policy that fails: to let through what it may deny would be worse than to wait for who mends it. */
function unreadable({ kind, name }: ObjectKey): OperatingError {
  const what = `${kind} ${JSON.stringify(name)} is damaged, so that nobody knows which requests it denies`
  return new OperatingError('DAMAGED', `${what}: they are refused until it is deleted or put back (docs/damage.md)`)
}

interface Budgeted extends Reviewed {
  readonly budget: AdmissionBudget
}

function withBudget(asked: Reviewed): Budgeted {
  const { budget = new AdmissionBudget() } = asked
  return { ...asked, budget }
}

/** Those whose rules let the request through, which takes no look at anything else; undefined if there is none. */
function findConcerned<Policy extends Pick<Validating, 'spec'>>(
  policies: readonly Policy[],
  webhooks: readonly StoredWebhook[],
  asked: Reviewed,
): { readonly policies: readonly Policy[]; readonly webhooks: readonly StoredWebhook[] } | undefined {
  const concerned = { policies: concernedBy(policies, asked), webhooks: calledFor(webhooks, asked) }
  return concerned.policies.length === 0 && concerned.webhooks.length === 0 ? undefined : concerned
}

function concernedBy<Policy extends Pick<Validating, 'spec'>>(
  policies: readonly Policy[],
  reviewed: Reviewed,
): readonly Policy[] {
  if (policies.length === 0) return policies
  const asked = askedOf(reviewed)
  return policies.filter(({ spec }) => matchesRules(spec.matchConstraints, asked))
}

function calledFor(webhooks: readonly StoredWebhook[], reviewed: Reviewed): readonly StoredWebhook[] {
  if (webhooks.length === 0) return webhooks
  const asked = askedOf(reviewed)
  return webhooks.filter(({ spec }) => (spec.rules ?? []).length > 0 && matchesRules(webhookRules(spec), asked))
}

interface Concerned {
  readonly policies: readonly { readonly asksRights: boolean }[]
  readonly webhooks: readonly StoredWebhook[]
}

async function beginCalls(
  { policies, webhooks: hooks }: Concerned,
  { user, budget }: Budgeted,
  options: StoredPoliciesOptions,
): Promise<MutationOptions> {
  const { webhooks, readAccess } = options
  const asks = policies.some(({ asksRights }) => asksRights) || hooks.some(({ asksRights }) => asksRights)
  const book = asks ? await readAccess?.() : undefined
  const decide = decideFrom(book, user)
  return { ...options, webhooks, decide, meter: new Meter(stepsMax), budget }
}

/** Whether the one who asks may do something, or an account in their place. */
function decideFrom(book: AccessBook | undefined, user: Requester): MutationOptions['decide'] {
  return (wanted, account) => {
    const asker =
      account === undefined
        ? user
        : {
            name: serviceAccountUser(account.namespace, account.name),
            groups: serviceAccountGroups(account.namespace),
          }
    return book === undefined ? { allowed: false, reason: '' } : authorize(asker, wanted, book)
  }
}

async function mutateAll(
  mutators: Parameters<typeof runMutations>[0],
  asked: Budgeted,
  options: StoredPoliciesOptions,
): Promise<Mutated> {
  await restBefore(asked.object, options.clock)
  const mutated = await runMutations(mutators, asked, await beginCalls(mutators, asked, options))
  await restBefore(mutated.object, options.clock)
  return mutated
}

interface Reviewers {
  readonly policies: readonly Validating[]
  readonly webhooks: readonly StoredWebhook[]
}

/** What policies and then webhooks warn of. */
async function reviewAll(
  { policies, webhooks }: Reviewers,
  asked: Budgeted,
  options: StoredPoliciesOptions,
): Promise<readonly string[]> {
  await restBefore(asked.object, options.clock)
  const namespaceObject = await namespaceOf(asked, options.store)
  const calls = await beginCalls({ policies, webhooks }, asked, options)
  const warnings = await reviewBy(policies, asked, { ...calls, namespaceObject })
  const concerned: ConcernedWebhook[] = []
  for (const hook of webhooks) {
    const seen = await reviewInVersion(asked, formFor(hook, asked), options.catalog)
    if (concernsWebhook(hook, seen, { ...calls, namespaceObject })) concerned.push({ hook, asked: seen })
  }
  const heard = await callTogether(concerned, calls)
  await restBefore(asked.object, options.clock)
  return [...warnings, ...heard]
}

async function reviewBy(
  policies: readonly Validating[],
  asked: Reviewed,
  { namespaceObject, meter, decide, ...options }: MutationOptions & Surrounding,
): Promise<readonly string[]> {
  const matched = matchedOf(asked, namespaceObject)
  const noteFailures = createFailureNotes(asked)
  const warnings: string[] = []
  for (const policy of policies) {
    if (!matchesResources(policy.spec.matchConstraints, matched)) continue
    const form = ruledForm(policy.spec.matchConstraints, matched) ?? asked.kind
    const seen = await reviewInVersion(asked, form, options.catalog)
    for (const binding of policy.bindings) {
      if (!matchesResources(binding.spec.matchResources, matched)) continue
      const subject = { asked: seen, namespaceObject, meter, decide }
      const { denials, isMisconfigured } = await judgeBinding({ policy, binding }, subject, options)
      const isDenied = isMisconfigured || binding.spec.validationActions.includes('Deny')
      if (binding.spec.validationActions.includes('Audit'))
        noteFailures(denials.map((denial) => failureNote({ policy, binding }, denial)))
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

const failureKey = 'validation.policy.admission.k8s.io/validation_failure'

/** Tells the record of the request what has failed so far, in one annotation, as far as a record keeps it. */
function createFailureNotes({ annotate }: Pick<Reviewed, 'annotate'>): (notes: readonly JsonObject[]) => void {
  const failed: JsonObject[] = []
  let length = 0
  return (notes) => {
    if (annotate === undefined || notes.length === 0 || length >= annotationLengthMax) return
    failed.push(...notes)
    const text = JSON.stringify(failed)
    length = text.length
    annotate(failureKey, text)
  }
}

/** As Kubernetes writes it down. */
function failureNote({ policy, binding }: ReviewedBinding, { message, expression = 0 }: Denial): JsonObject {
  return {
    message,
    policy: policy.name,
    binding: binding.name,
    expressionIndex: expression,
    validationActions: [...binding.spec.validationActions],
  }
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
  { asked, namespaceObject, meter, decide }: Surrounding & { readonly asked: Reviewed },
  options: MutationSources & Pick<MutationOptions, 'budget'>,
): Promise<Judged> {
  const { spec, compiled } = policy
  const namespace = partOf(asked, 'namespace')
  options.budget.spend(admissionCosts.binding)
  const params = await collectParams({ paramKind: spec.paramKind, paramRef: binding.spec.paramRef, namespace }, options)
  if ('fault' in params) {
    const message = `failed to configure binding: ${params.fault}`
    return { denials: spec.failurePolicy === 'Ignore' ? [] : [{ message }], isMisconfigured: true }
  }
  const request = admissionRequestOf(asked)
  const note = (key: string, value: string): void => asked.annotate?.(`${policy.name}/${key}`, value)
  const subject = { object: asked.object, oldObject: asked.old, request, namespaceObject, decide, note }
  options.budget.spend(admissionCosts.binding * params.found.length)
  const denials = params.found.flatMap((param) => judge(spec, compiled, { ...subject, params: param }, meter))
  return { denials, isMisconfigured: false }
}
