import type { Run } from '../runs.ts'
import { isClear, isFenceTried, isPoisoned, type Checker, type Scene } from './checker.ts'

/** What the last good run of an object reports. */
interface Reported {
  readonly run: Run
  /** It was seen in the object. */
  isStored: boolean
}

/**
 * Promise 6: what a run reports is there for the next one, however soon something else wakes the object. Told where
 * nothing goes wrong that keeps a report from being written; a new generation may come between. Where each call takes
 * seconds, the time of a process may be over before it has written the report.
 */
export function createOwnWrites({ scenario, report }: Scene): Checker {
  const isTold = isClear(scenario) && !isFenceTried(scenario) && !isPoisoned(scenario)
  const reported = new Map<string, Reported>()

  const look = ({ kind, name, uid, generation, spec, status, by }: Run): void => {
    const last = reported.get(uid)
    if (last?.run.generation !== generation || (last.run.by.isDead() && !last.isStored)) return
    const [wanted, given] = [valueOf(spec), valueOf(status)]
    const { observedGeneration } = status as { readonly observedGeneration?: number }
    if (given !== wanted || observedGeneration !== generation)
      report(
        `promise 6, own writes: ${by.name} is given ${kind} ${name} with the status ${String(given)} of generation ${String(observedGeneration)}, and the last run reported ${String(wanted)} of ${generation}`,
      )
  }

  return {
    runBegins: (run) => {
      if (isTold && isLookedAt(run)) look(run)
    },
    runEnds: (run, how) => {
      if (how !== 'failed' && isLookedAt(run)) reported.set(run.uid, { run, isStored: false })
    },
    write: ({ after: { object } }) => {
      const last = reported.get(object.metadata.uid)
      if (last !== undefined && object.status?.observedGeneration === last.run.generation) last.isStored = true
    },
  }
}

function isLookedAt({ phase, kind }: Run): boolean {
  return phase === 'reconcile' && (kind === 'Gadget' || kind === 'Witness')
}

function valueOf(part: object): unknown {
  return (part as { readonly value?: unknown }).value
}
