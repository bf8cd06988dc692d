import { parseApiVersion } from '../model/object.ts'
import { touches, type StoredObject, type Touched } from '../model/stored-object.ts'
import type { Clock } from '../ports/clock.ts'
import type { ObjectStore } from '../ports/object-store.ts'
import { customResourceDefinitionKind, namespaceKind } from '../resources/built-in-kinds.ts'

/**
 * The store, whose changes of a desired state carry a timer of their own: should the way through the stream and the queue lose the
 * wake-up, the sweep finds the object, and its run counts as a repair. The timer is part of the change's write, and the first
 * run takes it away with the write that it makes anyway.
 */
export function withSafetyNet(store: ObjectStore, clock: Clock): ObjectStore {
  const caught = (stored: StoredObject, touched: Touched): StoredObject => {
    if (!touches(touched, 'spec', 'delete') || !isRun(stored, touched)) return stored
    const { wakeAtMs = Infinity } = stored.engine
    return { ...stored, engine: { ...stored.engine, wakeAtMs: Math.min(wakeAtMs, clock.nowMs() + repairAfterMs) } }
  }
  return {
    ...store,
    create: (stored) => store.create(caught(stored, ['spec'])),
    replace: (stored, touched) => store.replace(caught(stored, touched), touched),
  }
}

/** By then a change has long been through. */
const repairAfterMs = 600_000

/** Kinds of users' own, whose change is noted in the object, and those with a life cycle when they go. Others nobody would run. */
function isRun({ object, engine }: StoredObject, touched: Touched): boolean {
  return engine.change !== undefined || (touches(touched, 'delete') && hasLifecycle(object))
}

function hasLifecycle({ apiVersion, kind }: StoredObject['object']): boolean {
  const { group } = parseApiVersion(apiVersion)
  return [namespaceKind, customResourceDefinitionKind].some((one) => one.kind === kind && one.group === group)
}
