import { equal, isObject, type JsonObject } from '../json.ts'
import type { StructuralSchema } from '../schema/structural-schema.ts'
import { timestamp } from '../time.ts'
import { capUpdaters } from './ancient-changes.ts'
import { noFields } from './field-set.ts'
import { ownersOf, withoutManagedFields } from './managed-fields.ts'
import { entryOf, mapIn, mergeTypeOf } from './merge-type.ts'
import { recordWrite, withFields, type Manager, type Owners } from './ownership.ts'
import { setOfReset, type ResetFields } from './reset-fields.ts'
import { settle } from './schema-change.ts'
import { track, type Tracked } from './tracked.ts'

/** A write that is not an apply: create, update, patch, or the server's own. */
export interface UpdateRequest {
  /** Of the whole object, in the version of the request. */
  readonly schema: StructuralSchema
  /** The stored object in the version of the request; absent if the write creates it. */
  readonly live?: JsonObject | undefined
  /** The object as it will be stored, but for its managedFields: those may be the writer's. */
  readonly object: JsonObject
  readonly manager: string
  readonly apiVersion: string
  readonly nowMs: number
  readonly subresource?: string
  readonly resetFields?: ResetFields
}

/**
 * Notes who changed what: the writer comes to own what it added or changed, and everybody else loses that and what was
 * removed. A writer may send managedFields of its own, and `[]` or `[{}]` to end the tracking; sending none, or some
 * that cannot be read, leaves them as they are. An object that is not tracked stays so until somebody applies to it.
 */
export function trackUpdate(request: UpdateRequest): Tracked {
  const { live, object, manager, apiVersion, subresource, nowMs } = request
  const type = mergeTypeOf(request.schema)
  const owners = withFields(ownersBefore(request), (fields) => settle(fields, type))
  const after = withoutManagedFields(object)
  if (live !== undefined && owners.size === 0) return track(live, after, owners)
  const before = withoutManagedFields(live ?? {})
  const time = timestamp(nowMs)
  const self: Manager = {
    manager,
    operation: 'Update',
    apiVersion,
    time,
    ...(subresource !== undefined && { subresource }),
  }
  const ignored = setOfReset(request.resetFields ?? [])
  return track(live, after, capUpdaters(recordWrite(owners, { self, before, after, type, ignored })))
}

function ownersBefore({ live, object, subresource }: UpdateRequest): Owners {
  const stored = ownersOf(live ?? {}) ?? new Map()
  // A subresource is written by those who may not write the rest, managedFields included.
  if (subresource !== undefined) return stored
  if (endsTracking(object)) return new Map()
  const sent = ownersOf(object)
  return sent === undefined || sent.size === 0 ? stored : sent
}

function endsTracking(object: JsonObject): boolean {
  const sent = entryOf(mapIn(object['metadata']), 'managedFields')
  return equal(sent, []) || equal(sent, [{}])
}
