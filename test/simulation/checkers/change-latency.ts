import type { Climate } from '../plane.ts'
import type { World } from '../world.ts'

/**
 * Promise 5: a user's change never waits behind a backoff. Told only where nothing else delays it: no crash (a dead function's
 * message comes back after its visibility timeout), no throttle on the way.
 */
export function createLatencyChecker(world: World, climate: Climate, report: (violation: string) => void) {
  const { throttle, unknown, crash } = climate.weather
  const isCalm = throttle === 0 && unknown === 0 && crash === 0
  const begun = new Map<string, number>()
  const deleted = new Set<string>()

  return {
    runBegins: ({ uid, generation }: { readonly uid: string; readonly generation: number }): void => {
      begun.set(uid, Math.max(begun.get(uid) ?? 0, generation))
    },
    accepted: ({ name, uid, generation }: { readonly name: string; readonly uid: string; readonly generation: number }): void => {
      if (isCalm) void expectRun({ name, uid, generation })
    },
    gone: (uid: string): void => void deleted.add(uid),
  }

  async function expectRun({ name, uid, generation }: { readonly name: string; readonly uid: string; readonly generation: number }): Promise<void> {
    await world.sleep(boundMs(climate, world))
    if ((begun.get(uid) ?? 0) < generation && !deleted.has(uid)) report(`promise 5: generation ${generation} of ${name} has not begun to run`)
  }
}

/** The stream's lag, a run that is under way, the calls on the way, and other objects that run first. */
function boundMs({ streamLagMsMax, streamRepeats }: Climate, _world: World): number {
  return 40_000 + 2 * streamLagMsMax + streamRepeats * 60_000
}
