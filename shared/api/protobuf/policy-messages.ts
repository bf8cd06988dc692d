import { isObject, type JsonObject } from '../../model/json.ts'
import {
  conditions,
  int,
  webhookClientMessage,
  selectorMessage,
  many,
  message,
  objectMeta,
  one,
  pointer,
  string,
  manyStrings,
} from './fields.ts'
import type { Message } from './wire.ts'

/** admissionregistration.k8s.io, which controller-runtime sends as protobuf. */

/** What Go embeds is one object in JSON. */
function flatten(part: string): (decoded: JsonObject) => JsonObject {
  return ({ [part]: inner, ...rest }) => ({ ...rest, ...(isObject(inner) ? inner : {}) })
}

const rule = message({
  1: manyStrings('apiGroups'),
  2: manyStrings('apiVersions'),
  3: manyStrings('resources'),
  4: pointer('scope', 'string'),
})
const ruleWithOperations = message({ 1: manyStrings('operations'), 2: one('rule', rule) }, flatten('rule'))
const namedRule = message({ 1: manyStrings('resourceNames'), 2: one('named', ruleWithOperations) }, flatten('named'))
const condition = message({ 1: string('name'), 2: string('expression') })
const matchResources = message({
  1: one('namespaceSelector', selectorMessage),
  2: one('objectSelector', selectorMessage),
  3: many('resourceRules', namedRule),
  4: many('excludeResourceRules', namedRule),
  7: pointer('matchPolicy', 'string'),
})
const paramKind = one('paramKind', message({ 1: string('apiVersion'), 2: string('kind') }))
const variables = many('variables', message({ 1: string('name'), 2: string('expression') }))
const expression = message({ 1: string('expression') })
const bindingFields: Message['fields'] = {
  1: string('policyName'),
  2: one(
    'paramRef',
    message({
      1: string('name'),
      2: string('namespace'),
      3: one('selector', selectorMessage),
      4: pointer('parameterNotFoundAction', 'string'),
    }),
  ),
  3: one('matchResources', matchResources),
}
const webhookFields: Message['fields'] = {
  1: string('name'),
  2: one('clientConfig', webhookClientMessage),
  3: many('rules', ruleWithOperations),
  4: pointer('failurePolicy', 'string'),
  5: one('namespaceSelector', selectorMessage),
  6: pointer('sideEffects', 'string'),
  7: pointer('timeoutSeconds', 'int'),
  8: manyStrings('admissionReviewVersions'),
  9: pointer('matchPolicy', 'string'),
}
const validatingPolicySpec = message({
  1: paramKind,
  2: one('matchConstraints', matchResources),
  3: many(
    'validations',
    message({
      1: string('expression'),
      2: string('message'),
      3: pointer('reason', 'string'),
      4: string('messageExpression'),
    }),
  ),
  4: pointer('failurePolicy', 'string'),
  5: many('auditAnnotations', message({ 1: string('key'), 2: string('valueExpression') })),
  6: many('matchConditions', condition),
  7: variables,
})
const validatingPolicyStatus = message({
  1: int('observedGeneration'),
  2: one(
    'typeChecking',
    message({ 1: many('expressionWarnings', message({ 2: string('fieldRef'), 3: string('warning') })) }),
  ),
  3: conditions,
})
const mutatingPolicySpec = message({
  1: paramKind,
  2: one('matchConstraints', matchResources),
  3: variables,
  4: many(
    'mutations',
    message({ 2: string('patchType'), 3: one('applyConfiguration', expression), 4: one('jsonPatch', expression) }),
  ),
  5: pointer('failurePolicy', 'string'),
  6: many('matchConditions', condition),
  7: string('reinvocationPolicy'),
})

const group = 'admissionregistration.k8s.io'
const withSpec = (spec: Message, status?: Message): Message => {
  const fields = { 1: objectMeta, 2: one('spec', spec) }
  return message(status === undefined ? fields : { ...fields, 3: one('status', status) })
}

export const policyMessages: { readonly [type: string]: Message } = {
  [`${group}/v1/MutatingWebhookConfiguration`]: message({
    1: objectMeta,
    2: many(
      'webhooks',
      message({
        ...webhookFields,
        10: pointer('reinvocationPolicy', 'string'),
        11: one('objectSelector', selectorMessage),
        12: many('matchConditions', condition),
      }),
    ),
  }),
  [`${group}/v1/ValidatingWebhookConfiguration`]: message({
    1: objectMeta,
    2: many(
      'webhooks',
      message({
        ...webhookFields,
        10: one('objectSelector', selectorMessage),
        11: many('matchConditions', condition),
      }),
    ),
  }),
  [`${group}/v1/ValidatingAdmissionPolicy`]: withSpec(validatingPolicySpec, validatingPolicyStatus),
  [`${group}/v1/ValidatingAdmissionPolicyBinding`]: withSpec(
    message({ ...bindingFields, 4: manyStrings('validationActions') }),
  ),
  ...Object.fromEntries(
    ['v1', 'v1beta1', 'v1alpha1'].flatMap((version) => [
      [`${group}/${version}/MutatingAdmissionPolicy`, withSpec(mutatingPolicySpec)],
      [`${group}/${version}/MutatingAdmissionPolicyBinding`, withSpec(message(bindingFields))],
    ]),
  ),
}
