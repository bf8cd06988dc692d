import type { ObjectKey } from '../../model/object-key.ts'
import type { StoredObject } from '../../model/stored-object.ts'
import type { Change } from '../../ports/change-feed.ts'
import type { Lane, WakeUp } from '../../ports/work-queue.ts'

/** Whom a change wakes. */
export interface Target {
  readonly key: ObjectKey
  readonly lane: Lane
  readonly reason: string
  /** It is a timer: not to be handed out before. */
  readonly dueAtMs?: number
  /** The target's state if the change carries it, so that it need not be read. */
  readonly stored?: StoredObject
}

/** The same for the same change, whoever sends it. */
export function wakeUpOf({ key, lane, reason, dueAtMs }: Target, { stored }: Change): WakeUp {
  const { uid, resourceVersion } = stored.object.metadata
  const wakeUp = { key, dedupId: `${uid}:${resourceVersion}`, resourceVersion, lane, reason }
  return dueAtMs === undefined ? { ...wakeUp, origin: 'change' } : { ...wakeUp, origin: 'timer', notBeforeMs: dueAtMs }
}
