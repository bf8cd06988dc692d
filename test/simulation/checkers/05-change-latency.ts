import { beginMs } from '../world.ts'
import { isDeleting } from '../../../shared/model/object.ts'
import { isPaused } from '../../../shared/model/control-annotations.ts'
import type { KindName } from '../scenario.ts'
import { textOf } from '../addresses.ts'
import type { AcceptedWrite } from '../users.ts'
import { isLinedUp, isPoisoned, isRoomy, isSeenOff, promptMs, type Checker, type Scene } from './checker.ts'

/**
 * Promise 5: a user's change never waits behind a backoff, whatever the object waits for. Promise 10: nor behind
 * objects that take their workers down. Told where nothing goes wrong but those, and where there is room for all.
 */
export function createChangeLatency({ world, scenario, table, report }: Scene): Checker {
  const { climate, steps, slowed = {} } = scenario
  /** When objects were last written that were paused, or had been. */
  const pausedMs = new Map<string, number>()
  /** Until when the message of a removed object is hidden by a rate limit: the next of its name comes behind it. */
  const linedUntilMs = new Map<string, number>()
  const hasPoison = isPoisoned(scenario)
  // A poisoned key holds one of the workers, and with it what came in one batch with it.
  const mayWait = hasPoison && (climate.queueBatch > 1 || climate.concurrency < 10)
  const isTold = isRoomy(scenario) && !mayWait
  const begun = new Map<string, number>()
  const promise = hasPoison ? 'promise 10, isolation' : 'promise 5, change latency'

  async function expectRun({ kind, name, namespace, uid, generation }: AcceptedWrite): Promise<void> {
    await world.sleep(promptMs(scenario, world.nowMs()) + debounceMs(kind))
    const { object: live, engine } = table.items.get(textOf(kind, name, namespace)) ?? {}
    const isGoing = live?.metadata.uid !== uid || isDeleting(live)
    const isPoison = ['crash', 'hang', 'spin'].includes(String(live?.spec?.['mood']))
    // That it runs when its turn has come, promise 6 looks at.
    const isBehind = (linedUntilMs.get(textOf(kind, name, namespace)) ?? -Infinity) >= world.nowMs()
    const isInLine = engine?.wait?.kind === 'RateLimited' || isLinedUp(scenario, kind) || isBehind
    // What was there before has run, though nobody has seen it.
    const hasRun = kind === 'Relic' && Number(live?.status?.['observedGeneration']) >= generation
    const isStill = (live !== undefined && isPaused(live)) || wasPaused(uid, kind)
    if ((begun.get(uid) ?? 0) < generation && !isGoing && !isPoison && !isInLine && !isStill && !hasRun)
      report(`${promise}: generation ${generation} of ${kind} ${name} has not begun to run`)
  }

  /** At any time since the change could have begun to run. */
  const wasPaused = (uid: string, kind: string): boolean =>
    world.nowMs() - (pausedMs.get(uid) ?? -Infinity) <= promptMs(scenario, world.nowMs()) + debounceMs(kind)

  const debounceMs = (kind: string): number => (slowed[kind as KindName]?.debounceSeconds ?? 0) * 1_000

  /** Nobody is there to run it, or will not be in a moment. */
  const isAway = (kind: string): boolean => {
    const { absent } = scenario
    const sinceMs = world.nowMs() - beginMs
    return kind === absent?.kind && sinceMs < absent.untilMs && sinceMs > absent.fromMs - 60_000
  }

  return {
    write: ({ type, before, after: { object, engine } }) => {
      const { name, namespace } = object.metadata
      if (type === 'removed' && engine.wait?.kind === 'RateLimited')
        linedUntilMs.set(textOf(object.kind as KindName, name, namespace), engine.wait.atMs)
      if (isPaused(object) || (before !== undefined && isPaused(before.object)))
        pausedMs.set(object.metadata.uid, world.nowMs())
    },
    runBegins: ({ uid, generation }) => void begun.set(uid, Math.max(begun.get(uid) ?? 0, generation)),
    accepted: (change) => {
      const isRun = !['ConfigMap', 'Crate', 'Kit', 'Tool', 'Namespace', 'Definition'].includes(change.kind)
      const wasPoisoned = hasPoison && steps.some(({ name, mood }) => name === change.name && poison.includes(mood))
      if (isTold && isRun && !isAway(change.kind) && !wasPoisoned && !isSeenOff(scenario, change))
        void expectRun(change)
    },
  }
}

const poison: readonly string[] = ['crash', 'hang', 'spin']
