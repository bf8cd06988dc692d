import { equal, type JsonObject } from '../json.ts'
import { capUpdaters } from './ancient-changes.ts'
import { entryOf, mapIn } from './json-parts.ts'
import { decodeOwners, withoutManagedFields } from './managed-fields.ts'
import { recordWrite, type Owners } from './ownership.ts'
import { setOfReset } from './reset-fields.ts'
import { managerOf, trackOwners, type Tracked, type TrackedWrite } from './tracked-write.ts'
import { mergeTypeOf, type MergeType } from './typed/merge-type.ts'

/** A write that is not an apply: create, update, patch, or the server's own. */
export interface UpdateRequest extends TrackedWrite {
  /** The object as it will be stored, but for its managedFields: those may be the writer's. */
  readonly object: JsonObject
}

/**
 * Notes who changed what: the writer comes to own what it added or changed, and everybody else loses that and what was
 * removed. A writer may send managedFields of its own, and `[]` or `[{}]` to end the tracking; sending none, or some
 * that cannot be read, leaves them as they are. An object that is not tracked stays so until somebody applies to it.
 */
export function trackUpdate(request: UpdateRequest): Tracked {
  const { live, object } = request
  const type = mergeTypeOf(request.schema)
  const owners = ownersBefore(request, type)
  const before = withoutManagedFields(live ?? {})
  const after = withoutManagedFields(object)
  if (live !== undefined && owners.size === 0) return trackOwners(live, after, owners)
  const ignored = setOfReset(request.resetFields ?? [])
  const written = recordWrite(owners, {
    self: managerOf(request, 'Update'),
    before,
    after,
    type,
    ignored,
    views: request.views,
  })
  return trackOwners(live, after, capUpdaters(written))
}

function ownersBefore({ live, object, subresource, views }: UpdateRequest, type: MergeType): Owners {
  const stored: Owners = decodeOwners(live ?? {}, type, views) ?? new Map()
  // A subresource is written by those who may not write the rest, managedFields included.
  if (subresource !== undefined) return stored
  if (endsTracking(object)) return new Map()
  const sent = decodeOwners(object, type, views)
  return sent === undefined || sent.size === 0 ? stored : sent
}

function endsTracking(object: JsonObject): boolean {
  const sent = entryOf(mapIn(object['metadata']), 'managedFields')
  return equal(sent, []) || equal(sent, [{}])
}
