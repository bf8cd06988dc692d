import { bytesFromBase64, toBase64 } from '../model/base64.ts'
import { conditionsOf } from '../model/conditions.ts'
import { acceptCrd } from '../model/crd/accept-crd.ts'
import { checkCrd } from '../model/crd/check-crd.ts'
import { siftKeywords, withoutNullKeywords } from '../model/crd/sift-schemas.ts'
import type { CustomResourceDefinition } from '../model/custom-resource-definition.ts'
import { OperatingError } from '../model/errors.ts'
import { equal, isObject, type JsonObject } from '../model/json.ts'
import { isDeleting, parseApiVersion, type ApiObject } from '../model/object.ts'
import { parseJson } from '../model/parse-json.ts'
import { fieldRequired, forbidden, invalid, type FieldError } from '../model/schema/field-error.ts'
import type { ServedKind } from '../model/served-kind.ts'
import type { EngineState } from '../model/engine-state.ts'
import { microTimeOf, parseTimestamp } from '../model/time.ts'
import { checkBinding, checkRole, withoutUnseenRules, withSubjectGroups } from './access-checks.ts'
import { checkConfigKeys } from './config-keys.ts'
import { checkEvent } from './event-checks.ts'
import { checkOneLabel, type NameRule } from '../model/metadata.ts'
import { checkOwnNames } from './own-names.ts'
import { checkMutatingBinding, checkMutatingPolicy, checkPolicy, checkPolicyBinding } from './policy-kinds.ts'
import { checkWebhooks } from './webhook-kinds.ts'
import { withWholeBase64 } from './whole-base64.ts'
import { checkQuota, withQuantityTexts } from './quota-kind.ts'

/** What a state depends on beside its own object. */
export interface Surroundings {
  readonly nowMs: number
  /** All there are, where the object is one that is written; left out where it is only marked for deletion. */
  readonly definitions?: readonly CustomResourceDefinition[]
}

/** What a built-in kind does beyond the rules that hold for all. */
interface Strategy {
  /** Default: a DNS subdomain. */
  readonly nameRule?: NameRule
  /** A PUT of an object that is not there creates it. */
  readonly createsOnUpdate?: true
  /** Finalizers name the domain of whom they are of. Source: kubernetes, `validateKubeFinalizerName`. */
  readonly qualifiesFinalizers?: true
  /** Who writes the status writes the metadata, too. Source: kubernetes, `PrepareForUpdate` of the status' strategy. */
  readonly statusTakesMetadata?: true
  /** A write of the whole object names the version that it replaces, as for kinds of users' own. */
  readonly namesVersion?: true
  /** What a writer's body means, before anything else looks at it. */
  intake?(body: JsonObject): JsonObject
  /** The body without fields that nobody knows and its schema cannot tell, and their paths. */
  sift?(body: JsonObject): { readonly body: JsonObject; readonly unknown: readonly string[] }
  /** Takes back what a writer of the whole object may not change, by the path of the object or a subresource. */
  keep?(next: ApiObject, live: ApiObject, subresource?: string): ApiObject
  /** Completes the next state. */
  prepare?(next: ApiObject, around: Surroundings): ApiObject
  check?(next: ApiObject, live: ApiObject | undefined, kind: ServedKind): readonly FieldError[]
  /** Why the object may not be deleted. */
  refuseDeletion?(object: ApiObject): string | undefined
  /** On creation: a finalizer that one of the engine's own controllers removes. */
  readonly finalizer?: string
  /** On creation: the engine's own fields. */
  engine?(object: ApiObject): EngineState
}

export const namespaceFinalizer = 'setpoint.dev/namespace'
/** The same as Kubernetes says it, in `spec.finalizers` of a namespace. */
export const contentFinalizer = 'kubernetes'
export const crdFinalizer = 'customresourcecleanup.apiextensions.k8s.io'
const eventLifetimeMs = 3_600_000

