import { textOf } from '../addresses.ts'
import { named, objectsOf, isPoison, type Checker, type Scene } from './checker.ts'

/** Promise 9: every object runs once per period of its kind, and resync is spread over the period. */
export function createResync({ world, scenario, table, report, calmSinceMs, isRunAgain }: Scene): Checker {
  const periodMs = scenario.resyncMinutes * 60_000
  /** The one process there is may stand still into the calm, and then makes up for what it has missed. */
  const stillMs = scenario.local !== undefined && scenario.climate.pause > 0 ? scenario.climate.pauseMsMax : 0
  /** The first whole period after the trouble; a herd's spread is looked at for one more. */
  const lookedAtMs = stillMs + (scenario.herd > 0 ? 2 * periodMs : periodMs + slackMs)
  const lastRunMs = new Map<string, number>()
  const perMinute = new Map<number, number>()

  const spread = (): void => {
    const sinceMs = calmSinceMs()
    // Who is asked to run once more does so at once.
    if (scenario.herd === 0 || isRunAgain() || sinceMs === undefined || world.nowMs() < sinceMs + stillMs + periodMs)
      return
    const minute = Math.floor(world.nowMs() / 60_000)
    const count = (perMinute.get(minute) ?? 0) + 1
    perMinute.set(minute, count)
    if (count === Math.ceil(10 + (4 * scenario.herd) / scenario.resyncMinutes))
      report(`promise 9, resync: ${count} of ${scenario.herd} objects run in one minute of ${scenario.resyncMinutes}`)
  }

  return {
    runBegins: ({ uid, kind, name }) => {
      lastRunMs.set(uid, world.nowMs())
      // What a clock that was ahead has put off is no resync.
      const isTimed = table.items.get(textOf('Link', name))?.engine.wakeAtMs !== undefined
      if (periodMs > 0 && kind === 'Link' && !isTimed) spread()
    },
    unmet: () => {
      if (periodMs === 0) return []
      if (world.nowMs() < (calmSinceMs() ?? world.nowMs()) + lookedAtMs)
        return ['promise 9, resync: the period is not over']
      return objectsOf(table, 'Gadget', 'Link').flatMap((stored) => {
        const agoMs = world.nowMs() - (lastRunMs.get(stored.object.metadata.uid) ?? 0)
        if (agoMs <= periodMs + slackMs || isPoison(stored)) return []
        return [`promise 9, resync: ${named(stored)} ran ${agoMs / 1_000} s ago`]
      })
    },
  }
}

/** Two ticks, a run, and a message that comes again. */
const slackMs = 330_000
