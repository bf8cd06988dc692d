import { isObject, type Json, type JsonObject } from '../model/json.ts'
import type { ApiObject } from '../model/object.ts'
import { compileConditions } from '../model/policy/compile-policy.ts'
import {
  child,
  duplicate,
  entry,
  fieldRequired,
  forbidden,
  invalid,
  type FieldError,
} from '../model/schema/field-error.ts'
import type { StructuralSchema } from '../model/schema/structural-schema.ts'
import { defineBuiltInKind, type ServedKind } from '../model/served-kind.ts'
import { selectorSchema, namedExpressions, operationRules, policyGroup } from './policy-kinds.ts'
import { objectSchema, text, texts } from './schema-parts.ts'

/** Webhooks that change what users write, and that refuse it. */

const webhooksMax = 50

/** Of admission and of conversion. */
const clientConfig: StructuralSchema = {
  type: 'object',
  properties: {
    url: text,
    caBundle: { type: 'string', anyOf: [{ format: 'byte' }, { maxLength: 0 }] },
    service: {
      type: 'object',
      properties: { namespace: text, name: text, path: text, port: { type: 'integer', format: 'int32' } },
    },
  },
}

const webhook: StructuralSchema = {
  type: 'object',
  required: ['name', 'clientConfig', 'sideEffects', 'admissionReviewVersions'],
  properties: {
    name: text,
    clientConfig,
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
  return sent.flatMap((one, i) => {
    const field = entry('webhooks', i)
    const isRepeated = names.indexOf(one['name']) < i
    return [...(isRepeated ? [duplicate(child(field, 'name'), one['name'])] : []), ...checkWebhook(one, field)]
  })
}

const fullName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?){2,}$/

function checkWebhook(
  { name, timeoutSeconds, admissionReviewVersions, matchConditions, clientConfig: client }: JsonObject,
  field: string,
): readonly FieldError[] {
  const versions = Array.isArray(admissionReviewVersions) ? admissionReviewVersions : []
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
    ...(versions.includes('v1')
      ? []
      : [invalid(child(field, 'admissionReviewVersions'), versions, 'must include at least one of v1')]),
    ...checkClient(client, child(field, 'clientConfig')),
    ...compileConditions(
      Array.isArray(matchConditions) ? (matchConditions as never) : [],
      child(field, 'matchConditions'),
    ).errors,
  ]
}

const form = '; desired format: https://host[/path]'

/** Where a webhook is, in Kubernetes' words. There is no network of a cluster, in which services would be. */
function checkClient(client: Json | undefined, field: string): readonly FieldError[] {
  const { url, service, caBundle } = isObject(client) ? client : {}
  if ((url === undefined) === (service === undefined))
    return [fieldRequired(field, 'exactly one of url or service is required')]
  if (service !== undefined)
    return [
      forbidden(child(field, 'service'), 'there is no network of a cluster with services: say the url of the webhook'),
    ]
  return [...checkUrl(String(url), child(field, 'url')), ...checkBundle(caBundle, child(field, 'caBundle'))]
}

function checkUrl(url: string, field: string): readonly FieldError[] {
  if (!URL.canParse(url)) return [fieldRequired(field, `url must be a valid URL${form}`)]
  const { protocol, host, username, password, hash, search } = new URL(url)
  const scheme = protocol.slice(0, -1)
  return [
    ...(scheme === 'https' ? [] : [invalid(field, scheme, `'https' is the only allowed URL scheme${form}`)]),
    ...(host === '' ? [invalid(field, host, `host must be specified${form}`)] : []),
    ...(username + password === '' ? [] : [forbidden(field, 'user information is not permitted in the URL')]),
    ...(hash === '' ? [] : [invalid(field, hash, 'fragments are not permitted in the URL')]),
    ...(search === '' ? [] : [invalid(field, search, 'query parameters are not permitted in the URL')]),
  ]
}

function checkBundle(bundle: Json | undefined, field: string): readonly FieldError[] {
  if (bundle === undefined || bundle === '' || authoritiesOf(String(bundle)) !== undefined) return []
  return [invalid(field, '<bytes>', 'unable to load root certificates: it holds no PEM of a certificate')]
}

/** The PEM of a `caBundle`; undefined if it is none. */
export function authoritiesOf(bundle: string): string | undefined {
  try {
    const pem = atob(bundle)
    return pem.includes('-----BEGIN CERTIFICATE-----') ? pem : undefined
  } catch {
    // What is no base64 is none.
    return undefined
  }
}
