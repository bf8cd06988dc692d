import { notEndedReason } from '../../../shared/engine/dead-letter.ts'
import { conditionOf, conditionsOf, isCondition } from '../../../shared/model/conditions.ts'
import { isClear, isFenceTried, isPoisoned, named, objectsOf, specOf, type Checker, type Scene } from './checker.ts'

/**
 * Promise 10: a bad object says what is wrong with it, and a hot loop is slowed down. That others do not wait for it is looked
 * at with promise 5.
 */
export function createIsolation({ world, scenario, table, calmSinceMs, report }: Scene): Checker {
  const spins = new Map<number, number>()
  return {
    write: ({ before, after }) => {
      const isNews = hasNotEnded(after) && (before === undefined || !hasNotEnded(before))
      if (isNews && isClear(scenario) && !isFenceTried(scenario) && !isPoisoned(scenario))
        report(`promise 10, isolation: ${named(after)} is Stalled as if its runs did not end, and all of them did`)
    },
    runBegins: ({ isPoison, kind, name }) => {
      if (!isPoison || calmSinceMs() === undefined) return
      const hour = Math.floor(world.nowMs() / 3_600_000)
      const count = (spins.get(hour) ?? 0) + 1
      spins.set(hour, count)
      if (count === spinsMax)
        report(`promise 10, isolation: ${kind} ${name} runs for the ${spinsMax}th time in an hour`)
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

/** A burst of a hundred per process, and probes. */
const spinsMax = 1_500

function isUnready({ object }: Parameters<typeof specOf>[0]): boolean {
  return conditionsOf(object).some(({ type, status }) => type === 'Ready' && status === 'False')
}
