import { conditionOf } from '../../../model/conditions.ts'
import { isPaused } from '../../../model/control-annotations.ts'
import { isObserved } from '../../../model/convergence.ts'
import { isDeleting } from '../../../model/object.ts'
import type { Wait } from '../../../model/engine-state.ts'
import type { StoredObject } from '../../../model/stored-object.ts'
import type { Facts } from './facts.ts'

/** What is the matter with an object: the first that holds, for what stands in the way of all else comes first. */
export type ObjectSituation =
  | 'unattended'
  | 'paused'
  | 'held'
  | 'stopped'
  | 'failing'
  | 'toldToWait'
  | 'slowedDown'
  | 'inCircles'
  | 'deleting'
  | 'changed'
  | 'notReady'
  | 'asDesired'

export function objectSituationOf({ controller, stored }: Pick<Facts, 'controller' | 'stored'>): ObjectSituation {
  const { object } = stored
  if (controller === undefined) return isDeleting(object) ? 'held' : 'unattended'
  if (isPaused(object)) return 'paused'
  const isOurs = object.metadata.finalizers?.includes(controller.finalizer ?? '') === true
  if (isDeleting(object) && !isOurs) return 'held'
  const trouble = troubles[currentWait(stored) ?? '']
  if (trouble !== undefined) return trouble
  if (isDeleting(object)) return 'deleting'
  if (!controller.reportsStatus) return 'asDesired'
  if (!isObserved(object)) return 'changed'
  return conditionOf(object, 'Ready')?.status === 'True' ? 'asDesired' : 'notReady'
}

/**
 * Whether the reconciler's predicate lets edits of the spec pass, so that the change that no run has observed may have
 * woken nobody. The creation of an object always wakes somebody.
 */
export function mayBeLetPass(facts: Pick<Facts, 'controller' | 'stored'>): boolean {
  return facts.stored.object.status?.['observedGeneration'] !== undefined && isEditLetPass(facts)
}

/** Whether the reconciler's predicate lets edits of the spec pass. */
export function isEditLetPass({ controller, stored: { object } }: Pick<Facts, 'controller' | 'stored'>): boolean {
  if (controller === undefined) return false
  try {
    return !controller.when({ type: 'modified', object, touched: ['spec'] })
  } catch {
    // A predicate that fails lets nothing pass.
    return false
  }
}

/** Waits that somebody should know of; the others are as the reconciler meant them. */
const troubles: Readonly<Partial<Record<string, ObjectSituation>>> = {
  Stopped: 'stopped',
  Backoff: 'failing',
  RetryAfter: 'toldToWait',
  RateLimited: 'slowedDown',
  HotLoop: 'inCircles',
}

/** Why the object waits; a wait that a newer generation has ended does not count. */
export function currentWait({ object, engine: { wait } }: StoredObject): Wait['kind'] | undefined {
  return wait?.generation === object.metadata.generation ? wait.kind : undefined
}

/** Finalizers of others than the controller. */
export function foreignFinalizers({ stored: { object }, controller }: Facts): readonly string[] {
  return (object.metadata.finalizers ?? []).filter((name) => name !== controller?.finalizer)
}
