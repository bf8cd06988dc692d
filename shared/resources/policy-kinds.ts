import { objectsOf, textsOf } from '../model/access/rules.ts'
import { CompileBudget } from '../model/cel/compile-budget.ts'
import { dnsLabelFault, dnsSubdomainFault } from '../model/dns-name.ts'
import { isObject, type Json, type JsonObject } from '../model/json.ts'
import type { ApiObject } from '../model/object.ts'
import { compileMutations, compilePolicy } from '../model/policy/compile-policy.ts'
import {
  checkEach,
  child,
  duplicate,
  entry,
  errorsMax,
  fieldRequired,
  forbidden,
  invalid,
  notSupported,
  type FieldError,
} from '../model/schema/field-error.ts'
import type { StructuralSchema } from '../model/schema/structural-schema.ts'
import { isQualifiedName } from '../model/qualified-name.ts'
import { defineBuiltInKind, type ServedKind } from '../model/served-kind.ts'
import { checkMatching } from './matching-checks.ts'
import { conditionsSchema, objectSchema, text, texts } from './schema-parts.ts'

/** Admission policies, and the bindings that make them count. */

export const policyGroup = 'admissionregistration.k8s.io'

/** What is read as one piece has one owner: an apply sets all of it, and adds to no part. */
const onePiece = { type: 'object', 'x-kubernetes-map-type': 'atomic' } as const

export const selectorSchema: StructuralSchema = {
  ...onePiece,
  properties: {
    matchLabels: { type: 'object', additionalProperties: text },
    matchExpressions: {
      type: 'array',
      'x-kubernetes-list-type': 'atomic',
      items: {
        type: 'object',
        required: ['key', 'operator'],
        properties: { key: text, operator: text, values: texts },
      },
    },
  },
}

export const operationRules: StructuralSchema = {
  type: 'array',
  'x-kubernetes-list-type': 'atomic',
  items: {
    type: 'object',
    properties: {
      apiGroups: texts,
      apiVersions: texts,
      operations: { ...texts, items: { type: 'string', enum: ['*', 'CREATE', 'UPDATE', 'DELETE', 'CONNECT'] } },
      resources: texts,
      resourceNames: texts,
      scope: { type: 'string', enum: ['*', 'Cluster', 'Namespaced'], default: '*' },
    },
  },
}

const matchResources: StructuralSchema = {
  ...onePiece,
  properties: {
    namespaceSelector: { ...selectorSchema, default: {} },
    objectSelector: { ...selectorSchema, default: {} },
    resourceRules: operationRules,
    excludeResourceRules: operationRules,
    matchPolicy: { type: 'string', enum: ['Exact', 'Equivalent'], default: 'Equivalent' },
  },
}

const paramKind: StructuralSchema = {
  ...onePiece,
  required: ['apiVersion', 'kind'],
  properties: { apiVersion: text, kind: text },
}

const paramReference: StructuralSchema = {
  ...onePiece,
  properties: {
    name: text,
    namespace: text,
    selector: selectorSchema,
    parameterNotFoundAction: { type: 'string', enum: ['Allow', 'Deny'] },
  },
}

const failurePolicy: StructuralSchema = { type: 'string', enum: ['Fail', 'Ignore'], default: 'Fail' }

const byName = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] } as const
const expression: StructuralSchema = { type: 'string', minLength: 1 }
export const namedExpressions: StructuralSchema = {
  type: 'array',
  maxItems: 64,
  ...byName,
  items: { type: 'object', required: ['name', 'expression'], properties: { name: text, expression } },
}

const validatingPolicySpec: StructuralSchema = {
  type: 'object',
  required: ['matchConstraints'],
  properties: {
    paramKind,
    matchConstraints: { ...matchResources, required: ['resourceRules'] },
    matchConditions: namedExpressions,
    variables: namedExpressions,
    validations: {
      type: 'array',
      'x-kubernetes-list-type': 'atomic',
      maxItems: 100,
      items: {
        type: 'object',
        required: ['expression'],
        properties: {
          expression,
          message: text,
          messageExpression: text,
          reason: { type: 'string', enum: ['Unauthorized', 'Forbidden', 'Invalid', 'RequestEntityTooLarge'] },
        },
      },
    },
    failurePolicy,
    auditAnnotations: {
      type: 'array',
      'x-kubernetes-list-type': 'atomic',
      maxItems: 20,
      items: {
        type: 'object',
        required: ['key', 'valueExpression'],
        properties: { key: { type: 'string', minLength: 1, maxLength: 200 }, valueExpression: expression },
      },
    },
  },
}

