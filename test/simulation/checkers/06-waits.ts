import { dueAtMs, type StoredObject } from '../../../shared/model/stored-object.ts'
import type { Run } from '../runs.ts'
import { isFenceTried, isPoison, named, objectsOf, specOf, type Checker, type Scene } from './checker.ts'

/**
 * Promise 6: attempts and timers are fields of the object, and no crash loses them. A count of failures goes down only after a
 * run that did not fail, or with a new generation; what wants to run again says when; no timer is overdue.
 */
export function createWaits({ world, scenario, table, report }: Scene): Checker {
  /** Objects that had a good run since their count was last written. */
  const good = new Set<string>()
  const hasPaused = new Set(['stop'])

  const attempts = (before: StoredObject, after: StoredObject, by: string): void => {
    const { uid, generation } = after.object.metadata
    const isSame = before.engine.generation === generation && before.object.metadata.generation === generation
    const [was, is] = [before.engine.attempt ?? 0, after.engine.attempt ?? 0]
    const mayFall = good.has(uid) || hasPaused.has(String(specOf(after)['mood'])) || isFenceTried(scenario)
    if (isSame && is < was && !mayFall)
      report(`promise 6, waits: the failures of ${named(after)} go from ${was} to ${is} without a good run`)
    // A dead letter is no run.
    if (is > was && !by.startsWith('deadletter')) good.delete(uid)
  }

  return {
    write: ({ type, before, after, by }) => {
      if (type === 'modified' && before !== undefined) attempts(before, after, by.name)
    },
    runEnds: ({ uid }: Run, isGood) => {
      if (isGood) good.add(uid)
    },
    unmet: () =>
      objectsOf(table, 'Gadget', 'Link', 'Crate', 'Witness').flatMap((stored) => {
        const { engine } = stored
        const atMs = dueAtMs(engine)
        const wants = ['hurry', 'poll', 'nap', 'fail'].includes(String(specOf(stored)['mood']))
        if (wants && atMs === undefined)
          return [`promise 6, waits: ${named(stored)} wants to run again and has no timer`]
        const isLate = atMs !== undefined && atMs < world.nowMs() - overdueMs && !isPoison(stored)
        return isLate ? [`promise 6, waits: ${named(stored)} is overdue by ${(world.nowMs() - atMs) / 1_000} s`] : []
      }),
  }
}

/** A tick, a run, and a message that comes again after its visibility timeout. */
const overdueMs = 300_000