/** When an event goes: an hour after it last happened, or was recorded if it was recorded late. */
export function eventEndMs({ series, metadata, ...event }: ApiObject): number {
  const seen = (isObject(series) ? series['lastObservedTime'] : undefined) ?? event['lastTimestamp']
  const times = [seen ?? event['eventTime'], metadata.creationTimestamp].map((time) => parseTimestamp(String(time)))
  return Math.max(...times.map((ms) => ms ?? 0)) + eventLifetimeMs
}

const role: Strategy = { qualifiesFinalizers: true, nameRule: 'path segment', createsOnUpdate: true, check: checkRole }
const roleBinding: Strategy = {
  qualifiesFinalizers: true,
  nameRule: 'path segment',
  createsOnUpdate: true,
  prepare: withSubjectGroups,
  check: checkBinding,
}

const webhooks: Strategy = {
  namesVersion: true,
  intake: (configuration) => withWholeBase64(configuration, 'webhooks.*.clientConfig.caBundle'),
  check: checkWebhooks,
}

const strategies: Readonly<Record<string, Strategy>> = {
  '/Namespace': {
    qualifiesFinalizers: true,
    statusTakesMetadata: true,
    finalizer: namespaceFinalizer,
    check: ({ metadata: { name } }) => checkOneLabel('metadata.name', name),
    // Where objects go that name no namespace; the next start would make it again.
    refuseDeletion: ({ metadata: { name } }) => (name === 'default' ? 'this namespace may not be deleted' : undefined),
    // In Kubernetes it is no finalizer of the metadata: `/finalize` alone takes it away.
    keep: (next, live, subresource) => ({
      ...(subresource === 'finalize' ? next : holding(namespaceFinalizer, next, live)),
      spec: isObject(live['spec']) ? live['spec'] : {},
    }),
    prepare: (next) => ({
      ...next,
      spec: { finalizers: next.metadata.finalizers?.includes(namespaceFinalizer) === true ? [contentFinalizer] : [] },
      metadata: {
        ...next.metadata,
        labels: { ...next.metadata.labels, 'kubernetes.io/metadata.name': next.metadata.name },
      },
      status: { ...next.status, phase: isDeleting(next) ? 'Terminating' : 'Active' },
    }),
  },
  '/Secret': {
    qualifiesFinalizers: true,
    intake: withStringData,
    check: (next, live) => [
      ...checkConfigKeys(next, live),
      ...checkSecretType(next, live),
      ...checkSecretData(next, live),
      ...checkImmutable(next, live),
    ],
  },
  '/ConfigMap': {
    qualifiesFinalizers: true,
    intake: (map) => withWholeBase64(withoutNulls(map), 'binaryData.*'),
    check: (next, live) => [...checkConfigKeys(next, live), ...checkImmutable(next, live)],
  },
  '/Event': {
    qualifiesFinalizers: true,
    createsOnUpdate: true,
    intake: (event) => withMicroTimes(withMicroTimes(event, 'series', ['lastObservedTime']), '', ['eventTime']),
    check: checkEvent,
    engine: (event) => ({ wakeAtMs: eventEndMs(event) }),
  },
  'coordination.k8s.io/Lease': {
    qualifiesFinalizers: true,
    namesVersion: true,
    createsOnUpdate: true,
    intake: (lease) => withMicroTimes(lease, 'spec', ['acquireTime', 'renewTime']),
  },
  '/ServiceAccount': { qualifiesFinalizers: true },
  '/ResourceQuota': {
    qualifiesFinalizers: true,
    statusTakesMetadata: true,
    intake: withQuantityTexts,
    check: checkQuota,
  },
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy': { namesVersion: true, check: checkPolicy },
  'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding': { namesVersion: true, check: checkPolicyBinding },
  'admissionregistration.k8s.io/MutatingAdmissionPolicy': { namesVersion: true, check: checkMutatingPolicy },
  'admissionregistration.k8s.io/MutatingAdmissionPolicyBinding': { namesVersion: true, check: checkMutatingBinding },
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': webhooks,
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': webhooks,
  'rbac.authorization.k8s.io/Role': role,
  'rbac.authorization.k8s.io/ClusterRole': { ...role, prepare: withoutUnseenRules },
  'rbac.authorization.k8s.io/RoleBinding': roleBinding,
  'rbac.authorization.k8s.io/ClusterRoleBinding': roleBinding,
  'apiextensions.k8s.io/CustomResourceDefinition': {
    namesVersion: true,
    finalizer: crdFinalizer,
    intake: (definition) =>
      withWholeBase64(withoutNullKeywords(definition), 'spec.conversion.webhook.clientConfig.caBundle'),
    sift: siftKeywords,
    // Kubernetes sets it with the deletion, whatever finalizers there are.
    keep: (next, live) => (isDeleting(live) ? next : holding(crdFinalizer, next, live)),
    prepare: (next, { nowMs, definitions }) =>
      definitions === undefined ? next : acceptCrd(withServersStatus(next, definitions), nowMs, definitions),
    check: (next, live) => {
      const errors = checkCrd(next, live)
      return errors.length > 0 ? errors : checkOwnNames(next, live)
    },
  },
}

