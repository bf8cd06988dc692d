import type { JsonObject } from '../../model/json.ts'
import { apiVersionOf } from '../../model/object.ts'
import type { ServedKind } from '../../model/served-kind.ts'
import { metaRef } from './meta-schemas.ts'

/** The schemas of one kind: its objects and their list, by the names the document gives them. */
export function kindSchemas(kind: ServedKind): JsonObject {
  return {
    [schemaName(kind, kind.kind)]: objectSchema(kind),
    [schemaName(kind, kind.listKind)]: listSchema(kind),
    ...(kind.scale === undefined ? {} : { [scaleName]: scaleSchema }),
  }
}

const scaleName = 'io.k8s.api.autoscaling.v1.Scale'

/** A reference to the schema of what `/scale` gives and takes. */
export const scaleRef: JsonObject = { $ref: `#/components/schemas/${scaleName}` }

/** A reference to the schema of a kind's objects, or of its lists. */
export function schemaRef(kind: ServedKind, name: 'kind' | 'listKind'): JsonObject {
  return { $ref: `#/components/schemas/${schemaName(kind, kind[name])}` }
}

/** Groups are written backwards, as packages are: `com.example.v1.Widget`. */
function schemaName({ group, version }: ServedKind, name: string): string {
  const prefix = group === '' ? 'io.k8s.api.core' : group.split('.').toReversed().join('.')
  return `${prefix}.${version}.${name}`
}

function objectSchema(kind: ServedKind): JsonObject {
  const { properties = {}, ...schema } = kind.schema as JsonObject & { properties?: JsonObject }
  return {
    description: `${kind.kind} of ${apiVersionOf(kind.group, kind.version)}.`,
    ...schema,
    type: 'object',
    properties: {
      ...properties,
      ...typeProperties,
      metadata: { description: "Standard object's metadata.", default: {}, allOf: [metaRef('ObjectMeta')] },
      ...(kind.builtIn ? {} : { status: withReconcile(properties['status'] as JsonObject | undefined) }),
    },
    'x-kubernetes-group-version-kind': [{ group: kind.group, version: kind.version, kind: kind.kind }],
  }
}

const count: JsonObject = { type: 'integer', format: 'int32' }
const typeProperties: JsonObject = {
  apiVersion: {
    type: 'string',
    description: 'APIVersion defines the versioned schema of this representation of an object, as group/version.',
  },
  kind: { type: 'string', description: 'Kind is the type of the object, in CamelCase. Cannot be updated.' },
}

const scaleSchema: JsonObject = {
  description: 'How many replicas there are, and are to be.',
  type: 'object',
  properties: {
    ...typeProperties,
    metadata: { description: "Standard object's metadata.", default: {}, allOf: [metaRef('ObjectMeta')] },
    spec: { type: 'object', properties: { replicas: { ...count, description: 'So many there are to be.' } } },
    status: {
      type: 'object',
      required: ['replicas'],
      properties: {
        replicas: { ...count, description: 'So many there are.' },
        selector: { type: 'string', description: 'By which labels they are found.' },
      },
    },
  },
  'x-kubernetes-group-version-kind': [{ group: 'autoscaling', version: 'v1', kind: 'Scale' }],
}

/** What the engine shows beside the status that the kind declares; see model/present.ts. */
function withReconcile(status: JsonObject = { type: 'object', description: 'What was observed.' }): JsonObject {
  return { ...status, properties: { ...(status['properties'] as JsonObject | undefined), reconcile: reconcileSchema } }
}

const reconcileSchema: JsonObject = {
  type: 'object',
  description:
    'Why the next run is not now, and until when. Set by the control plane while there is something to wait for; cannot be written.',
  properties: {
    waiting: {
      type: 'string',
      enum: ['Backoff', 'Requeue', 'RetryAfter', 'RateLimited', 'HotLoop', 'Stopped', 'Expectation', 'Resync'],
      description:
        'What is waited for: Backoff after a failure, Requeue and RetryAfter as the reconciler or the far side asked, RateLimited for a turn, Stopped for a change.',
    },
    attempt: { type: 'integer', format: 'int32', description: 'Failures in a row of this generation.' },
    nextRunAt: { type: 'string', format: 'date-time', description: 'The next run, at the latest.' },
    lastError: { type: 'string', description: 'Message of the last failure.' },
  },
}

function listSchema(kind: ServedKind): JsonObject {
  return {
    type: 'object',
    description: `${kind.listKind} is a list of ${kind.kind}.`,
    required: ['items'],
    properties: {
      ...typeProperties,
      metadata: { description: 'Standard list metadata.', allOf: [metaRef('ListMeta')] },
      items: { type: 'array', items: schemaRef(kind, 'kind'), description: 'The objects.' },
    },
    'x-kubernetes-group-version-kind': [{ group: kind.group, version: kind.version, kind: kind.listKind }],
  }
}
