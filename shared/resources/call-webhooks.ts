import { readReview, writeReview, type WebhookVerdict } from '../model/admission-review.ts'
import { CostError, type Meter } from '../model/cel/meter.ts'
import { hasCode, OperatingError } from '../model/errors.ts'
import { fitsSelector } from '../model/access/aggregation.ts'
import type { ApiObject } from '../model/object.ts'
import type { CompiledBase } from '../model/policy/compile-policy.ts'
import { admissionCosts, admissionMsMax, costOf, type AdmissionBudget } from '../model/policy/admission-budget.ts'
import { ruledForm, type RuledForm } from '../model/policy/matches.ts'
import type { MatchResources } from '../model/policy/policy.ts'
import { findConcern } from '../model/policy/mutate.ts'
import type { PolicySubject } from '../model/policy/subject.ts'
import type { WebhookSpec } from '../model/policy/webhook.ts'
import { reviewVersionOf } from '../model/review-versions.ts'
import { authoritiesOf } from '../model/webhook-client.ts'
import { steadyMsOf, type Clock } from '../ports/clock.ts'
import type { Random } from '../ports/random.ts'
import type { Webhooks } from '../ports/webhooks.ts'
import { admissionRequestOf, askedOf, matchedOf } from './policy-request.ts'
import type { Reviewed } from './policy-review.ts'
import { deniedByWebhook, failedWebhook, forbiddenFor } from './refusals.ts'

/** A webhook of a configuration. */
export interface StoredWebhook {
  readonly configuration: string
  readonly spec: WebhookSpec
  readonly compiled: CompiledBase
  /** Its conditions ask who may do what. */
  readonly asksRights: boolean
}

export interface CallOptions {
  readonly webhooks: Webhooks | undefined
  readonly random: Random
  readonly clock: Clock
  readonly meter: Meter
  readonly decide?: PolicySubject['decide']
  readonly budget: AdmissionBudget
}

/** Twice what an object may have, in base64 and with some words around. */
const answerBytesMax = 1_500_000

/** The group and version that a webhook is asked in, by its rules; its kind's where they do not let it through. */
export function formFor({ spec }: StoredWebhook, asked: Reviewed): RuledForm {
  return ruledForm(webhookRules(spec), askedOf(asked)) ?? asked.kind
}

/** The rules of a webhook, as those of policies are said. */
export function webhookRules({ rules = [], matchPolicy = 'Equivalent' }: WebhookSpec): MatchResources {
  return { resourceRules: rules, matchPolicy }
}

/** What else of a request conditions see. */
export interface Surrounding {
  readonly namespaceObject: ApiObject | undefined
  readonly meter: Meter
  /** Who may do what. Left out, no expression asks. */
  readonly decide?: PolicySubject['decide']
}

/** Whether selectors and conditions let a request through to a webhook, whose rules do. Throws FORBIDDEN, CostError. */
export function concernsWebhook(
  { spec, compiled }: StoredWebhook,
  asked: Reviewed,
  { namespaceObject, meter, decide }: Surrounding,
): boolean {
  const { namespaceSelector = {}, objectSelector = {} } = spec
  const { objects, namespaceLabels } = matchedOf(asked, namespaceObject)
  if (namespaceLabels !== undefined && !fitsSelector(namespaceSelector, namespaceLabels)) return false
  if (!objects.some(({ metadata }) => fitsSelector(objectSelector, metadata.labels ?? {}))) return false
  const subject = {
    object: asked.object,
    oldObject: asked.old,
    request: admissionRequestOf(asked),
    params: undefined,
    namespaceObject,
    decide,
  }
  const concern = tryConcern(() => findConcern(compiled, subject, meter))
  if (typeof concern === 'boolean') return concern
  if (spec.failurePolicy === 'Ignore') return false
  throw forbiddenFor(asked.resource ?? asked.kind, (asked.object ?? asked.old)?.metadata.name ?? '', concern.failure)
}

