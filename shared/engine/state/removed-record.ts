import { withMemory, type EngineState } from '../../model/engine-state.ts'
import { keyOf, type ObjectKey } from '../../model/object-key.ts'
import { removedKindOf } from '../../model/removed-kind.ts'
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

/**
 * Says of one object that it came later: what a run lets go of that had begun without it is still held. A run that
 * begins with the mark takes it away at its end, so that of two runs at once neither lets go of what the other one has
 * seen alone.
 */
const markPrefix = `${recordFinalizer}-`

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
  const finalizers = [...(metadata.finalizers ?? []), `${markPrefix}${removed.metadata.uid}`]
  const generation = metadata.generation + 1
  const { wakeAtMs = nowMs + lookAfterMs } = record.engine
  return {
    engine: { ...record.engine, wakeAtMs },
    object: { ...record.object, metadata: { ...metadata, finalizers, generation }, removed: [...known, removed] },
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
  return { engine: withoutMemory(record.engine, seenOff), object: { ...record.object, removed: left } }
}

/** Under what an effect or an expectation of one of its objects is kept with the record. */
export function ownKey({ metadata: { uid } }: ApiObject, key: string): string {
  return `${uid}.${key}`
}

/** Of what runs remember nothing of this object. The state itself if there is nothing of it. */
function withoutMemory(engine: EngineState, seenOff: ApiObject): EngineState {
  const { once, notes, expectations } = engine.memory ?? {}
  const isOwn = (key: string): boolean => key === seenOff.metadata.uid || key.startsWith(ownKey(seenOff, ''))
  if (![once, notes, expectations].some((part = {}) => Object.keys(part).some(isOwn))) return engine
  const others = <Part extends object>(part: Part | undefined): Part | undefined =>
    part && (Object.fromEntries(Object.entries(part).filter(([key]) => !isOwn(key))) as Part)
  return withMemory(engine, {
    ...engine.memory,
    once: others(once),
    notes: others(notes),
    expectations: others(expectations),
  })
}

/**
 * The record as a run begins with it: held by the finalizer that a run lets go of. The record itself if it is so. A run
 * that has let go of it had seen off all that are not marked.
 */
export function withHold(record: StoredObject): StoredObject {
  const { finalizers = [] } = record.object.metadata
  if (finalizers.includes(recordFinalizer)) return record
  const { removed } = record.object as RemovedRecord
  const held = withFinalizers(record, [recordFinalizer, ...finalizers])
  const [seenOff, later] = [false, true].map((is) => removed.filter((object) => isMarkedIn(finalizers, object) === is))
  // Whose mark it is must be known of each.
  if (later?.length !== finalizers.filter(isMark).length) return held
  return (seenOff ?? []).reduce((left, object) => withoutRemoved(left, record.object, object), held)
}

function isMarkedIn(finalizers: readonly string[], { metadata: { uid } }: ApiObject): boolean {
  return finalizers.includes(`${markPrefix}${uid}`)
}

function isMark(finalizer: string): boolean {
  return finalizer.startsWith(markPrefix)
}

/** Whether it holds objects that came after the first. */
export function isMarked({ metadata }: ApiObject): boolean {
  return metadata.finalizers?.some(isMark) === true
}

/** The record without the marks that a run began with, all of whose objects it has seen off. Itself if it has none. */
export function withoutMarks(
  record: StoredObject,
  { metadata: { uid, finalizers: begun = [] } }: ApiObject,
): StoredObject {
  const { metadata } = record.object
  const { finalizers = [] } = metadata
  const left = finalizers.filter((name) => !isMark(name) || !begun.includes(name))
  if (metadata.uid !== uid || left.length === finalizers.length) return record
  return withHold(withFinalizers(record, left))
}

function withFinalizers(record: StoredObject, finalizers: string[]): StoredObject {
  return { ...record, object: { ...record.object, metadata: { ...record.object.metadata, finalizers } } }
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
