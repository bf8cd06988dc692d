import { isPaused } from '../../../shared/model/control-annotations.ts'
import { isPoison, named, objectsOf, type Checker, type Scene } from './checker.ts'

/** The reconcilers that were loaded last run every object that was there then: they may be other code. */
export function createReloads({ world, table, calmSinceMs }: Scene): Checker {
  let reloadedMs: number | undefined
  const lastRunMs = new Map<string, number>()
  const madeMs = new Map<string, number>()
  return {
    reloaded: () => {
      reloadedMs = world.nowMs()
    },
    write: ({ type, after }) => {
      if (type === 'added') madeMs.set(after.object.metadata.uid, world.nowMs())
    },
    runBegins: ({ uid }) => void lastRunMs.set(uid, world.nowMs()),
    unmet: () => {
      const sinceMs = reloadedMs
      if (sinceMs === undefined || calmSinceMs() === undefined) return []
      return objectsOf(table, 'Gadget', 'Link').flatMap((stored) => {
        const { uid } = stored.object.metadata
        const isOlder = (madeMs.get(uid) ?? 0) < sinceMs
        if (!isOlder || (lastRunMs.get(uid) ?? 0) >= sinceMs || isPoison(stored) || isPaused(stored.object)) return []
        return [`promise 3, level: ${named(stored)} was not run by the reconcilers that were loaded last`]
      })
    },
  }
}
