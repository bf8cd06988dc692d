import { keyText } from '../../../shared/model/object-key.ts'
import type { ObjectMeta } from '../../../shared/model/object.ts'
import type { Climate } from '../plane.ts'
import type { World } from '../world.ts'

/**
 * Promise 5: a user's change never waits behind a backoff. Told only where nothing else delays it: no crash (a dead function's
 * message comes back after its visibility timeout), no throttle on the way.
 */
export interface LatencyOptions {
  readonly world: World
  readonly climate: Climate
  readonly report: (violation: string) => void
  /** The metadata of the object of this key, if there is one. */
  readonly isThere: (key: string) => ObjectMeta | undefined
}

export interface LatencyChecker {
  runBegins(run: Pick<ObjectMeta, 'uid' | 'generation'>): void
  accepted(change: Pick<ObjectMeta, 'name' | 'uid' | 'generation'>): void
}

export function createLatencyChecker({ world, climate, report, isThere }: LatencyOptions): LatencyChecker {
  const { throttle, unknown, crash } = climate.weather
  const isCalm = throttle === 0 && unknown === 0 && crash === 0 && climate.latencyMsMax <= quickMs
  const begun = new Map<string, number>()

  async function expectRun({ name, uid, generation }: Pick<ObjectMeta, 'name' | 'uid' | 'generation'>): Promise<void> {
    await world.sleep(boundMs(climate))
    const live = isThere(keyText({ group: 'simulation.setpoint.dev', kind: 'Gadget', namespace: 'default', name }))
    const isGoing = live?.uid !== uid || live.deletionTimestamp !== undefined
    if ((begun.get(uid) ?? 0) < generation && !isGoing)
      report(`promise 5: generation ${generation} of ${name} has not begun to run`)
  }

  return {
    runBegins: ({ uid, generation }) => void begun.set(uid, Math.max(begun.get(uid) ?? 0, generation)),
    accepted: (change) => {
      if (isCalm) void expectRun(change)
    },
  }
}

/** Slower calls than this make the runs of other objects longer than any wait that could be told from them. */
const quickMs = 200

/** The stream's lag, a run that is under way, the calls on the way, and other objects that run first. */
function boundMs({ streamLagMsMax, streamRepeats }: Climate): number {
  return 40_000 + 2 * streamLagMsMax + streamRepeats * 60_000
}
