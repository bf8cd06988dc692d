import type { KindName } from '../scenario.ts'
import { isClear, isFenceTried, type Checker, type Scene } from './checker.ts'

/**
 * An object with a limit of its own runs no more often than that. Its time begins with the end of a run: within any
 * time as long there may be the runs of two, and one that is under way at their border. Told where no run ends
 * unwritten.
 */
export function createObjectLimit({ world, scenario, report }: Scene): Checker {
  const isTold = isClear(scenario) && !isFenceTried(scenario)
  const begunMs = new Map<string, readonly number[]>()
  return {
    runBegins: ({ kind, name, uid, isPoison }) => {
      const runs = scenario.slowed?.[kind as KindName]?.runs
      if (!isTold || runs === undefined || isPoison) return
      const since = world.nowMs() - runs.withinSeconds * 1_000
      const recent = [...(begunMs.get(uid) ?? []).filter((atMs) => atMs > since), world.nowMs()]
      begunMs.set(uid, recent)
      if (recent.length > 2 * runs.most + 1)
        report(`object limit: ${kind} ${name} ran ${recent.length} times in ${runs.withinSeconds} s`)
    },
  }
}