/** The next state with a finalizer that the live one has. */
function holding(finalizer: string, next: ApiObject, live: ApiObject): ApiObject {
  const { finalizers = [] } = next.metadata
  if (finalizers.includes(finalizer) || live.metadata.finalizers?.includes(finalizer) !== true) return next
  return { ...next, metadata: { ...next.metadata, finalizers: [...finalizers, finalizer] } }
}

/** Of which names it has, a definition's status is believed only as it is stored: its objects are found by them. */
function withServersStatus(next: ApiObject, definitions: readonly CustomResourceDefinition[]): ApiObject {
  const live = definitions.find(({ metadata }) => metadata.name === next.metadata.name)?.status
  if (live === undefined) return next
  const { acceptedNames, conditions = [] } = live
  const isServers = ({ type }: { readonly type: string }): boolean => type === 'NamesAccepted' || type === 'Established'
  const others = conditionsOf(next).filter((condition) => !isServers(condition))
  const status = { ...next.status, acceptedNames, conditions: [...conditions.filter(isServers), ...others] }
  return { ...next, status: status as unknown as JsonObject }
}

const none: Strategy = {}

/** The strategy of an object's kind; kinds of users' own have none. */
export function strategyOf({ apiVersion, kind }: ApiObject): Strategy {
  return strategyFor({ group: parseApiVersion(apiVersion).group, kind })
}

type Named = Pick<ServedKind, 'group' | 'kind'>

function strategyFor({ group, kind }: Named): Strategy {
  return strategies[`${group}/${kind}`] ?? none
}

/** The body as its kind takes it in. */
export function normalizeBody(kind: Named, body: JsonObject): JsonObject {
  return strategyFor(kind).intake?.(body) ?? body
}

/** The body without fields that nobody knows and the schema of its kind cannot tell. */
export function siftBeyondSchema(kind: Named, body: JsonObject): ReturnType<NonNullable<Strategy['sift']>> {
  return strategyFor(kind).sift?.(body) ?? { body, unknown: [] }
}

/** Whether a PUT creates what is not there. Source: kubernetes, `AllowCreateOnUpdate` of the kind's strategy. */
export function createsOnUpdate(kind: Named): boolean {
  return strategyFor(kind).createsOnUpdate === true
}

/** Whether a write to `/status` takes the metadata that it says. */
export function statusTakesMetadata(kind: Named): boolean {
  return strategyFor(kind).statusTakesMetadata === true
}

/** Whether a write has to name a version. Source: kubernetes, `AllowUnconditionalUpdate` of the kind's strategy. */
export function mustNameVersion(kind: ServedKind): boolean {
  return !kind.builtIn || strategyFor(kind).namesVersion === true
}

/** `stringData` is for writing only: it is merged into `data`, encoded. */
function withStringData(body: JsonObject): JsonObject {
  const given = withWholeBase64(withoutEmptyType(withoutNulls(body)), 'data.*')
  const { stringData, ...rest } = given
  const { data = null } = rest
  // Data that is no map is refused for what it is.
  if (!isObject(stringData) || (data !== null && !isObject(data))) return given
  const encoded: JsonObject = {}
  for (const name in stringData) {
    const text = stringData[name]
    if (typeof text !== 'string')
      throw new OperatingError('BAD_REQUEST', `stringData.${name}: must be a string; quote it in YAML`)
    encoded[name] = toBase64(text)
  }
  return { ...rest, data: { ...data, ...encoded } }
}

