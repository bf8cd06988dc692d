import { isDeleting } from '../../../shared/model/object.ts'
import type { Life } from '../life.ts'
import { runKinds } from '../scenario.ts'
import { fitsType, isPoison, isFenceTried, named, objectsOf, specOf, type Checker, type Scene } from './checker.ts'

/**
 * Promise 1: a status that says it observed a generation speaks the truth about the world, at the moment it is written;
 * and every object is reconciled until it says so, or says why not.
 */
export function createObserved({ world, scenario, table, outside, users, report }: Scene): Checker {
  /** Who changed an entity outside last, and when. */
  const changed = new Map<string, { readonly by: Life; readonly atMs: number }>()
  /** When the last run of an object began in a process. */
  const beganMs = new Map<string, number>()
  /**
   * Somebody whose turn was over got in between: another process, or an earlier run that this one cannot see where
   * looks show the past.
   */
  const isMeddled = (uid: string, by: Life): boolean => {
    const last = changed.get(uid)
    if (!isFenceTried(scenario) || last === undefined) return false
    const isUnseen = scenario.climate.outside.lagMs > 0 && last.atMs < (beganMs.get(`${uid} ${by.name}`) ?? 0)
    return last.by !== by || isUnseen
  }

  return {
    runBegins: ({ uid, by }) => void beganMs.set(`${uid} ${by.name}`, world.nowMs()),
    effect: ({ name: uid, by, isLie }) => {
      if (!isLie) changed.set(uid, { by, atMs: world.nowMs() })
    },
    write: ({ before, after, by }) => {
      const { object } = after
      const observed = object.status?.['observedGeneration']
      const isNews = before?.object.status?.['observedGeneration'] !== observed
      if (
        object.kind !== 'Gadget' ||
        !isNews ||
        !fitsType(specOf(after)) ||
        observed !== object.metadata.generation ||
        isDeleting(object)
      )
        return
      const { uid } = object.metadata
      const found = outside.entities.get(uid)
      if (found === specOf(after)['value'] || users.tampered.has(uid) || isMeddled(uid, by)) return
      report(`promise 1, observed: ${named(after)} says it observed generation ${observed}, but outside is ${found}`)
    },
    unmet: () =>
      objectsOf(table, ...runKinds).flatMap((stored) => {
        const { metadata, status } = stored.object
        // Of what may have no room for a status another checker tells.
        if (isPoison(stored) || specOf(stored)['mood'] === 'fail' || stored.object.kind === 'Trunk') return []
        if (status?.['observedGeneration'] === metadata.generation) return []
        return [
          `promise 1, observed: ${named(stored)} is at generation ${metadata.generation}, observed ${String(status?.['observedGeneration'])}`,
        ]
      }),
  }
}
