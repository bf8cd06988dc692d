import { conditionOf } from '../../../shared/model/conditions.ts'
import { isPaused } from '../../../shared/model/control-annotations.ts'
import { keyOf, keyText } from '../../../shared/model/object-key.ts'
import type { StoredObject } from '../../../shared/model/stored-object.ts'
import { runKinds, type KindName } from '../scenario.ts'
import {
  isLinedUp,
  isPoisoned,
  isRoomy,
  isSeenOff,
  named,
  objectsOf,
  promptMs,
  type Checker,
  type Scene,
} from './checker.ts'

/** Nothing is done for a paused object, clean-up included. It says that it is paused, and no longer than it is. */
export function createPause({ world, scenario, table, report }: Scene): Checker {
  const isTold = isRoomy(scenario) && !isPoisoned(scenario)
  /** How often an object was paused. */
  const pauses = new Map<string, number>()
  const says = ({ object }: StoredObject): boolean => conditionOf(object, 'Paused')?.status === 'True'

  return {
    runBegins: ({ phase, kind, name, isPaused: isSo, by }) => {
      // Of one that is gone nobody could end the pause.
      if (isSo && !(kind === 'Witness' && phase === 'cleanup'))
        report(`pause: ${by.name} runs ${kind} ${name}, which is paused`)
    },
    write: ({ type, before, after }) => {
      const isAway = after.object.kind === scenario.absent?.kind
      if (!isTold || isAway || type !== 'modified' || before === undefined) return
      if (isPaused(before.object) || !isPaused(after.object)) return
      const { uid } = after.object.metadata
      const nth = (pauses.get(uid) ?? 0) + 1
      pauses.set(uid, nth)
      const { debounceSeconds = 0 } = scenario.slowed?.[after.object.kind as KindName] ?? {}
      world.after(promptMs(scenario, world.nowMs()) + debounceSeconds * 1_000, () => {
        const live = table.items.get(keyText(keyOf(after.object)))
        // Who waits for a limit would not run any sooner: no change ends that wait.
        if (live?.engine.wait?.kind === 'RateLimited' || isLinedUp(scenario, after.object.kind)) return
        if (isSeenOff(scenario, { kind: after.object.kind, name: after.object.metadata.name })) return
        if (pauses.get(uid) !== nth) return
        if (live?.object.metadata.uid === uid && isPaused(live.object) && !says(live))
          report(`pause: ${named(live)} is paused and does not say so`)
      })
    },
    unmet: () =>
      objectsOf(table, ...runKinds).flatMap((stored) =>
        says(stored) && !isPaused(stored.object) ? [`pause: ${named(stored)} says it is paused, and is not`] : [],
      ),
  }
}
