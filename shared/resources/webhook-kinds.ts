import { CompileBudget } from '../model/cel/compile-budget.ts'
import { isObject, type JsonObject } from '../model/json.ts'
import type { ApiObject } from '../model/object.ts'
import { checkReviewVersions } from '../model/review-versions.ts'
import { checkWebhookClient, webhookClient } from '../model/webhook-client.ts'
import { compileConditions } from '../model/policy/compile-policy.ts'
import type { PolicyBase } from '../model/policy/policy.ts'
import { checkEach, child, duplicate, entry, forbidden, invalid, type FieldError } from '../model/schema/field-error.ts'
import type { StructuralSchema } from '../model/schema/structural-schema.ts'
import { defineBuiltInKind, type ServedKind } from '../model/served-kind.ts'
import { checkMatching } from './matching-checks.ts'
import { selectorSchema, namedExpressions, operationRules, policyGroup } from './policy-kinds.ts'
import { objectSchema, text, texts } from './schema-parts.ts'

/** Webhooks that change what users write, and that refuse it. */

const webhooksMax = 50

const webhook: StructuralSchema = {
  type: 'object',
  required: ['name', 'clientConfig', 'sideEffects', 'admissionReviewVersions'],
  properties: {
    name: text,
    clientConfig: webhookClient,
    rules: operationRules,
    failurePolicy: { type: 'string', enum: ['Fail', 'Ignore'], default: 'Fail' },
    matchPolicy: { type: 'string', enum: ['Exact', 'Equivalent'], default: 'Equivalent' },
    namespaceSelector: { ...selectorSchema, default: {} },
    objectSelector: { ...selectorSchema, default: {} },
    sideEffects: { type: 'string', enum: ['None', 'NoneOnDryRun'] },
    timeoutSeconds: { type: 'integer', format: 'int32', default: 10 },
    admissionReviewVersions: texts,
    matchConditions: namedExpressions,
  },
}

export const validatingWebhookKind = webhookKindOf('ValidatingWebhookConfiguration', webhook)

export const mutatingWebhookKind = webhookKindOf('MutatingWebhookConfiguration', {
  ...webhook,
  properties: {
    ...webhook.properties,
    reinvocationPolicy: { type: 'string', enum: ['Never', 'IfNeeded'], default: 'Never' },
  },
})

function webhookKindOf(kind: string, items: StructuralSchema): ServedKind {
  const webhooks: StructuralSchema = {
    type: 'array',
    maxItems: webhooksMax,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
    items,
  }
  return defineBuiltInKind({
    group: policyGroup,
    kind,
    plural: `${kind.toLowerCase()}s`,
    namespaced: false,
    categories: ['api-extensions'],
    schema: objectSchema('Servers that are asked about what users write.', { webhooks }),
  })
}

export function checkWebhooks({ webhooks }: ApiObject): readonly FieldError[] {
  const sent = Array.isArray(webhooks) ? webhooks.filter(isObject) : []
  const names = sent.map(({ name }) => name)
  const length = checkLength(sent)
  return [
    ...checkEach(sent, (one, i) => {
      const field = entry('webhooks', i)
      const isRepeated = names.indexOf(one['name']) < i
      return [...(isRepeated ? [duplicate(child(field, 'name'), one['name'])] : []), ...checkWebhook(one, field)]
    }),
    ...(length.length > 0 ? length : checkConditions(sent)),
  ]
}

/** All conditions of a configuration are compiled while one request waits. */
const conditionTextMax = 25_000

function checkLength(webhooks: readonly JsonObject[]): readonly FieldError[] {
  const { length } = JSON.stringify(webhooks.map(conditionsOf))
  if (length <= conditionTextMax) return []
  const detail = `all matchConditions have at most ${conditionTextMax} characters, and these have ${length}`
  return [forbidden('webhooks', detail)]
}

function checkConditions(webhooks: readonly JsonObject[]): readonly FieldError[] {
  const budget = new CompileBudget()
  return webhooks.flatMap((one, i) => {
    const path = child(entry('webhooks', i), 'matchConditions')
    return compileConditions(conditionsOf(one), path, budget).errors
  })
}

function conditionsOf({ matchConditions }: JsonObject): NonNullable<PolicyBase['matchConditions']> {
  return Array.isArray(matchConditions) ? (matchConditions as never) : []
}

const fullName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?){2,}$/

function checkWebhook(sent: JsonObject, field: string): readonly FieldError[] {
  const { name, timeoutSeconds, admissionReviewVersions, clientConfig: client } = sent
  const isTimely = typeof timeoutSeconds !== 'number' || (timeoutSeconds >= 1 && timeoutSeconds <= 30)
  return [
    ...(fullName.test(String(name))
      ? []
      : [invalid(child(field, 'name'), name, 'should be a domain with at least three segments separated by dots')]),
    ...(isTimely
      ? []
      : [
          invalid(child(field, 'timeoutSeconds'), timeoutSeconds, 'the timeout value must be between 1 and 30 seconds'),
        ]),
    ...checkMatching(sent, field),
    ...checkReviewVersions(admissionReviewVersions, field, 'admissionReviewVersions'),
    ...checkWebhookClient(client, child(field, 'clientConfig')),
  ]
}
