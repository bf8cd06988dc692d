import { apply } from '../model/apply/apply.ts'
import { conflictCauses } from '../model/apply/conflict.ts'
import { withPresumedOwners } from '../model/apply/presumed-owners.ts'
import {
  saysOwnersOf,
  soleEntryOf,
  soleWriterOf,
  withExplicitOwners,
  withSoleWriter,
} from '../model/apply/sole-writer.ts'
import { mergeTypeOf } from '../model/apply/typed/merge-type.ts'
import type { OwnerViews } from '../model/apply/owner-views.ts'
import type { Conversion } from '../model/conversion.ts'
import type { ResetFields } from '../model/apply/reset-fields.ts'
import { trackUpdate } from '../model/apply/track-update.ts'
import { hasCode, OperatingError } from '../model/errors.ts'
import { isObject, type Json, type JsonObject } from '../model/json.ts'
import { apiVersionOf, parseApiVersion, type ApiObject, type ManagedFieldsEntry } from '../model/object.ts'
import type { ServedKind } from '../model/served-kind.ts'
import { withDefaults } from './admission.ts'
import type { WriteOptions } from './resources.ts'
import { statusTakesMetadata } from './strategies.ts'

/**
 * Who owns which field. An object is tracked from its creation on: by the name of its one writer at first
 * (sole-writer.ts), in full from the first apply or the second writer on. Objects that were made before tracking have
 * no owners: when somebody applies to one, its fields count as those of `before-first-apply`, or as applied client-side
 * where an annotation says so.
 */
export interface Writer extends Pick<WriteOptions, 'manager'> {
  readonly kind: ServedKind
  readonly nowMs: number
  /** The path that the write comes by, if it is not that of the object. */
  readonly subresource?: string
}

/**
 * The object after a write that is no apply, with ownership noted. `given` are the managedFields in the writer's body,
 * if any. As on Kubernetes, the empty list ends the tracking of built-in kinds only.
 */
export function withOwnership(live: ApiObject, next: ApiObject, given: Json | undefined, writer: Writer): ApiObject {
  const { kind } = writer
  const sent = isEmptyList(given) && !kind.builtIn ? undefined : given
  if (live.metadata.managedFields === undefined && sent === undefined) return next
  const isSole = soleWriterOf(live) !== undefined
  const said = isSole && sent !== undefined && saysOwnersOf(kind, live, sent) ? undefined : sent
  if (isSole && said === undefined && writer.subresource === undefined) {
    const kept = withSoleWriter(live, next, { ...writer, apiVersion: apiVersionOf(kind.group, kind.version) })
    if (kept !== undefined) return kept
  }
  const known = withExplicitOwners(kind, live)
  const { managedFields: _, ...metadata } = next.metadata
  if (known.metadata.managedFields === undefined && said === undefined) return { ...next, metadata }
  const object = { ...next, metadata: { ...metadata, managedFields: said } }
  const tracked = trackUpdate({ ...request(writer), live: known, object })
  return tracked.changed ? (tracked.object as ApiObject) : next
}

function isEmptyList(value: Json | undefined): boolean {
  return Array.isArray(value) && value.length === 0
}

/**
 * A new object with its first writer, who owns all of it, whatever managedFields the body has: they are those of the
 * object that it was copied from. Where the writer holds it by finalizers, that is noted in full.
 */
export function withFirstOwner(object: ApiObject, writer: Writer): ApiObject {
  const { kind, manager, nowMs } = writer
  if (object.metadata.finalizers !== undefined)
    return trackUpdate({ ...request(writer), object: withDefaults(kind, object) }).object as ApiObject
  const entry = soleEntryOf(manager, apiVersionOf(kind.group, kind.version), nowMs)
  return { ...object, metadata: { ...object.metadata, managedFields: [entry as ManagedFieldsEntry] } }
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
  const said = withoutNoOwners(config)
  const given = { apiVersion: apiVersionOf(kind.group, kind.version), kind: kind.kind, ...said }
  if (isObject(said['metadata']) && said['metadata']['managedFields'] !== undefined) {
    throw new OperatingError('BAD_REQUEST', 'metadata.managedFields must be nil: leave it out of what is applied')
  }
  const write = request(writer)
  const known = live && withPresumedOwners({ ...write, live: withExplicitOwners(kind, live) })
  const result = apply({ ...write, live: known, config: given, force })
  if (result.outcome === 'misfit') throw new OperatingError('BAD_REQUEST', result.message)
  if (result.outcome === 'conflict') {
    throw new OperatingError('APPLY_CONFLICT', result.message, {
      details: { group: kind.group, kind: kind.plural, causes: conflictCauses(result.conflicts) },
    })
  }
  return result.object
}

/** Some clients write null for what they leave out. */
function withoutNoOwners(config: JsonObject): JsonObject {
  const { metadata } = config
  if (!isObject(metadata) || metadata['managedFields'] !== null) return config
  const { managedFields: _, ...rest } = metadata
  return { ...config, metadata: rest }
}

function request({ kind, manager, subresource, nowMs }: Writer) {
  return {
    schema: kind.schema,
    manager,
    apiVersion: apiVersionOf(kind.group, kind.version),
    nowMs,
    resetFields: resetFields(kind, subresource),
    ...(subresource === undefined ? {} : { subresource }),
    ...(kind.conversion === undefined ? {} : { views: viewsOf(kind, kind.conversion) }),
  }
}

/** Who wrote in another version of the kind owns fields of that one. */
function viewsOf({ version: current }: ServedKind, conversion: Conversion): OwnerViews {
  return (apiVersion) => {
    const { version } = parseApiVersion(apiVersion)
    const schema = version === current ? undefined : conversion.schemaOf(version)
    return schema && { type: mergeTypeOf(schema), convert: (object) => convertOrLeave(conversion, object, version) }
  }
}

/** What is on its way to be refused need not be convertible. */
function convertOrLeave(conversion: Conversion, object: JsonObject, version: string): JsonObject | undefined {
  try {
    return conversion.convert(object as ApiObject, version)
  } catch (error) {
    if (hasCode(error, 'CONVERSION_FAILED')) return undefined
    throw error
  }
}

/** The status is out of reach of every write but those to the status, and of these everything else is. */
function resetFields(kind: ServedKind, subresource: string | undefined): ResetFields {
  if (!kind.hasStatus) return []
  if (subresource !== 'status') return [['status']]
  const fields = new Set([...Object.keys(kind.schema.properties ?? {}), 'metadata'])
  if (statusTakesMetadata(kind)) fields.delete('metadata')
  return [...fields].filter((field) => !['status', 'apiVersion', 'kind'].includes(field)).map((field) => [field])
}

/** The managedFields in a body, if it says any. */
export function sentManagedFieldsOf(body: JsonObject): Json | undefined {
  return isObject(body['metadata']) ? body['metadata']['managedFields'] : undefined
}

/** The object with the managedFields that an apply came to: none, if nobody owns anything any more. */
export function withManagedFields(object: ApiObject, body: JsonObject): ApiObject {
  const managedFields = sentManagedFieldsOf(body) as ManagedFieldsEntry[] | undefined
  if (managedFields !== undefined) return { ...object, metadata: { ...object.metadata, managedFields } }
  if (object.metadata.managedFields === undefined) return object
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}
