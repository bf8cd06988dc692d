import { keyOf, type ObjectKey } from '../../model/object-key.ts'
import { controllerOf, parseApiVersion } from '../../model/object.ts'
import { dueAtMs, type EngineState } from '../../model/engine-state.ts'
import { touches, wakesItself } from '../../model/stored-object.ts'
import type { Change } from '../../ports/change-feed.ts'
import type { KindName, ObjectIndex } from '../../ports/object-index.ts'
import type { Controller, Watched } from '../../reconciler/controller.ts'
import { isOf, isOfKind } from '../../reconciler/kind.ts'
import { asRead } from '../state/as-read.ts'
import type { Target } from './wake-up.ts'
import { childReason, mapReason, newReferenceReason, ownReason, referenceReason } from './wake-reasons.ts'

/** Whose keys a change wakes, by one rule of one controller. */
export interface Route {
  /** Names the queue. */
  readonly name: string
  /** Nothing is handed out sooner after the first wake-up. */
  readonly debounceMs: number
  /** Its turns are never held, so that there is no hold to be ended. */
  readonly isNeverHeld?: true
  /** `dropped`: what the changed object referred to before, and does no more. */
  targets(change: Change, dropped: readonly ObjectKey[]): Promise<readonly Target[]> | readonly Target[]
}

/**
 * The routes of a controller: its own objects when their desired state or metadata changed, the owner when a child of
 * an owned kind changed or was taken from it, those who refer when an object of a watched kind changed, those it maps
 * to or did before. A change of the object itself is somebody's wish and goes ahead; the rest is consequence.
 */
export function routesOf(controller: Controller, index: ObjectIndex): readonly Route[] {
  const { name, debounceMs, owns, references, maps } = controller
  const route = (targets: Route['targets']): Route => ({ name, debounceMs, targets })
  return [
    route(ownTargets(controller)),
    { name, debounceMs: 0, targets: timerTargets(controller) },
    ...(owns.length > 0 ? [route(ownerTargets(controller))] : []),
    ...(references.length > 0
      ? [route(referrerTargets(controller, index)), route(newReferrerTargets(controller))]
      : []),
    ...(maps.length > 0 ? [route(mapTargets(controller))] : []),
  ]
}

export function ownTargets({ kind, when }: Controller): (change: Change) => readonly Target[] {
  return (change) => {
    const { type, touched, stored } = change
    if (!isOf(stored.object, kind) || !wakesItself(touched)) return []
    // The next object of its name would wait behind a message that is held.
    if (type === 'removed' && stored.engine.hold === undefined) return []
    if (!touches(touched, 'control', 'delete') && !passes({ kind, when }, change)) return []
    return [{ key: keyOf(stored.object), stored, lane: 'urgent', reason: ownReason(change) }]
  }
}

/**
 * A wait whose message was held too often: another message is its timer. It comes by the stream, so that no queue feeds
 * itself.
 */
export function timerTargets({ kind }: { readonly kind: KindName }): (change: Change) => readonly Target[] {
  return ({ touched, stored }) => {
    const atMs = dueAtMs(stored.engine)
    if (!touches(touched, 'timer') || atMs === undefined || !isOf(stored.object, kind)) return []
    // It is woken at once, by a message of the same id.
    if (touches(touched, 'references')) return []
    return [{ key: keyOf(stored.object), stored, lane: 'background', reason: 'its wait continues', dueAtMs: atMs }]
  }
}

type FormerOwner = NonNullable<EngineState['formerOwner']>

/** The owner by now, and the one that the write took the object from. */
function ownerTargets({ kind, owns }: Controller): Route['targets'] {
  return (change) => {
    const { object, engine } = change.stored
    const isOurs = ({ apiVersion, kind: its }: FormerOwner): boolean =>
      its === kind.kind && parseApiVersion(apiVersion).group === kind.group
    const owners = [controllerOf(object), engine.formerOwner].filter((owner) => owner !== undefined).filter(isOurs)
    if (owners.length === 0 || !isWatched(owns, change)) return []
    const namespace = kind.namespaced ? (object.metadata.namespace ?? '') : ''
    const reason = childReason(change)
    const keyOfOwner = (name: string): ObjectKey => ({ group: kind.group, kind: kind.kind, namespace, name })
    return owners.map(({ name }) => ({ key: keyOfOwner(name), lane: 'background', reason }))
  }
}

function referrerTargets({ kind, references }: Controller, index: ObjectIndex): Route['targets'] {
  return async (change) => {
    if (!isWatched(references, change)) return []
    const reason = referenceReason(change)
    const referrers = await index.referrers(keyOf(change.stored.object))
    return referrers.filter(isOfKind(kind)).map((key) => ({ key, lane: 'background', reason }))
  }
}

/**
 * The object itself, if its status has begun to refer to others. These may have changed before the relay had noted the
 * reference. The write of the status asks for this wake-up, so a write that is told again asks again.
 */
function newReferrerTargets({ kind }: Controller): Route['targets'] {
  return ({ touched, stored }) => {
    if (!touches(touched, 'references') || !isOf(stored.object, kind)) return []
    return [{ key: keyOf(stored.object), stored, lane: 'background', reason: newReferenceReason }]
  }
}

function mapTargets({ kind, maps }: Controller): Route['targets'] {
  return (change, dropped) => {
    const { object } = change.stored
    const watching = maps.filter((map) => isWatched([map], change))
    if (watching.length === 0) return []
    const reason = mapReason(change)
    const keys = [
      ...watching.flatMap((map) => map.primaries(asRead(map.kind, object))),
      ...dropped.filter(isOfKind(kind)),
    ]
    return keys.map((key) => ({ key, lane: 'background', reason }))
  }
}

function isWatched(watches: readonly Watched[], change: Change): boolean {
  if (change.touched.every((part) => part === 'engine' || part === 'timer')) return false
  return watches.some((watched) => isOf(change.stored.object, watched.kind) && passes(watched, change))
}

function passes({ kind, when }: Watched, { type, touched, stored: { object } }: Change): boolean {
  return when({ type, touched, object: asRead(kind, object) })
}
