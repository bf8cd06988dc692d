import type { StructuralSchema } from './structural-schema.ts'

const text: StructuralSchema = { type: 'string' }
const number: StructuralSchema = { type: 'integer' }
const time: StructuralSchema = { type: 'string', format: 'date-time' }
const texts: StructuralSchema = { type: 'object', additionalProperties: text }

/** `metav1.OwnerReference`. An owner is claimed as a whole, by uid: two managers never share one reference. */
export const ownerReference: StructuralSchema = {
  type: 'object',
  'x-kubernetes-map-type': 'atomic',
  properties: {
    apiVersion: text,
    kind: text,
    name: text,
    uid: text,
    controller: { type: 'boolean' },
    blockOwnerDeletion: { type: 'boolean' },
  },
}

/** `metav1.ManagedFieldsEntry`. */
const managedFieldsEntry: StructuralSchema = {
  type: 'object',
  properties: {
    manager: text,
    operation: text,
    apiVersion: text,
    time,
    fieldsType: text,
    fieldsV1: { 'x-kubernetes-preserve-unknown-fields': true },
    subresource: text,
  },
}

/** A set of texts, which merges text by text. */
export const finalizerSet: StructuralSchema = { type: 'array', items: text, 'x-kubernetes-list-type': 'set' }

/** `metav1.ObjectMeta`: what every object's metadata merges by, whatever its kind's schema says about it. */
export const objectMetaSchema: StructuralSchema = {
  type: 'object',
  properties: {
    name: text,
    generateName: text,
    namespace: text,
    selfLink: text,
    uid: text,
    resourceVersion: text,
    generation: number,
    creationTimestamp: time,
    deletionTimestamp: time,
    deletionGracePeriodSeconds: number,
    labels: texts,
    annotations: texts,
    ownerReferences: {
      type: 'array',
      items: ownerReference,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['uid'],
    },
    finalizers: finalizerSet,
    managedFields: { type: 'array', items: managedFieldsEntry, 'x-kubernetes-list-type': 'atomic' },
  },
}

/** The fields of every object, at the root of a schema and of an embedded resource. */
export const objectProperties = { apiVersion: text, kind: text, metadata: objectMetaSchema } as const
