import { notEndedReason } from '../../../shared/engine/dead-letter.ts'
import { conditionOf, conditionsOf, isCondition } from '../../../shared/model/conditions.ts'
import { isClear, isFenceTried, isPoisoned, named, objectsOf, specOf, type Checker, type Scene } from './checker.ts'

/**
 * Promise 10: a bad object says what is wrong with it, and a hot loop is slowed down. That others do not wait for it is looked
 * at with promise 5.
 */
export function createIsolation({ world, scenario, table, calmSinceMs, report }: Scene): Checker {
  /** By process and object. */
  const lastRunsMs = new Map<string, readonly number[]>()
  return {
    write: ({ before, after }) => {
      const isNews = hasNotEnded(after) && (before === undefined || !hasNotEnded(before))
      if (isNews && isClear(scenario) && !isFenceTried(scenario) && !isPoisoned(scenario))
        report(`promise 10, isolation: ${named(after)} is Stalled as if its runs did not end, and all of them did`)
    },
    runBegins: ({ isPoison, kind, name, uid, by }) => {
      if (!isPoison || calmSinceMs() === undefined) return
      const id = `${by.name} ${uid}`
      const lastMs = [...(lastRunsMs.get(id) ?? []), world.nowMs()].slice(-spinsMax)
      lastRunsMs.set(id, lastMs)
      if (lastMs.length === spinsMax && world.nowMs() - (lastMs[0] ?? 0) < spinsWithinMs)
        report(`promise 10, isolation: ${kind} ${name} runs ${spinsMax} times in three minutes in one process`)
    },
    unmet: () =>
      objectsOf(table, 'Gadget').flatMap((stored) => {
        const { mood } = specOf(stored)
        const isTold = mood === 'crash' ? isCondition(stored.object, 'Stalled') : isUnready(stored)
        const mustTell = mood === 'crash' || mood === 'fail'
        return mustTell && !isTold ? [`promise 10, isolation: ${named(stored)} does not say what is wrong with it`] : []
      }),
  }
}

function hasNotEnded({ object }: Parameters<typeof specOf>[0]): boolean {
  return conditionOf(object, 'Stalled')?.reason === notEndedReason
}

/**
 * An object may run a hundred times at once and once a second after that, in every process: two processes that run it no faster never
 * find a loop, for hours. What goes past it has to go past it in one process, for one object.
 */
const spinsMax = 300
const spinsWithinMs = 180_000

function isUnready({ object }: Parameters<typeof specOf>[0]): boolean {
  return conditionsOf(object).some(({ type, status }) => type === 'Ready' && status === 'False')
}
