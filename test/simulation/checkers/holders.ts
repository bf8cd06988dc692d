import type { ApiObject } from '../../../shared/index.ts'
import { deletionPolicyAnnotation } from '../../../shared/model/control-annotations.ts'
import { foreignFinalizer } from '../rule-acts.ts'
import { named, type Checker, type Scene } from './checker.ts'

/**
 * Promise 8: an object that somebody holds with a finalizer stays until that is taken away, which nobody else does.
 * What was made outside of an object stays if that was said before it was deleted.
 */
export function createHolders({ users, report }: Scene): Checker {
  const names = new Map<string, string>()
  /** Of those whose policy was to keep it when they were deleted, and has not changed since. */
  const kept = new Set<string>()

  const notePolicy = (object: ApiObject, before: ApiObject | undefined): void => {
    const { uid, deletionTimestamp } = object.metadata
    if (!isRetained(object)) kept.delete(uid)
    else if (deletionTimestamp !== undefined && before?.metadata.deletionTimestamp === undefined) kept.add(uid)
  }

  return {
    write: ({ type, before, after }) => {
      const { metadata, kind } = after.object
      const { finalizers: was = [] } = before?.object.metadata ?? {}
      if (kind !== 'Gadget') return
      names.set(metadata.uid, metadata.name)
      notePolicy(after.object, before?.object)
      const isFreed = users.freed.has(metadata.uid)
      const isHeld = type !== 'removed' && metadata.finalizers?.includes(foreignFinalizer) === true
      if (was.includes(foreignFinalizer) && !isHeld && !isFreed)
        report(`promise 8, holders: ${named(after)} is let go, and whoever holds it has not said so`)
    },
    effect: ({ what, name: uid, by }) => {
      if (what === 'remove' && kept.has(uid))
        report(`promise 8, holders: ${by.name} removes what was to stay of ${names.get(uid)}`)
    },
  }
}

export function isRetained({ metadata: { annotations } }: ApiObject): boolean {
  return annotations?.[deletionPolicyAnnotation] === 'Retain'
}
