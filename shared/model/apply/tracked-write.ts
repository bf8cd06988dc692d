import { equal, type JsonObject } from '../json.ts'
import type { StructuralSchema } from '../schema/structural-schema.ts'
import { timestamp } from '../time.ts'
import { encodeOwners, withEntries } from './managed-fields.ts'
import type { Manager, Owners } from './ownership.ts'
import type { OwnerViews } from './owner-views.ts'
import type { ResetFields } from './reset-fields.ts'

/** What every write says that leaves a trace in `metadata.managedFields`. */
export interface TrackedWrite {
  /** Of the whole object, in the version of the request. */
  readonly schema: StructuralSchema
  /** The stored object in the version of the request; absent if the write creates it. */
  readonly live?: JsonObject | undefined
  readonly manager: string
  readonly apiVersion: string
  readonly nowMs: number
  /** The subresource written through. Its managers are others than those of the whole object. */
  readonly subresource?: string | undefined
  readonly resetFields?: ResetFields | undefined
  /** Of other versions, where functions convert them. */
  readonly views?: OwnerViews | undefined
}

/** What to store. */
export interface Tracked {
  /** With its `metadata.managedFields`. The live object itself, if nothing changed. */
  readonly object: JsonObject
  readonly changed: boolean
}

/** The writer as an entry of managedFields. */
export function managerOf(write: TrackedWrite, operation: Manager['operation']): Manager {
  const { manager, apiVersion, subresource, nowMs } = write
  return {
    manager,
    operation,
    apiVersion,
    time: timestamp(nowMs),
    ...(subresource !== undefined && { subresource }),
  }
}

/** The object with its owners written into it. */
export function trackOwners(live: JsonObject | undefined, object: JsonObject, owners: Owners): Tracked {
  const next = withEntries(object, encodeOwners(owners))
  return live !== undefined && equal(next, live) ? { object: live, changed: false } : { object: next, changed: true }
}
