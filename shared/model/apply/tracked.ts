import { equal, type JsonObject } from '../json.ts'
import { encodeOwners, withManagedFields } from './managed-fields.ts'
import type { Owners } from './ownership.ts'

/** What to store. */
export interface Tracked {
  /** With its `metadata.managedFields`. The live object itself, if nothing changed. */
  readonly object: JsonObject
  readonly changed: boolean
}

export function track(live: JsonObject | undefined, object: JsonObject, owners: Owners): Tracked {
  const tracked = withManagedFields(object, encodeOwners(owners))
  return live !== undefined && equal(tracked, live)
    ? { object: live, changed: false }
    : { object: tracked, changed: true }
}