/** Nobody here writes it. Programs in Go send one with each policy. */
const validatingPolicyStatus: StructuralSchema = {
  type: 'object',
  properties: {
    observedGeneration: { type: 'integer', format: 'int64' },
    typeChecking: {
      type: 'object',
      properties: {
        expressionWarnings: {
          type: 'array',
          'x-kubernetes-list-type': 'atomic',
          items: { type: 'object', required: ['fieldRef', 'warning'], properties: { fieldRef: text, warning: text } },
        },
      },
    },
    conditions: conditionsSchema,
  },
}

export const policyKind: ServedKind = {
  ...policyKindOf('ValidatingAdmissionPolicy', 'validatingadmissionpolicies', validatingPolicySpec, {
    status: validatingPolicyStatus,
  }),
  hasStatus: true,
}

export const policyBindingKind = policyKindOf('ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings', {
  type: 'object',
  required: ['policyName', 'validationActions'],
  properties: {
    policyName: { type: 'string', minLength: 1 },
    paramRef: paramReference,
    matchResources,
    validationActions: { ...texts, 'x-kubernetes-list-type': 'set' },
  },
})

export const mutatingPolicyKind = policyKindOf('MutatingAdmissionPolicy', 'mutatingadmissionpolicies', {
  type: 'object',
  required: ['matchConstraints', 'mutations', 'reinvocationPolicy'],
  properties: {
    paramKind,
    matchConstraints: { ...matchResources, required: ['resourceRules'] },
    matchConditions: namedExpressions,
    variables: namedExpressions,
    mutations: {
      type: 'array',
      'x-kubernetes-list-type': 'atomic',
      maxItems: 100,
      items: {
        type: 'object',
        required: ['patchType'],
        properties: {
          patchType: { type: 'string', enum: ['ApplyConfiguration', 'JSONPatch'] },
          applyConfiguration: { type: 'object', properties: { expression } },
          jsonPatch: { type: 'object', properties: { expression } },
        },
      },
    },
    failurePolicy,
    reinvocationPolicy: { type: 'string', enum: ['Never', 'IfNeeded'] },
  },
})

export const mutatingBindingKind = policyKindOf('MutatingAdmissionPolicyBinding', 'mutatingadmissionpolicybindings', {
  type: 'object',
  required: ['policyName'],
  properties: { policyName: { type: 'string', minLength: 1 }, paramRef: paramReference, matchResources },
})

/** The same kinds in the versions that clients of Kubernetes 1.32 to 1.35 ask for. */
export const olderPolicyKinds: readonly ServedKind[] = ['v1beta1', 'v1alpha1'].flatMap((version) =>
  [mutatingPolicyKind, mutatingBindingKind].map((kind) => ({ ...kind, version })),
)

function policyKindOf(
  kind: string,
  plural: string,
  spec: StructuralSchema,
  more: Record<string, StructuralSchema> = {},
): ServedKind {
  return defineBuiltInKind({
    group: policyGroup,
    kind,
    plural,
    namespaced: false,
    categories: ['api-extensions'],
    schema: {
      ...objectSchema('What is changed or refused of what is written, by rules in CEL.', { spec, ...more }),
      required: ['spec'],
    },
  })
}

/** All expressions of a policy are compiled while one request waits. */
const expressionTextMax = 25_000