function tryConcern(find: () => ReturnType<typeof findConcern>): ReturnType<typeof findConcern> {
  try {
    return find()
  } catch (error) {
    if (!(error instanceof CostError)) throw error
    return { failure: 'running out of cost budget' }
  }
}

/**
 * What a webhook says; undefined where it cannot be asked and that is to be ignored. Throws what it denies, and
 * HOOK_FAILED where it cannot be asked.
 */
export async function callWebhook(
  hook: StoredWebhook,
  asked: Reviewed,
  isMutating: boolean,
  options: CallOptions,
): Promise<WebhookVerdict | undefined> {
  const { spec } = hook
  try {
    const verdict = await ask(spec, asked, isMutating, options)
    for (const [key, value] of verdict.notes) asked.annotate?.(`${spec.name}/${key}`, value)
    if (!verdict.allowed) throw deniedByWebhook(spec.name, verdict.status)
    return verdict
  } catch (error) {
    if (!hasCode(error, 'UNAVAILABLE')) throw error
    if (spec.failurePolicy === 'Ignore') return undefined
    throw failedWebhook(spec.name, error.message, error)
  }
}

/** So many webhooks of one request are asked at the same time. */
const together = 8

/** A webhook, and the request as it is asked about it. */
export interface ConcernedWebhook {
  readonly hook: StoredWebhook
  readonly asked: Reviewed
}

/** What webhooks that change nothing warn of. Throws what the first of them denies, in their order. */
export async function callTogether(
  hooks: readonly ConcernedWebhook[],
  options: CallOptions,
): Promise<readonly string[]> {
  const warnings: string[] = []
  for (let i = 0; i < hooks.length; i += together) {
    const calls = hooks.slice(i, i + together).map(({ hook, asked }) => callWebhook(hook, asked, false, options))
    const settled = await Promise.allSettled(calls)
    for (const one of settled) {
      if (one.status === 'rejected') throw one.reason
      warnings.push(...(one.value?.warnings ?? []))
    }
  }
  return warnings
}

/** Throws UNAVAILABLE for a webhook that gives no answer, or none that counts. */
async function ask(
  { clientConfig, timeoutSeconds = 10, admissionReviewVersions }: WebhookSpec,
  asked: Reviewed,
  isMutating: boolean,
  { webhooks, random, clock, budget }: CallOptions,
): Promise<WebhookVerdict> {
  const { url = '', caBundle = '' } = clientConfig
  const authorities = authoritiesOf(caBundle)
  const nowMs = steadyMsOf(clock)
  const timeoutMs = Math.min(timeoutSeconds * 1_000, budget.endFrom(nowMs) - nowMs)
  const uid = random.uuid()
  if (webhooks === undefined) throw unavailable('failed to call webhook: this process calls no webhooks')
  if (timeoutMs <= 0) throw unavailable(`failed to call webhook: the webhooks before took ${admissionMsMax / 1_000} s`)
  const question = {
    version: reviewVersionOf(admissionReviewVersions),
    uid,
    request: admissionRequestOf(asked),
    object: asked.object,
    oldObject: asked.old,
  }
  budget.spend(admissionCosts.call)
  const body = writeReview(question)
  budget.spend(costOf(body.length, 'sent'))
  const answer = await post(webhooks, { url, body, timeoutMs, answerBytesMax, ...(authorities && { authorities }) })
  budget.spend(costOf(answer.length, 'received'))
  const verdict = readReview(answer, { ...question, isMutating })
  if ('fault' in verdict) throw unavailable(`received invalid webhook response: ${verdict.fault}`)
  return verdict
}

async function post(webhooks: Webhooks, call: Parameters<Webhooks['post']>[0]): Promise<string> {
  try {
    return await webhooks.post(call)
  } catch (error) {
    if (!(error instanceof OperatingError)) throw error
    throw unavailable(`failed to call webhook: ${error.message}`, error)
  }
}

function unavailable(why: string, cause?: unknown): OperatingError {
  return new OperatingError('UNAVAILABLE', why, { cause })
}
