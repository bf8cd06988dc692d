import type { ApiObject } from '../../../shared/index.ts'
import type { StoredObject } from '../../../shared/model/stored-object.ts'
import { isPaused, resyncAnnotation } from '../../../shared/model/control-annotations.ts'
import { isPoisoned, isRoomy, named, promptMs, type Checker, type Scene } from './checker.ts'

/**
 * Promise 9: an object with a resync period of its own runs once in it. Judged when the period is taken back, where
 * nothing goes wrong, of objects that did not change meanwhile but by their runs. An object whose last run failed
 * keeps the time of its backoff.
 */
export function createOwnResync({ world, scenario, report }: Scene): Checker {
  const isTold =
    isRoomy(scenario) && !isPoisoned(scenario) && scenario.limits === undefined && scenario.slowed === undefined
  /** Since when each has its period, and nothing else has happened to it. */
  const sinceMs = new Map<string, number>()
  const lastRunMs = new Map<string, number>()

  const isAlike = (before: ApiObject, after: ApiObject): boolean =>
    periodOf(before) === periodOf(after) && !isPaused(after)

  return {
    runBegins: ({ uid }) => void lastRunMs.set(uid, world.nowMs()),
    write: ({ type, before, after }) => {
      const { uid, deletionTimestamp } = after.object.metadata
      if (!isTold || after.object.kind !== 'Gadget') return
      const periodMs = before === undefined ? undefined : periodOf(before.object)
      const known = sinceMs.get(uid)
      if (before !== undefined && isAlike(before.object, after.object) && deletionTimestamp === undefined) return
      sinceMs.delete(uid)
      if (type === 'removed' || deletionTimestamp !== undefined) return
      if (periodOf(after.object) !== undefined && !isPaused(after.object)) sinceMs.set(uid, world.nowMs())
      const latestMs = (periodMs ?? Infinity) + promptMs(scenario, world.nowMs()) + tickMs
      const ranMs = Math.max(known ?? Infinity, lastRunMs.get(uid) ?? 0)
      if (known !== undefined && !isBackedOff(before) && world.nowMs() - ranMs > latestMs)
        report(
          `promise 9, resync: ${named(after)} has a period of ${periodMs} ms and ran ${world.nowMs() - ranMs} ms ago`,
        )
    },
  }
}

function isBackedOff(stored: StoredObject | undefined): boolean {
  return stored?.engine.wait?.kind === 'Backoff' || stored?.engine.wait?.kind === 'RetryAfter'
}

/** As users of the simulator say it. */
function periodOf({ metadata: { annotations } }: ApiObject): number | undefined {
  const given = annotations?.[resyncAnnotation]
  return given === undefined ? undefined : Number.parseInt(given, 10) * 60_000
}

/** A timer is found by the next tick. */
const tickMs = 65_000
