import type { JsonObject } from '../json.ts'
import type { ApiObject } from '../object.ts'
import type { StructuralSchema } from '../schema/structural-schema.ts'
import { difference, noFields, unionOf } from './fields/field-set.ts'
import { mapIn } from './json-parts.ts'
import { encodeOwners, decodeOwners, withEntries } from './managed-fields.ts'
import { claim, ownerId, type FieldOwner } from './ownership.ts'
import { fieldsOf } from './typed/fields-of.ts'
import { mergeTypeOf } from './typed/merge-type.ts'

export interface StatusReport {
  readonly live: ApiObject
  /** The status as it is, without what the engine itself writes into it. */
  readonly current: JsonObject
  /** All that the reporter has to say of the status. */
  readonly reported: JsonObject
  /** Whose status it is. */
  readonly manager: string
  readonly schema: StructuralSchema
}

/**
 * The status after its one reporter has said all it has to say: as if applied by force. What it left out this time
 * goes, unless another manager owns it; what it says is taken from whoever said otherwise. The reporter needs no entry
 * in managedFields: all that nobody else owns is its own. So an object whose status has one writer carries nothing for
 * it.
 */
export function reportStatus({ live, current, reported, manager, schema }: StatusReport): {
  readonly status: JsonObject
  readonly metadata: ApiObject['metadata']
} {
  const { metadata } = live
  if (!metadata.managedFields?.some(isOfOthers(manager))) return { status: reported, metadata }
  const type = mergeTypeOf(schema)
  const owners = new Map([...(decodeOwners(live, type) ?? [])].filter(([, owner]) => !isReporters(manager)(owner)))
  const others = [...owners.values()].filter(isOfOthers(manager))
  const owned = unionOf(others.map((owner) => owner.fields))
  const self = { manager, operation: 'Apply', apiVersion: live.apiVersion, subresource: 'status' } as const
  const own: FieldOwner = { ...self, fields: difference(fieldsOf({ status: current }, type), owned) }
  const before = new Map(owners).set(ownerId(self), own)
  const claimed = claim(before, {
    self,
    live: { status: current },
    config: { status: reported },
    type,
    ignored: noFields,
  })
  const after = new Map([...claimed.owners].filter(([id]) => id !== ownerId(self)))
  const { managedFields: _, ...rest } = metadata
  const tracked = withEntries({ metadata: rest }, encodeOwners(after))
  return { status: mapIn(claimed.object['status']), metadata: tracked['metadata'] as ApiObject['metadata'] }
}

type Entry = Pick<FieldOwner, 'manager' | 'subresource'>

function isOfOthers(manager: string): (entry: Entry) => boolean {
  return (entry) => entry.subresource === 'status' && !isReporters(manager)(entry)
}

/** What was there before anybody applied to the status is the reporter's, too. */
function isReporters(manager: string): (entry: Entry) => boolean {
  return ({ manager: other, subresource }) =>
    subresource === 'status' && (other === manager || other === 'before-first-apply')
}
