import type { JsonObject } from '../../model/json.ts'

/**
 * The schemas that every document shares: object metadata and what the operations take and give. Texts shortened from
 * apimachinery's.
 */

const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1'

/** A reference to a schema of `metaSchemas`. */
export function metaRef(name: 'DeleteOptions' | 'ListMeta' | 'ObjectMeta' | 'Patch' | 'Status'): JsonObject {
  return { $ref: `#/components/schemas/${meta}.${name}` }
}

const text = (description: string): JsonObject => ({ type: 'string', description })
const flag = (description: string): JsonObject => ({ type: 'boolean', description })
const integer = (description: string): JsonObject => ({ type: 'integer', format: 'int64', description })
const texts = (description: string): JsonObject => ({ type: 'array', items: { type: 'string' }, description })
const textMap = (description: string): JsonObject => ({
  type: 'object',
  additionalProperties: { type: 'string' },
  description,
})
const time = (description: string): JsonObject => ({ type: 'string', format: 'date-time', description })

const ownerReference: JsonObject = {
  type: 'object',
  description:
    'Names the owner of an object, in the same namespace or cluster-scoped. An object goes when its last owner is gone.',
  required: ['apiVersion', 'kind', 'name', 'uid'],
  properties: {
    apiVersion: text('API version of the owner.'),
    kind: text('Kind of the owner.'),
    name: text('Name of the owner.'),
    uid: text('UID of the owner.'),
    controller: flag('Whether the owner is the one that controls the object.'),
    blockOwnerDeletion: flag('Whether a foreground deletion of the owner waits for this object.'),
  },
  'x-kubernetes-map-type': 'atomic',
}

const managedFieldsEntry: JsonObject = {
  type: 'object',
  description: 'The fields that one writer manages.',
  properties: {
    manager: text('Who manages the fields.'),
    operation: text('How they were written: Apply or Update.'),
    apiVersion: text('The version of the fields.'),
    time: time('When the entry was last changed.'),
    fieldsType: text('Always FieldsV1.'),
    fieldsV1: { type: 'object', description: 'The set of fields.' },
    subresource: text('The subresource through which they were written, if any.'),
  },
}

const objectMeta: JsonObject = {
  type: 'object',
  description:
    'ObjectMeta is metadata that all persisted resources must have, which includes all objects users must create.',
  properties: {
    name: text(
      'Name must be unique within a namespace. Is required when creating resources, unless generateName is given. Cannot be updated.',
    ),
    generateName: text('A prefix: the server completes it to a unique name if no name is given.'),
    namespace: text(
      'Namespace defines the space within which each name must be unique. Absent on cluster-scoped objects. Cannot be updated.',
    ),
    uid: text('Unique in time and space for this object. Set by the server.'),
    resourceVersion: text(
      'Changes with every write of the object. Give it back in an update to be told of writes in between.',
    ),
    generation: integer('Changes when the desired state changes. Set by the server.'),
    creationTimestamp: time('When the object was created. Set by the server.'),
    deletionTimestamp: time(
      'When deletion was asked for. The object goes once its finalizers are gone. Set by the server.',
    ),
    deletionGracePeriodSeconds: integer('Always 0 on objects that are being deleted. Set by the server.'),
    labels: textMap('Names and values by which objects can be selected.'),
    annotations: textMap('Names and values for tools to keep what they need.'),
    finalizers: {
      ...texts('Who must do something before the object may go. Each removes its own entry.'),
      'x-kubernetes-list-type': 'set',
    },
    ownerReferences: {
      type: 'array',
      items: ownerReference,
      description: 'The objects that this object depends on. At most one of them is its controller.',
      'x-kubernetes-list-map-keys': ['uid'],
      'x-kubernetes-list-type': 'map',
    },
    managedFields: {
      type: 'array',
      items: managedFieldsEntry,
      description: 'Which writer manages which fields. Kept by the server.',
      'x-kubernetes-list-type': 'atomic',
    },
  },
}

const listMeta: JsonObject = {
  type: 'object',
  description: 'Metadata of a list.',
  properties: {
    continue: text('Give it back to get the next page. Empty on the last one.'),
    remainingItemCount: integer('How many objects follow this page, if known.'),
    resourceVersion: text('A watch from here misses nothing that the list does not hold.'),
  },
}

const deleteOptions: JsonObject = {
  type: 'object',
  description: 'How to delete.',
  properties: {
    dryRun: texts('All: do everything but the deletion.'),
    gracePeriodSeconds: integer('Accepted and without effect.'),
    preconditions: {
      type: 'object',
      description: 'Delete only the object that has these.',
      properties: { uid: text('The UID.'), resourceVersion: text('The resourceVersion.') },
    },
    propagationPolicy: text('What becomes of dependents: Background, Foreground or Orphan.'),
  },
}

const status: JsonObject = {
  type: 'object',
  description: 'The outcome of a call that returns no object.',
  properties: {
    status: text('Success or Failure.'),
    message: text('For people.'),
    reason: text('For programs: one word.'),
    code: integer('The HTTP status.'),
    details: { type: 'object', description: 'What it is about, and the causes field by field.' },
  },
}

export const metaSchemas: JsonObject = {
  [`${meta}.ObjectMeta`]: objectMeta,
  [`${meta}.ListMeta`]: listMeta,
  [`${meta}.DeleteOptions`]: deleteOptions,
  [`${meta}.Status`]: status,
  [`${meta}.Patch`]: { type: 'object', description: 'A patch, of the kind that Content-Type names.' },
}
