import { isDeleting } from '../../../shared/model/object.ts'
import type { Life } from '../life.ts'
import { isPoison, isFenceTried, named, objectsOf, specOf, type Checker, type Scene } from './checker.ts'

/**
 * Promise 1: a status that says it observed a generation speaks the truth about the world, at the moment it is written; and
 * every object is reconciled until it says so, or says why not.
 */
export function createObserved({ scenario, table, outside, users, report }: Scene): Checker {
  /** Who changed an entity outside last. */
  const changedBy = new Map<string, Life>()
  /** Somebody else whose turn was over got in between. */
  const isMeddled = (uid: string, by: Life): boolean => isFenceTried(scenario) && (changedBy.get(uid) ?? by) !== by

  return {
    effect: ({ name: uid, by, isLie }) => {
      if (!isLie) changedBy.set(uid, by)
    },
    write: ({ before, after, by }) => {
      const { object } = after
      const observed = object.status?.['observedGeneration']
      const isNews = before?.object.status?.['observedGeneration'] !== observed
      if (object.kind !== 'Gadget' || !isNews || observed !== object.metadata.generation || isDeleting(object)) return
      const { uid } = object.metadata
      const found = outside.entities.get(uid)
      if (found === specOf(after)['value'] || users.tampered.has(uid) || isMeddled(uid, by)) return
      report(`promise 1, observed: ${named(after)} says it observed generation ${observed}, but outside is ${found}`)
    },
    unmet: () =>
      objectsOf(table, 'Gadget', 'Link', 'Crate', 'Witness').flatMap((stored) => {
        const { metadata, status } = stored.object
        if (isPoison(stored) || specOf(stored)['mood'] === 'fail') return []
        if (status?.['observedGeneration'] === metadata.generation) return []
        return [
          `promise 1, observed: ${named(stored)} is at generation ${metadata.generation}, observed ${String(status?.['observedGeneration'])}`,
        ]
      }),
  }
}
