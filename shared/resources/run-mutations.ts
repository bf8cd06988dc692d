import type { Meter } from '../model/cel/meter.ts'
import { objectText } from '../model/object-text.ts'
import { costOf } from '../model/policy/admission-budget.ts'
import { equal } from '../model/json.ts'
import type { ApiObject } from '../model/object.ts'
import { withDefaults } from './admission.ts'
import { callWebhook, concernsWebhook, formFor, type CallOptions, type StoredWebhook } from './call-webhooks.ts'
import { mutateBy, type Mutating, type MutationSources } from './mutate-by-policies.ts'
import { withPatch } from './policy-patch.ts'
import { namespaceOf } from './policy-request.ts'
import type { Mutated, Reviewed } from './policy-review.ts'
import { failedPatch, unpatchable } from './refusals.ts'
import { inVersionOf, reviewInVersion } from './review-in-version.ts'

/** Those whose rules let a request through. */
export interface Mutators {
  readonly policies: readonly Mutating[]
  readonly webhooks: readonly StoredWebhook[]
}

export interface MutationOptions extends MutationSources, CallOptions {
  readonly meter: Meter
}

/**
 * What policies and then webhooks make of a request. If the object is another one then, those with the
 * reinvocationPolicy IfNeeded are asked once more. Throws what they refuse, and why they fail.
 */
export async function runMutations(mutators: Mutators, asked: Reviewed, options: MutationOptions): Promise<Mutated> {
  const namespaceObject = await namespaceOf(asked, options.store)
  const around = { ...options, namespaceObject }
  const whole = asked.object && withDefaults(asked.kind, asked.object)
  const start = whole === undefined ? asked : { ...asked, object: whole }
  const policies = await applyPolicies(mutators.policies, start, around)
  const first = createRound(mutators.webhooks)
  const hooks = await applyWebhooks(first, { ...start, ...objectOf(policies.object) }, around)
  if (hooks.object === whole || asked.object === undefined)
    return { ...objectOf(asked.object), warnings: hooks.warnings }
  const again = await applyPolicies(mutators.policies, { ...start, ...objectOf(hooks.object) }, around, policies.again)
  if (!equal(again.object, hooks.object)) callForInvoked(first)
  const second = { ...first, isDue: (hook: StoredWebhook) => first.due.has(hook) }
  const last = await applyWebhooks(second, { ...start, ...objectOf(again.object) }, around)
  return { ...objectOf(last.object), warnings: [...hooks.warnings, ...last.warnings] }
}

interface Around extends MutationOptions {
  readonly namespaceObject: ApiObject | undefined
}

interface PolicyPass {
  readonly object: ApiObject | undefined
  /** Those that were asked, and want to be asked again. */
  readonly again: ReadonlySet<string>
}

async function applyPolicies(
  policies: readonly Mutating[],
  asked: Reviewed,
  around: Around,
  only?: ReadonlySet<string>,
): Promise<PolicyPass> {
  const { object } = asked
  const isIdle = object === undefined || policies.length === 0 || only?.size === 0
  return isIdle ? { object, again: new Set() } : mutateBy(policies, { ...asked, object }, around, only)
}

interface WebhookPass {
  readonly object: ApiObject | undefined
  readonly warnings: readonly string[]
}

/** One round of webhooks, and what it means for the next one. */
interface Round {
  readonly hooks: readonly StoredWebhook[]
  readonly isDue: (hook: StoredWebhook) => boolean
  /** Those that want to be asked again, and behind which the object has changed. */
  readonly due: Set<StoredWebhook>
  /** Those that were asked since, and want to be asked again if it changes. */
  readonly invoked: Set<StoredWebhook>
}

function createRound(hooks: readonly StoredWebhook[]): Round {
  return { hooks, isDue: () => true, due: new Set(), invoked: new Set() }
}

/** The object has changed behind all that were asked. */
function callForInvoked({ due, invoked }: Round): void {
  for (const hook of invoked) due.add(hook)
  invoked.clear()
}

/** In the second round a change, too, makes those due that were asked in the first one, if they are still to come. */
async function applyWebhooks(round: Round, asked: Reviewed, around: Around): Promise<WebhookPass> {
  const warnings: string[] = []
  let now = asked
  for (const hook of round.hooks) {
    if (!round.isDue(hook)) continue
    const seen = await reviewInVersion(now, formFor(hook, now), around.catalog)
    if (!concernsWebhook(hook, seen, around)) continue
    const verdict = await callWebhook(hook, seen, true, around)
    warnings.push(...(verdict?.warnings ?? []))
    const made = verdict === undefined ? seen.object : patch(hook, { ...seen, budget: around.budget }, verdict.patch)
    const object = made === undefined || made === seen.object ? now.object : await inVersionOf(now, made, seen.kind)
    if (object !== now.object) callForInvoked(round)
    if (hook.spec.reinvocationPolicy === 'IfNeeded') round.invoked.add(hook)
    now = { ...now, ...objectOf(object) }
  }
  return { object: now.object, warnings }
}

/** The same object if the patch changes nothing. */
function patch(
  { spec: { name } }: StoredWebhook,
  asked: Reviewed & Pick<Around, 'budget'>,
  operations: Parameters<typeof withPatch>[1],
): ApiObject | undefined {
  const { object, budget } = asked
  if (operations.length === 0) return object
  if (object === undefined) throw unpatchable(name)
  budget.spend(costOf(objectText(object).length, 'made'))
  try {
    const made = withPatch({ ...asked, object }, operations)
    budget.spend(costOf(objectText(made).length, 'made'))
    return equal(made, object) ? object : made
  } catch (error) {
    budget.refuseIfSpent()
    throw failedPatch(name, error)
  }
}

function objectOf(object: ApiObject | undefined): { readonly object?: ApiObject } {
  return object === undefined ? {} : { object }
}