export function checkPolicy({ metadata, spec }: ApiObject): readonly FieldError[] {
  if (!isObject(spec)) return []
  const { auditAnnotations, validations } = spec
  const isEmpty = (list: unknown): boolean => !Array.isArray(list) || list.length === 0
  if (isEmpty(validations) && isEmpty(auditAnnotations))
    return [fieldRequired('spec.validations', 'validations or auditAnnotations must contain at least one item')]
  const length = checkLength(spec)
  return [
    ...checkBase(spec),
    ...checkMessages(validations),
    ...checkAnnotationKeys(auditAnnotations, metadata.name),
    ...(length.length > 0 ? length : compilePolicy(spec, new CompileBudget()).errors),
  ]
}

/** The record of a request names a value by the policy and its key. */
function checkAnnotationKeys(auditAnnotations: Json | undefined, policy: string): readonly FieldError[] {
  const keys = objectsOf(auditAnnotations).map(({ key }) => String(key))
  return keys.flatMap((key, i) => {
    const path = child(entry('spec.auditAnnotations', i), 'key')
    if (keys.indexOf(key) < i) return [duplicate(path, key)]
    if (isQualifiedName(`${policy}/${key}`)) return []
    return [invalid(path, key, "with the policy's name before it, it must be a qualified name such as policy/key")]
  })
}

/** What policies of both kinds say of requests, and the names of what they work out. */
function checkBase(spec: JsonObject): readonly FieldError[] {
  const { matchConditions = [], matchConstraints, paramKind: params, variables } = spec
  return [
    ...(isObject(params) ? checkParamKind(params, 'spec.paramKind') : []),
    ...(isObject(matchConstraints) && objectsOf(matchConstraints['resourceRules']).length === 0
      ? [fieldRequired('spec.matchConstraints.resourceRules')]
      : []),
    ...checkMatching(matchConstraints, 'spec.matchConstraints'),
    ...checkMatching({ matchConditions }, 'spec'),
    ...checkEach(objectsOf(variables), ({ name }, i) =>
      /^[_a-zA-Z]\w*$/.test(String(name))
        ? []
        : [invalid(child(entry('spec.variables', i), 'name'), name, 'name is not a valid CEL identifier')],
    ),
  ]
}

/** Source: kubernetes, `validateParamKind`. */
function checkParamKind({ apiVersion = '', kind = '' }: JsonObject, field: string): readonly FieldError[] {
  const [at, parts] = [child(field, 'apiVersion'), String(apiVersion).split('/')]
  const group = parts.length > 1 ? dnsSubdomainFault(String(parts[0])) : undefined
  const version = parts.length > 2 ? 'must be a group and a version' : dnsLabelFault(String(parts.at(-1)))
  const name = dnsLabelFault(String(kind).toLowerCase())
  return [
    ...(apiVersion === '' ? [fieldRequired(at)] : faultsOf(group ?? version, apiVersion, at)),
    ...(kind === '' ? [fieldRequired(child(field, 'kind'))] : faultsOf(name, kind, child(field, 'kind'))),
  ]
}

function faultsOf(fault: string | undefined, value: Json, field: string): readonly FieldError[] {
  return fault === undefined ? [] : [invalid(field, value, fault)]
}

/** Those of an answer are one line. */
function checkMessages(validations: Json | undefined): readonly FieldError[] {
  return checkEach(objectsOf(validations), ({ message = '' }, i) =>
    faultsOf(messageFault(String(message)), message, child(entry('spec.validations', i), 'message')),
  )
}

function messageFault(message: string): string | undefined {
  const words = message.trim()
  if (message !== '' && words === '') return 'must be non-empty if specified'
  return /[\n\r]/.test(words) ? 'must not contain line breaks' : undefined
}

function checkPolicyName({ policyName = '' }: JsonObject): readonly FieldError[] {
  return policyName === '' ? [] : faultsOf(dnsSubdomainFault(String(policyName)), policyName, 'spec.policyName')
}

export function checkMutatingPolicy({ spec }: ApiObject): readonly FieldError[] {
  if (!isObject(spec)) return []
  const { mutations, matchConstraints } = spec
  const sent = objectsOf(mutations)
  const length = checkLength(spec)
  return [
    ...(sent.length === 0 ? [fieldRequired('spec.mutations', 'mutations must contain at least one item')] : []),
    ...checkBase(spec),
    ...checkOperations(matchConstraints, 'spec.matchConstraints'),
    ...checkEach(sent, (mutation, i) => checkMutation(mutation, entry('spec.mutations', i))),
    ...(length.length > 0 ? length : compileMutations(spec, new CompileBudget()).errors),
  ]
}

