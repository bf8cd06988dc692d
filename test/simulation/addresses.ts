import type { ApiObject, JsonObject } from '../../shared/index.ts'
import { keyText } from '../../shared/model/object-key.ts'
import { isEntry } from './kinds/ledger.ts'
import { loadOf } from './kinds/trunk.ts'
import { toolDefinition } from './kinds/tool.ts'
import { hostOf } from './hook-servers.ts'
import type { KindName, Step } from './scenario.ts'

export const simGroup = 'simulation.setpoint.dev'

export function textOf(kind: KindName, name: string, namespace = 'default'): string {
  if (kind === 'Namespace') return keyText({ group: '', kind, namespace: '', name })
  if (kind === 'Definition') return definitionText(name)
  return keyText({ group: kind === 'ConfigMap' ? '' : simGroup, kind, namespace, name })
}

function definitionText(name: string): string {
  return keyText({ group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition', namespace: '', name })
}

/** What an object goes with: the definition of a Tool, the namespace of what is in one. */
export function homeOf({ kind, metadata: { namespace } }: Pick<ApiObject, 'kind' | 'metadata'>): string | undefined {
  if (kind === 'Tool') return definitionText(toolDefinition.name)
  return namespace === undefined ? undefined : textOf('Namespace', namespace)
}

/** What holds others, and is in nothing itself. */
export function isContainer(kind: KindName): boolean {
  return kind === 'Namespace' || kind === 'Definition'
}

/** What a user wants of an object: its spec, or the data of a ConfigMap. */
export function contentOf(step: Step): JsonObject {
  const { kind, name, value, mood, to, size, version } = step
  switch (kind) {
    case 'Relic':
      if (version !== undefined) return { spec: { size: `${value}x${size}` } }
      return { spec: { width: value, height: size, ...(to !== '' && { note: to }) } }
    case 'Policy':
      return { spec: policyOf(value) }
    case 'Binding':
      return { spec: { policyName: to, validationActions: [size === 0 ? 'Warn' : 'Deny'] } }
    case 'Guard':
    case 'Stamp':
      return { webhooks: [webhookOf(step)] }
    case 'Tint':
      return { spec: tintPolicy }
    case 'TintBinding':
      return { spec: { policyName: to } }
    case 'Quota':
      return { spec: { hard: { configmaps: String(value), secrets: String(size) } } }
    case 'ConfigMap':
      return { data: { value: String(value), ...(isEntry(name) && { for: to }) } }
    case 'Gadget':
      return { spec: { value, mood } }
    case 'Namespace':
      return {}
    case 'Definition':
      return { spec: toolDefinition.spec }
    case 'Link':
      return { spec: { to } }
    case 'Tenant':
      return { spec: { value, ...(size > 0 && { ballast: 'x'.repeat(size * 1_000) }) } }
    case 'Crate':
    case 'Shelf':
      return { spec: { value, size } }
    case 'Trunk':
      return { spec: { value, load: loadOf(size) } }
    case 'Witness':
    case 'Parcel':
    case 'Deed':
    case 'Kit':
    case 'Errand':
    case 'Pass':
    case 'Ledger':
    case 'Tool':
      return { spec: { value } }
  }
}

const configMaps = {
  apiGroups: [''],
  apiVersions: ['v1'],
  operations: ['CREATE', 'UPDATE'],
  resources: ['configmaps'],
}
const hooked = [{ name: 'hooked', expression: "object.metadata.name.startsWith('hooked')" }]

function webhookOf({ name, value, size }: Step): JsonObject {
  return {
    name: `${name}.${simGroup}`,
    clientConfig: { url: `https://${hostOf(name)}/` },
    rules: [configMaps],
    failurePolicy: size === 0 ? 'Ignore' : 'Fail',
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    timeoutSeconds: [1, 3, 10][value] ?? 10,
    matchConditions: hooked,
  }
}

const tintPolicy: JsonObject = {
  matchConstraints: { resourceRules: [configMaps] },
  matchConditions: hooked,
  reinvocationPolicy: 'Never',
  mutations: [
    {
      patchType: 'ApplyConfiguration',
      applyConfiguration: {
        expression: 'Object{metadata: Object.metadata{labels: {"tint": "t" + object.data.value}}}',
      },
    },
  ],
}

/** ConfigMaps of some names may not have some values. */
function policyOf(barred: number): JsonObject {
  return {
    matchConstraints: {
      resourceRules: [configMaps],
    },
    matchConditions: [{ name: 'ruled', expression: "object.metadata.name.startsWith('ruled')" }],
    validations: [{ expression: `int(object.data.value) % 3 != ${barred}` }],
  }
}

export function remarkOf({ value }: Step): JsonObject {
  return { metadata: { annotations: { remark: String(value) } } }
}

/** Whether an object of this name has a label by which it is swept. */
export function isBatched(name: string): boolean {
  return name.startsWith('batch-')
}

/** The label of what a step writes, or sweeps. */
export function batchOf({ value }: Pick<Step, 'value'>): string {
  return `b${value % 2}`
}

/** The label of what says this, as JSON. */
export function batchOfContent(text: string): string {
  const { data, spec } = JSON.parse(text) as { readonly data?: JsonObject; readonly spec?: JsonObject }
  return batchOf({ value: Number((data ?? spec)?.['value']) })
}

export function manifestOf(step: Step): JsonObject {
  const { name, namespace = 'default' } = step
  const { apiVersion, kind, isClusterWide } = servedAs(step.kind, step.version)
  const adopts = step.kind === 'Parcel' && step.to !== ''
  const metadata = {
    ...(isClusterWide ? { name } : { name, namespace }),
    ...(isBatched(name) && { labels: { batch: batchOf(step) } }),
    ...(adopts && { annotations: { 'setpoint.dev/external-id': step.to, 'setpoint.dev/adopt': 'override' } }),
  }
  return { apiVersion, kind, metadata, ...contentOf(step) }
}

export function pathOf(address: Address): string {
  return `${collectionOf(address)}/${address.name}`
}

export function collectionOf({ kind, namespace = 'default', version }: Omit<Address, 'name'>): string {
  const served = servedAs(kind, version)
  const root = served.apiVersion === 'v1' ? '/api/v1' : `/apis/${served.apiVersion}`
  const place = served.isClusterWide ? root : `${root}/namespaces/${namespace}`
  return `${place}/${pluralOf(served.kind)}`
}

type Address = Pick<Step, 'kind' | 'name' | 'namespace' | 'version'>

function pluralOf(kind: string): string {
  return `${kind.toLowerCase()}s`.replace(/ys$/, 'ies')
}

interface Served {
  readonly apiVersion: string
  readonly kind: string
  readonly isClusterWide: boolean
}

function servedAs(kind: KindName, version = 'v1'): Served {
  const rules = 'admissionregistration.k8s.io/v1'
  switch (kind) {
    case 'Definition':
      return { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', isClusterWide: true }
    case 'Policy':
      return { apiVersion: rules, kind: 'ValidatingAdmissionPolicy', isClusterWide: true }
    case 'Binding':
      return { apiVersion: rules, kind: 'ValidatingAdmissionPolicyBinding', isClusterWide: true }
    case 'Guard':
      return { apiVersion: rules, kind: 'ValidatingWebhookConfiguration', isClusterWide: true }
    case 'Stamp':
      return { apiVersion: rules, kind: 'MutatingWebhookConfiguration', isClusterWide: true }
    case 'Tint':
      return { apiVersion: rules, kind: 'MutatingAdmissionPolicy', isClusterWide: true }
    case 'TintBinding':
      return { apiVersion: rules, kind: 'MutatingAdmissionPolicyBinding', isClusterWide: true }
    case 'Quota':
      return { apiVersion: 'v1', kind: 'ResourceQuota', isClusterWide: false }
    case 'Namespace':
      return { apiVersion: 'v1', kind, isClusterWide: true }
    case 'ConfigMap':
      return { apiVersion: 'v1', kind, isClusterWide: false }
    default:
      return { apiVersion: `${simGroup}/${version}`, kind, isClusterWide: false }
  }
}

export function childPath(step: Step): string {
  return pathOf({ ...step, kind: 'ConfigMap' })
}
