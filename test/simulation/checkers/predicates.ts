import { dueAtMs } from '../../../shared/model/engine-state.ts'
import { touches } from '../../../shared/model/stored-object.ts'
import { errandOf } from '../kinds/errand.ts'
import type { TableWrite } from '../plane.ts'
import { isRoomy, promptMs, type Checker, type Scene } from './checker.ts'

/**
 * A predicate saves runs: an Errand runs soon after a change of its own spec, of the data that it waits for, or at a
 * time that it asked for, and never else. Told where nothing goes wrong, and no resync runs it.
 */
export function createPredicates({ world, scenario, report }: Scene): Checker {
  const isTold = isRoomy(scenario) && scenario.resyncMinutes === 0 && scenario.absent === undefined
  /** When an Errand was last given a cause to run. */
  const causeMs = new Map<string, number>()
  /** When it was last due by a timer. */
  const timerMs = new Map<string, number>()
  const note = (name: string): void => void causeMs.set(name, world.nowMs())
  const sinceMs = (times: ReadonlyMap<string, number>, name: string): number =>
    world.nowMs() - (times.get(name) ?? -Infinity)

  const look = ({ type, before, after, touched }: TableWrite): void => {
    const { name } = after.object.metadata
    const isNews = type !== 'modified' || touches(touched, 'spec', 'delete')
    if (after.object.kind === 'ConfigMap' && isNews) note(errandOf(name))
    if (after.object.kind !== 'Errand') return
    if (isNews || touches(touched, 'control')) note(name)
    const dueMs = dueAtMs(after.engine)
    if (dueMs !== undefined && dueMs !== (before && dueAtMs(before.engine)))
      world.after(dueMs - world.nowMs(), () => timerMs.set(name, world.nowMs()))
  }

  return {
    write: (write) => {
      if (isTold) look(write)
    },
    runBegins: ({ kind, name }) => {
      if (!isTold || kind !== 'Errand') return
      const isCaused = sinceMs(causeMs, name) <= promptMs(scenario, world.nowMs())
      if (!isCaused && sinceMs(timerMs, name) > promptMs(scenario, world.nowMs()) + tickMs)
        report(
          `predicates: Errand ${name} runs ${sinceMs(causeMs, name) / 1_000} s after what it looks at changed last`,
        )
    },
  }
}

/** A timer is found by the next tick. */
const tickMs = 65_000
