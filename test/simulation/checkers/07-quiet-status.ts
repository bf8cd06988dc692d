import { failureOf } from '../../../shared/model/engine-state.ts'
import { equal, type JsonObject } from '../../../shared/model/json.ts'
import type { StoredObject } from '../../../shared/model/stored-object.ts'
import { isRestless, named, type Checker, type Scene } from './checker.ts'

/**
 * Promise 7: an equal status is never written, nor anything else that is as it was; and where all is at rest, nothing
 * writes.
 */
export function createQuietStatus({ scenario, table, report }: Scene): Checker & { restBegins(): void } {
  let isAtRest = false
  return {
    restBegins: () => {
      isAtRest = true
    },
    write: ({ type, before, after, touched, by }) => {
      if (type !== 'modified' || before === undefined) return
      const isSame = equal(before.object.status, after.object.status)
      if (touched.includes('status') && isSame)
        report(`promise 7, quiet status: ${by.name} writes the status of ${named(after)} as it is`)
      if (isSame && equal(before.engine, after.engine) && equal(unversioned(before), unversioned(after)))
        report(`promise 7, quiet status: ${by.name} writes ${named(after)} as it is`)
      const mayWrite = isStirred(after) || hasReserved(before) || isTriedAgain(before)
      if (isAtRest && !mayWrite && scenario.resyncMinutes === 0)
        report(
          `promise 7, quiet status: ${by.name} writes ${named(after)} (${touched.join(', ')}) though all is at rest`,
        )
    },
  }

  /** It never rests, or belongs to something that does not. */
  function isStirred(after: Parameters<typeof isRestless>[0]): boolean {
    const { ownerReferences = [] } = after.object.metadata
    const owner = [...table.items.values()].find(({ object }) => object.metadata.uid === ownerReferences[0]?.uid)
    return after.object.kind === 'Event' || isRestless(after) || (owner !== undefined && isRestless(owner))
  }
}

/**
 * A quota in which something is reserved is not at rest: it is counted again until that is made, or is so old that it
 * never will be. A clock that was ahead makes that late.
 */
function hasReserved({ object, engine }: StoredObject): boolean {
  const reserved = (engine.memory?.notes?.['reserved'] as JsonObject | undefined) ?? {}
  return object.kind === 'ResourceQuota' && Object.keys(reserved).length > 0
}

/** What the control plane reconciles itself. */
const ownKinds = ['Namespace', 'CustomResourceDefinition', 'ResourceQuota']

/**
 * An object whose runs did not end in the trouble is tried again a quarter of an hour later. One of a user's kind is
 * not at rest until then; one of the control plane's own may be as it should be.
 */
function isTriedAgain({ object, engine }: StoredObject): boolean {
  return ownKinds.includes(object.kind) && failureOf(engine) !== undefined
}

function unversioned({ object }: Parameters<typeof isRestless>[0]) {
  const { resourceVersion: _, ...metadata } = object.metadata
  return { ...object, metadata }
}
