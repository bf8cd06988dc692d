import type { Life } from '../life.ts'
import type { Run } from '../runs.ts'
import { isExcused, type Checker, type Scene } from './checker.ts'

/** Promise 2: two runs of one key never act at the same time. A run of a process that has died acts no more. */
export function createSingleHolder(scene: Scene): Checker {
  const acting = new Map<string, Set<Life>>()
  const holdersOf = ({ kind, name }: Run): Set<Life> => {
    const key = `${kind} ${name}`
    const holders = acting.get(key) ?? new Set()
    acting.set(key, holders)
    return holders
  }
  return {
    runBegins: (run) => {
      // A run that hangs or kills its process acts no more.
      if (isExcused(scene) || run.isPoison) return
      const holders = holdersOf(run)
      const others = [...holders].filter((other) => !other.isDead())
      if (others.length > 0)
        scene.report(
          `promise 2, single holder: ${run.by.name} runs ${run.kind} ${run.name} while ${others.map(({ name }) => name).join(', ')} does`,
        )
      holders.add(run.by)
    },
    runEnds: (run) => void holdersOf(run).delete(run.by),
  }
}
