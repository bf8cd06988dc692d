import { customResourceDefinitionSchema } from '../model/crd/crd-schema.ts'
import { defineBuiltInKind, type PrinterColumn, type ServedKind } from '../model/served-kind.ts'
import { twinOf } from '../model/twin.ts'
import type { StructuralSchema } from '../model/schema/structural-schema.ts'
import {
  clusterRoleBindingKind,
  clusterRoleKind,
  roleBindingKind,
  roleKind,
  serviceAccountKind,
} from './access-kinds.ts'
import {
  mutatingBindingKind,
  mutatingPolicyKind,
  olderPolicyKinds,
  policyBindingKind,
  policyKind,
} from './policy-kinds.ts'
import { resourceQuotaKind } from './quota-kind.ts'
import { mutatingWebhookKind, validatingWebhookKind } from './webhook-kinds.ts'
import { conditionsSchema, objectSchema, text, texts, time } from './schema-parts.ts'

/** The kinds that come with the control plane. Everything else is a CustomResourceDefinition away. */

const flag: StructuralSchema = { type: 'boolean' }
const textMap: StructuralSchema = { type: 'object', additionalProperties: text }
/** Base64, or nothing at all, which the format does not take. */
const bytesMap: StructuralSchema = {
  type: 'object',
  additionalProperties: { type: 'string', anyOf: [{ format: 'byte' }, { maxLength: 0 }] },
}

function coreKind(kind: string, plural: string, options: Pick<ServedKind, 'schema'> & Partial<ServedKind>): ServedKind {
  return defineBuiltInKind({ group: '', kind, plural, namespaced: true, hidesGeneration: true, ...options })
}

export const namespaceKind = coreKind('Namespace', 'namespaces', {
  shortNames: ['ns'],
  namespaced: false,
  hasStatus: true,
  columns: [{ name: 'Status', type: 'string', jsonPath: '.status.phase', description: 'The status of the namespace' }],
  selectableFields: ['status.phase'],
  schema: objectSchema('A scope for names: deleting it deletes everything in it.', {
    spec: { type: 'object', properties: { finalizers: texts } },
    status: { type: 'object', properties: { phase: text, conditions: conditionsSchema } },
  }),
})

const configMapKind = coreKind('ConfigMap', 'configmaps', {
  shortNames: ['cm'],
  schema: objectSchema('Configuration data for others to read.', {
    data: textMap,
    binaryData: bytesMap,
    immutable: flag,
  }),
})

export const secretKind = coreKind('Secret', 'secrets', {
  isConfidential: true,
  columns: [{ name: 'Type', type: 'string', jsonPath: '.type', description: 'What the secret is for' }],
  selectableFields: ['type'],
  schema: objectSchema('Confidential data: never in logs, never in messages.', {
    data: bytesMap,
    stringData: textMap,
    type: { type: 'string', default: 'Opaque' },
    immutable: flag,
  }),
})

const objectReference: StructuralSchema = {
  type: 'object',
  'x-kubernetes-map-type': 'atomic',
  properties: {
    apiVersion: text,
    kind: text,
    namespace: text,
    name: text,
    uid: text,
    resourceVersion: text,
    fieldPath: text,
  },
}

const eventColumns: readonly PrinterColumn[] = [
  { name: 'Last Seen', type: 'date', jsonPath: '.lastTimestamp' },
  { name: 'Type', type: 'string', jsonPath: '.type' },
  { name: 'Reason', type: 'string', jsonPath: '.reason' },
  { name: 'Message', type: 'string', jsonPath: '.message' },
]

const newEventGroup = 'events.k8s.io'

export const eventKind = coreKind('Event', 'events', {
  twinGroup: newEventGroup,
  shortNames: ['ev'],
  columns: eventColumns,
  selectableFields: ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath']
    .map((field) => `involvedObject.${field}`)
    .concat('reason', 'type', 'source', 'reportingComponent'),
  selectedAt: { source: ['source.component', 'reportingComponent'] },
  schema: objectSchema('Something that happened to an object, for people. Gone after an hour.', {
    involvedObject: objectReference,
    related: objectReference,
    reason: text,
    message: text,
    type: text,
    action: text,
    count: { type: 'integer', format: 'int32' },
    firstTimestamp: time,
    lastTimestamp: time,
    eventTime: time,
    reportingComponent: text,
    reportingInstance: text,
    source: { type: 'object', properties: { component: text, host: text } },
    series: { type: 'object', properties: { count: { type: 'integer', format: 'int32' }, lastObservedTime: time } },
  }),
})

/** The same Events under the names that Kubernetes has given their fields since. */
const newEventKind = twinOf(eventKind, newEventGroup, {
  note: 'message',
  regarding: 'involvedObject',
  reportingController: 'reportingComponent',
  deprecatedSource: 'source',
  deprecatedFirstTimestamp: 'firstTimestamp',
  deprecatedLastTimestamp: 'lastTimestamp',
  deprecatedCount: 'count',
})

/** Who leads among equals, until when: each candidate writes it on condition that nobody else has. */
const leaseKind = defineBuiltInKind({
  group: 'coordination.k8s.io',
  kind: 'Lease',
  plural: 'leases',
  namespaced: true,
  hidesGeneration: true,
  columns: [{ name: 'Holder', type: 'string', jsonPath: '.spec.holderIdentity', description: 'Who holds the lease' }],
  schema: objectSchema('Who leads among several candidates, and since when they said so.', {
    spec: {
      type: 'object',
      properties: {
        holderIdentity: text,
        leaseDurationSeconds: { type: 'integer', format: 'int32', minimum: 1 },
        acquireTime: time,
        renewTime: time,
        leaseTransitions: { type: 'integer', format: 'int32', minimum: 0 },
        strategy: text,
        preferredHolder: text,
      },
    },
  }),
})

export const customResourceDefinitionKind = defineBuiltInKind({
  group: 'apiextensions.k8s.io',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  namespaced: false,
  hasStatus: true,
  columns: [{ name: 'Created At', type: 'string', jsonPath: '.metadata.creationTimestamp' }],
  schema: customResourceDefinitionSchema,
})

/** Kinds whose objects are stored as those of another, or in another version. */
export const twinKinds: readonly ServedKind[] = [newEventKind, ...olderPolicyKinds]

export const builtInKinds: readonly ServedKind[] = [
  namespaceKind,
  configMapKind,
  secretKind,
  eventKind,
  serviceAccountKind,
  roleKind,
  clusterRoleKind,
  roleBindingKind,
  clusterRoleBindingKind,
  resourceQuotaKind,
  policyKind,
  policyBindingKind,
  mutatingPolicyKind,
  mutatingBindingKind,
  validatingWebhookKind,
  mutatingWebhookKind,
  customResourceDefinitionKind,
  leaseKind,
]
