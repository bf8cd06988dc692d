import type { JsonObject } from '../json.ts'
import { difference, intersection, noFields } from './fields/field-set.ts'
import { mapIn } from './json-parts.ts'
import { fieldsOfClientSideApply } from './last-applied.ts'
import { encodeOwners, withEntries } from './managed-fields.ts'
import { ownerId, recordWrite, withFields, type FieldOwner, type Owners } from './ownership.ts'
import { setOfReset } from './reset-fields.ts'
import { managerOf, type TrackedWrite } from './tracked-write.ts'
import { mergeTypeOf } from './typed/merge-type.ts'

/**
 * An object that was applied client-side and never tracked, with the owners it would have if it had been: kubectl for
 * what it last applied, `before-first-apply` for the rest. Any other object as it is.
 *
 * Kubernetes tracks every object from its first write. Who comes to `kubectl apply --server-side` takes over what the
 * owner of the annotation owns, and then removes what it does not apply: were it all one owner's, others would lose
 * their fields.
 */
export function withPresumedOwners(write: TrackedWrite & { readonly live: JsonObject }): JsonObject {
  const { live, schema, resetFields = [] } = write
  const type = mergeTypeOf(schema)
  const clientSide = fieldsOfClientSideApply(live, type)
  if (clientSide === noFields || mapIn(live['metadata'])['managedFields'] !== undefined) return live
  const updater = managerOf(write, 'Update')
  const { apiVersion, kind } = live
  const [whole] = recordWrite(new Map(), {
    self: { ...updater, manager: 'before-first-apply' },
    before: { apiVersion, kind },
    after: live,
    type,
    ignored: setOfReset(resetFields),
  }).values()
  if (whole === undefined) return live
  const owners = [
    { ...updater, manager: 'kubectl-client-side-apply', fields: intersection(whole.fields, clientSide) },
    { ...whole, fields: difference(whole.fields, clientSide) },
  ]
  return withEntries(live, encodeOwners(byId(owners)))
}

/** Without those who own nothing. */
function byId(owners: readonly FieldOwner[]): Owners {
  return withFields(new Map(owners.map((owner) => [ownerId(owner), owner])), (fields) => fields)
}
