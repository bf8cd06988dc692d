import { conditionOf } from './conditions.ts'
import { isDeleting, type ApiObject } from './object.ts'
import type { Wait } from './engine-state.ts'
import type { StoredObject } from './stored-object.ts'

/** A run has worked on the newest desired state and ended well, or was stopped and the object says why. */
export function isObserved({ status, metadata }: ApiObject): boolean {
  return Number(status?.['observedGeneration'] ?? 0) >= metadata.generation
}

/**
 * The desired state was observed and found as declared, and nothing has failed since: a run now should find nothing to
 * do.
 */
export function isConverged({ object, engine }: StoredObject): boolean {
  if (isDeleting(object) || failures.includes(engine.wait?.kind)) return false
  return isObserved(object) && conditionOf(object, 'Ready')?.status === 'True'
}

const failures: readonly (Wait['kind'] | undefined)[] = ['Backoff', 'RetryAfter', 'Stopped']
