import { keyOf, type ObjectKey } from '../../model/object-key.ts'
import { apiVersionOf, type ApiObject } from '../../model/object.ts'
import { defineBuiltInKind, type ServedKind } from '../../model/served-kind.ts'
import type { StoredObject } from '../../model/stored-object.ts'
import { timestamp } from '../../model/time.ts'
import type { KindName } from '../../ports/object-index.ts'

/**
 * What is left of removed objects until their reconciler has seen them go: an object of a kind that nobody serves,
 * under the name that they had. It is one that is being deleted and whose one finalizer is ours, so everything that
 * holds for a clean-up holds for their last runs: backoff, timers, rate limits, restarts. It carries their last states,
 * the oldest first.
 */
export type RemovedRecord = ApiObject & { readonly removed: readonly ApiObject[] }

/** The kind of the records of a kind. */
export function removedKindOf({ group, kind }: KindName): KindName {
  return { group: `removed.${group || 'core'}`, kind }
}

/** Where the record of a name is. */
export function recordKey(key: ObjectKey): ObjectKey {
  return { ...key, ...removedKindOf(key) }
}

/** The kind of the records as the engine knows kinds: it is not served, and keeps no status. */
export function recordKind(of: KindName & { readonly namespaced: boolean }): ServedKind {
  const { group, kind } = removedKindOf(of)
  return defineBuiltInKind({
    group,
    kind,
    plural: kind.toLowerCase(),
    namespaced: of.namespaced,
    schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  })
}

/** Held until all removed objects are seen off. */
export const recordFinalizer = 'setpoint.dev/removed'

/** Says that there is one more, which a run that had begun did not know of: what that run lets go of is still held. */
const moreFinalizer = 'setpoint.dev/removed-meanwhile'

/**
 * A feed that tells of a removal twice may make its record twice, or bring an object back that was seen off, and the
 * queue may take the second wake-up for the first: the record is run by its own timer then.
 */
const lookAfterMs = 60_000

/** A record with one more last state. The record itself if it has it already. */
export function withRemoved(record: StoredObject | undefined, removed: ApiObject, nowMs: number): StoredObject {
  if (record === undefined) return { object: newRecord(removed, nowMs), engine: { wakeAtMs: nowMs + lookAfterMs } }
  const { metadata, removed: known } = record.object as RemovedRecord
  if (known.some((object) => object.metadata.uid === removed.metadata.uid)) return record
  const finalizers = [...new Set([...(metadata.finalizers ?? []), moreFinalizer])]
  const { wakeAtMs = nowMs + lookAfterMs } = record.engine
  return {
    engine: { ...record.engine, wakeAtMs },
    object: { ...record.object, metadata: { ...metadata, finalizers }, removed: [...known, removed] },
  }
}

/**
 * The record without an object that was seen off. The record itself if it does not hold it, or is another one by now.
 */
export function withoutRemoved(
  record: StoredObject,
  { metadata: { uid } }: ApiObject,
  seenOff: ApiObject,
): StoredObject {
  const { metadata, removed } = record.object as RemovedRecord
  const left = removed.filter((object) => object.metadata.uid !== seenOff.metadata.uid)
  if (metadata.uid !== uid || left.length === removed.length) return record
  return { ...record, object: { ...record.object, removed: left } }
}

/** The record as a run begins with it: all it holds is now known. The record itself if it is so already. */
export function withAllKnown(record: StoredObject): StoredObject {
  const { metadata } = record.object
  if (!metadata.finalizers?.includes(moreFinalizer)) return record
  return { ...record, object: { ...record.object, metadata: { ...metadata, finalizers: [recordFinalizer] } } }
}

function newRecord(removed: ApiObject, nowMs: number): RemovedRecord {
  const { group, kind } = recordKey(keyOf(removed))
  const { name, namespace, uid } = removed.metadata
  const at = timestamp(nowMs)
  return {
    apiVersion: apiVersionOf(group, 'v1'),
    kind,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      uid,
      resourceVersion: '0',
      generation: 1,
      creationTimestamp: at,
      deletionTimestamp: at,
      finalizers: [recordFinalizer],
    },
    removed: [removed],
  }
}
