import { apply } from '../model/apply/apply.ts'
import { conflictCauses } from '../model/apply/conflict.ts'
import { withPresumedOwners } from '../model/apply/presumed-owners.ts'
import type { ResetFields } from '../model/apply/reset-fields.ts'
import { trackUpdate } from '../model/apply/track-update.ts'
import { OperatingError } from '../model/errors.ts'
import { isObject, type Json, type JsonObject } from '../model/json.ts'
import { apiVersionOf, type ApiObject, type ManagedFieldsEntry } from '../model/object.ts'
import type { ServedKind } from '../model/served-kind.ts'
import type { SubresourceOption, WriteOptions } from './resources.ts'

/**
 * Who owns which field. An object is tracked from the first apply on; until then it carries no managedFields, which
 * would double its size, and when somebody does apply, its fields count as those of `before-first-apply`, or as applied
 * client-side where an annotation says so.
 */
export interface Writer extends SubresourceOption, Pick<WriteOptions, 'manager'> {
  readonly kind: ServedKind
  readonly nowMs: number
}

/**
 * The object after a write that is no apply, with ownership noted. `sent` are the managedFields in the writer's body,
 * if any.
 */
export function withOwnership(live: ApiObject, next: ApiObject, sent: Json | undefined, writer: Writer): ApiObject {
  if (live.metadata.managedFields === undefined && sent === undefined) return next
  const object = { ...next, metadata: { ...next.metadata, managedFields: sent } }
  return trackUpdate({ ...request(writer), live, object }).object as ApiObject
}

/**
 * What applying a configuration makes of the live object, managedFields included. Throws APPLY_CONFLICT and
 * BAD_REQUEST.
 */
export function applyConfiguration(
  live: ApiObject | undefined,
  config: JsonObject,
  force: boolean,
  writer: Writer,
): JsonObject {
  const { kind } = writer
  const given = { apiVersion: apiVersionOf(kind.group, kind.version), kind: kind.kind, ...config }
  if (isObject(config['metadata']) && config['metadata']['managedFields'] !== undefined) {
    throw new OperatingError('BAD_REQUEST', 'metadata.managedFields must be nil: leave it out of what is applied')
  }
  const write = request(writer)
  const known = live === undefined ? undefined : withPresumedOwners({ ...write, live })
  const result = apply({ ...write, live: known, config: given, force })
  if (result.outcome === 'misfit') throw new OperatingError('BAD_REQUEST', result.message)
  if (result.outcome === 'conflict') {
    throw new OperatingError('APPLY_CONFLICT', result.message, {
      details: { group: kind.group, kind: kind.plural, causes: conflictCauses(result.conflicts) },
    })
  }
  return result.object
}

function request({ kind, manager, subresource, nowMs }: Writer) {
  return {
    schema: kind.schema,
    manager,
    apiVersion: apiVersionOf(kind.group, kind.version),
    nowMs,
    resetFields: resetFields(kind, subresource),
    ...(subresource === undefined ? {} : { subresource }),
  }
}

/** The status is out of reach of a write to the object, and everything else of a write to the status. */
function resetFields({ hasStatus, schema }: ServedKind, subresource: string | undefined): ResetFields {
  if (!hasStatus) return []
  if (subresource === undefined) return [['status']]
  const fields = new Set([...Object.keys(schema.properties ?? {}), 'metadata'])
  return [...fields].filter((field) => !['status', 'apiVersion', 'kind'].includes(field)).map((field) => [field])
}

/** The managedFields in a body, if it says any. */
export function sentManagedFieldsOf(body: JsonObject): Json | undefined {
  return isObject(body['metadata']) ? body['metadata']['managedFields'] : undefined
}

/** The object with the managedFields that an apply came to. */
export function withManagedFields(object: ApiObject, body: JsonObject): ApiObject {
  const managedFields = sentManagedFieldsOf(body) as ManagedFieldsEntry[] | undefined
  return managedFields === undefined ? object : { ...object, metadata: { ...object.metadata, managedFields } }
}
