import type { Controller } from '../../reconciler/controller.ts'
import { guardController } from './guard-controller.ts'
import { isOf } from '../../reconciler/kind.ts'
import { withWish } from './fan-out.ts'
import { netAfterMs } from '../../model/engine-state.ts'
import { parseApiVersion } from '../../model/object.ts'
import { touches, type StoredObject, type Touched } from '../../model/stored-object.ts'
import type { Change } from '../../ports/change-feed.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import { customResourceDefinitionKind, namespaceKind } from '../../resources/built-in-kinds.ts'

export interface SafetyNetOptions {
  readonly clock: Clock
  readonly logger: Logger
  /** Those that are known here; changes of other kinds are wanted. */
  readonly controllers: readonly Controller[]
}

/**
 * The store, whose changes of a desired state carry a timer of their own: should the way through the stream and the
 * queue lose the wake-up, the sweep finds the object, and its run counts as a repair. The timer is part of the change's
 * write, and the first run takes it away with the write that it makes anyway. The table finds it by the time of the
 * write, and has no other entry of it.
 */
export function withSafetyNet(store: ObjectStore, { clock, controllers, logger }: SafetyNetOptions): ObjectStore {
  const watching = controllers.map((controller) => guardController(controller, logger))

  /** Undone by no predicate: a change that is kept back on purpose is no lost one. */
  function isWanted(type: Change['type'], { object }: StoredObject, touched: Touched): boolean {
    const controller = watching.find(({ kind }) => isOf(object, kind))
    return touches(touched, 'delete') || (controller?.when({ type, touched, object }) ?? true)
  }

  const withSafetyTimer = (type: Change['type'], stored: StoredObject, touched: Touched): StoredObject => {
    if (!touches(touched, 'spec', 'delete') || !isRun(stored, touched)) return stored
    if (!isWanted(type, stored, touched)) return stored
    return withNet(stored, clock.nowMs())
  }
  return {
    ...store,
    create: (stored) => store.create(withSafetyTimer('added', stored, ['spec'])),
    replace: (stored, touched) => store.replace(withSafetyTimer('modified', stored, touched), touched),
  }
}

/**
 * An earlier wish serves as a net; the net of an earlier change gives way to this one, unless nobody has seen that
 * change for so long that its wake-up must be lost.
 */
function withNet({ object, engine: { netMs: before, ...engine } }: StoredObject, nowMs: number): StoredObject {
  const { wakeAtMs = Infinity, change } = engine
  const netMs = nowMs + netAfterMs
  const isEarlier = wakeAtMs !== before && wakeAtMs <= netMs
  const isLost = change?.sinceMs !== undefined && change.sinceMs + netAfterMs <= nowMs
  return isEarlier || isLost
    ? withWish({ object, engine }, netMs)
    : { object, engine: { ...engine, wakeAtMs: netMs, netMs } }
}

/**
 * Kinds of users' own, whose change is noted in the object, and those with a life cycle when they go. Others nobody
 * would run.
 */
function isRun({ object, engine }: StoredObject, touched: Touched): boolean {
  return engine.change !== undefined || (touches(touched, 'delete') && hasLifecycle(object))
}

function hasLifecycle({ apiVersion, kind }: StoredObject['object']): boolean {
  const { group } = parseApiVersion(apiVersion)
  return [namespaceKind, customResourceDefinitionKind].some((one) => one.kind === kind && one.group === group)
}
