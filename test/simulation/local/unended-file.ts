import type { Controller } from '../../../shared/index.ts'
import { createUnendedRuns, type UnendedCounts } from '../../../shared/runtime/local/unended-runs.ts'
import type { GivingUp } from '../../../shared/engine/loops/give-up.ts'
import type { Life } from '../life.ts'
import type { World } from '../world.ts'

/** The runs of one process, beside the file that says in how many ends of the process each was under way. */
export interface UnendedRunsOfLife {
  /** The same process, as its runs see it: one of them may end it, as `process.exit` does. */
  readonly life: Life
  follow(controllers: readonly Controller[]): readonly Controller[]
  takeGivenUp(): GivingUp
}

/**
 * The file of one process after the other. It is written as that of `npm start` is: when a run ends its process, and
 * soon after a run that was counted was given up or came to its end. A process that is killed writes nothing.
 */
export function createUnendedFile(world: World): (life: Life, end: (where: string) => void) => UnendedRunsOfLife {
  let kept: UnendedCounts = new Map()
  return (life, end) => {
    const keep = (counts: UnendedCounts): void => {
      if (!life.isDead()) kept = new Map(counts)
    }
    const runs = createUnendedRuns(kept, () => void setImmediate(() => keep(runs.counts())))
    return {
      life: {
        ...life,
        kill: (where) => {
          if (life.isDead()) return
          world.fault('ended by a run')
          keep(runs.countsAtEnd())
          end(where)
        },
      },
      follow: runs.follow,
      takeGivenUp: runs.takeGivenUp,
    }
  }
}
