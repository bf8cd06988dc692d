import { goTimePattern } from '../time.ts'
import { webhookClient } from '../webhook-client.ts'
import type { StructuralSchema } from '../schema/structural-schema.ts'

const text: StructuralSchema = { type: 'string' }
const flag: StructuralSchema = { type: 'boolean' }
const texts: StructuralSchema = { type: 'array', items: text, 'x-kubernetes-list-type': 'atomic' }
/** A schema cannot describe itself: what stands here is checked by `checkStructural`. */
const schema: StructuralSchema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

const names: StructuralSchema = {
  type: 'object',
  required: ['kind', 'plural'],
  properties: {
    plural: text,
    singular: text,
    kind: text,
    listKind: text,
    shortNames: texts,
    categories: texts,
  },
}

const subresources: StructuralSchema = {
  type: 'object',
  properties: {
    status: { type: 'object' },
    scale: {
      type: 'object',
      required: ['specReplicasPath', 'statusReplicasPath'],
      properties: { specReplicasPath: text, statusReplicasPath: text, labelSelectorPath: text },
    },
  },
}

const column: StructuralSchema = {
  type: 'object',
  required: ['name', 'type', 'jsonPath'],
  properties: {
    name: { type: 'string', minLength: 1 },
    type: { type: 'string', enum: ['integer', 'number', 'string', 'boolean', 'date'] },
    format: {
      type: 'string',
      enum: ['', 'int32', 'int64', 'float', 'double', 'byte', 'date', 'date-time', 'password'],
    },
    description: text,
    priority: { type: 'integer', format: 'int32' },
    jsonPath: text,
  },
}

const version: StructuralSchema = {
  type: 'object',
  required: ['name', 'served', 'storage'],
  properties: {
    name: text,
    served: { type: 'boolean', default: false },
    storage: { type: 'boolean', default: false },
    deprecated: flag,
    deprecationWarning: { type: 'string', minLength: 1, maxLength: 256 },
    schema: { type: 'object', properties: { openAPIV3Schema: schema } },
    subresources,
    additionalPrinterColumns: { type: 'array', items: column, 'x-kubernetes-list-type': 'atomic' },
    selectableFields: {
      type: 'array',
      maxItems: 8,
      'x-kubernetes-list-type': 'atomic',
      items: { type: 'object', required: ['jsonPath'], properties: { jsonPath: text } },
    },
  },
}

const conversion: StructuralSchema = {
  type: 'object',
  required: ['strategy'],
  properties: {
    strategy: { type: 'string', enum: ['None', 'Webhook'] },
    webhook: {
      type: 'object',
      properties: {
        clientConfig: webhookClient,
        conversionReviewVersions: { type: 'array', items: text, 'x-kubernetes-list-type': 'atomic' },
      },
    },
  },
}

/** One condition, as Kubernetes' built-in kinds have it. */
export const conditionSchema: StructuralSchema = {
  type: 'object',
  required: ['type', 'status'],
  properties: {
    type: text,
    status: text,
    reason: text,
    message: text,
    lastTransitionTime: { type: 'string', format: 'date-time', pattern: goTimePattern, nullable: true },
    observedGeneration: { type: 'integer', format: 'int64' },
  },
}

/** The schema of the CustomResourceDefinition itself: the shapes of its fields, not what they mean together. */
export const customResourceDefinitionSchema: StructuralSchema = {
  type: 'object',
  description: 'A kind of your own: apply it and the kind is served.',
  required: ['spec'],
  properties: {
    apiVersion: text,
    kind: text,
    metadata: { type: 'object' },
    spec: {
      type: 'object',
      required: ['group', 'names', 'scope', 'versions'],
      properties: {
        group: text,
        names,
        scope: { type: 'string', enum: ['Cluster', 'Namespaced'] },
        versions: { type: 'array', items: version, 'x-kubernetes-list-type': 'atomic' },
        conversion,
        preserveUnknownFields: flag,
      },
    },
    status: {
      type: 'object',
      properties: {
        conditions: {
          type: 'array',
          items: conditionSchema,
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['type'],
        },
        acceptedNames: names,
        storedVersions: texts,
        observedGeneration: { type: 'integer', format: 'int64' },
      },
    },
  },
}