/** The empty type is the one that Secrets have which say none. */
function withoutEmptyType(body: JsonObject): JsonObject {
  if (body['type'] !== '') return body
  const { type: _, ...rest } = body
  return rest
}

/** Where Kubernetes has texts, a null is the empty one: `key:` in YAML. */
function withoutNulls(body: JsonObject): JsonObject {
  let filled = body
  for (const field of textMaps) {
    const texts = body[field]
    if (!isObject(texts) || !hasNull(texts)) continue
    filled = { ...filled, [field]: Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, text ?? ''])) }
  }
  return filled
}

const textMaps = ['data', 'binaryData', 'stringData']

function hasNull(texts: JsonObject): boolean {
  for (const name in texts) if (texts[name] === null) return true
  return false
}

/** The body with times of microseconds, as programs in Go read them, in a part of it or, for '', in itself. */
function withMicroTimes(body: JsonObject, part: string, fields: readonly string[]): JsonObject {
  const within = part === '' ? body : body[part]
  if (!isObject(within)) return body
  let changed = within
  for (const field of fields) {
    const said = within[field]
    const time = typeof said === 'string' ? microTimeOf(said) : said
    if (time !== said && time !== undefined) changed = { ...changed, [field]: time }
  }
  if (changed === within) return body
  return part === '' ? changed : { ...body, [part]: changed }
}

function checkSecretType(next: ApiObject, live: ApiObject | undefined): readonly FieldError[] {
  if (live === undefined || next['type'] === live['type']) return []
  return [invalid('type', next['type'], 'field is immutable')]
}

/**
 * What Secrets of the known types must hold. One that was stored without it stays as it is until its data changes. No
 * value is repeated. Source: kubernetes, `ValidateSecret`.
 */
function checkSecretData(next: ApiObject, live: ApiObject | undefined): readonly FieldError[] {
  const data = isObject(next['data']) ? next['data'] : {}
  if (live !== undefined && equal(live['data'], next['data'])) return []
  const missing = (name: string): readonly FieldError[] =>
    Object.hasOwn(data, name) ? [] : [fieldRequired(`data[${name}]`)]
  switch (next['type']) {
    case 'kubernetes.io/tls':
      return [...missing('tls.crt'), ...missing('tls.key')]
    case 'kubernetes.io/ssh-auth':
      return missing('ssh-privatekey')
    case 'kubernetes.io/basic-auth': {
      const [user, password] = [missing('username'), missing('password')]
      return user.length > 0 && password.length > 0 ? [...user, ...password] : []
    }
    case 'kubernetes.io/dockercfg':
      return checkJson(data, '.dockercfg')
    case 'kubernetes.io/dockerconfigjson':
      return checkJson(data, '.dockerconfigjson')
    case 'kubernetes.io/service-account-token':
      return next.metadata.annotations?.[accountAnnotation] ? [] : [fieldRequired(accountPath)]
    default:
      return []
  }
}

const accountAnnotation = 'kubernetes.io/service-account.name'
const accountPath = `metadata.annotations[${accountAnnotation}]`

/** An entry that is to be an object of JSON. */
function checkJson(data: JsonObject, name: string): readonly FieldError[] {
  const path = `data[${name}]`
  if (!Object.hasOwn(data, name)) return [fieldRequired(path)]
  return isJsonObject(String(data[name])) ? [] : [invalid(path, '<secret contents redacted>', 'must be a JSON object')]
}

function isJsonObject(base64: string): boolean {
  try {
    const json = parseJson(new TextDecoder().decode(bytesFromBase64(base64)))
    return json === null || isObject(json)
  } catch {
    return false
  }
}

function checkImmutable(next: ApiObject, live: ApiObject | undefined): readonly FieldError[] {
  if (live?.['immutable'] !== true) return []
  const fields = ['data', 'binaryData', 'immutable'].filter((field) => !equal(next[field], live[field]))
  return fields.map((field) => forbidden(field, 'field is immutable when `immutable` is set'))
}