export function checkMutatingBinding({ spec }: ApiObject): readonly FieldError[] {
  if (!isObject(spec)) return []
  return [
    ...checkPolicyName(spec),
    ...checkOperations(spec['matchResources'], 'spec.matchResources'),
    ...checkMatching(spec['matchResources'], 'spec.matchResources'),
    ...(isObject(spec['paramRef']) ? checkParamRef(spec['paramRef']) : []),
  ]
}

function checkLength(spec: JsonObject): readonly FieldError[] {
  const { length } = JSON.stringify(spec)
  if (length <= expressionTextMax) return []
  return [forbidden('spec', `a policy has at most ${expressionTextMax} characters, and this one has ${length}`)]
}

/** There is nothing to change about what is deleted. */
function checkOperations(match: Json | undefined, field: string): readonly FieldError[] {
  const matching = objectsOf(isObject(match) ? match['resourceRules'] : [])
  const supported = ['*', 'CONNECT', 'CREATE', 'UPDATE']
  return matching
    .flatMap(({ operations }) => textsOf(operations))
    .filter((operation) => operation === 'DELETE')
    .slice(0, errorsMax)
    .map((operation) => notSupported(`${field}.resourceRules.operations`, operation, supported))
}

function checkMutation(mutation: JsonObject, field: string): readonly FieldError[] {
  const { patchType } = mutation
  const [own, other] =
    patchType === 'JSONPatch'
      ? (['jsonPatch', 'applyConfiguration'] as const)
      : (['applyConfiguration', 'jsonPatch'] as const)
  const sent = mutation[own]
  const expressions = isObject(sent) && sent['expression'] !== undefined
  return [
    ...(sent === undefined
      ? [fieldRequired(child(field, own), `must be specified when patchType is ${String(patchType)}`)]
      : expressions
        ? []
        : [fieldRequired(child(child(field, own), 'expression'))]),
    ...(mutation[other] === undefined
      ? []
      : [invalid(child(field, other), `{${other}}`, `must not be specified when patchType is ${String(patchType)}`)]),
  ]
}

export function checkPolicyBinding({ spec }: ApiObject): readonly FieldError[] {
  if (!isObject(spec)) return []
  const { validationActions, paramRef, matchResources: match } = spec
  const actions = Array.isArray(validationActions) ? validationActions : []
  return [
    ...checkPolicyName(spec),
    ...(actions.length === 0 ? [fieldRequired('spec.validationActions')] : []),
    ...checkEach(actions, checkAction),
    ...(actions.includes('Deny') && actions.includes('Warn')
      ? [
          forbidden(
            'spec.validationActions',
            'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
          ),
        ]
      : []),
    ...checkMatching(match, 'spec.matchResources'),
    ...(isObject(paramRef) ? checkParamRef(paramRef) : []),
  ]
}

function checkAction(action: unknown, i: number): readonly FieldError[] {
  const supported = ['Audit', 'Deny', 'Warn']
  return supported.includes(String(action))
    ? []
    : [notSupported(entry('spec.validationActions', i), String(action), supported)]
}

function checkParamRef(ref: JsonObject): readonly FieldError[] {
  const { name, selector: chosen, parameterNotFoundAction } = ref
  const field = 'spec.paramRef'
  return [
    ...checkMatching(ref, field),
    ...(name === undefined && chosen === undefined
      ? [fieldRequired(`${field}.name`, 'one of name or selector must be specified')]
      : []),
    ...(name !== undefined && chosen !== undefined
      ? [forbidden(`${field}.name`, 'name and selector are mutually exclusive')]
      : []),
    ...(parameterNotFoundAction === undefined ? [fieldRequired(`${field}.parameterNotFoundAction`)] : []),
  ]
}
