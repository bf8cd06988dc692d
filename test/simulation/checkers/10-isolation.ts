import { notEnded } from '../../../shared/engine/state/stalled-state.ts'
import { conditionOf, conditionsOf, isCondition } from '../../../shared/model/conditions.ts'
import type { Life } from '../life.ts'
import type { Run } from '../runs.ts'
import { isClear, isFenceTried, isPoisoned, named, objectsOf, specOf, type Checker, type Scene } from './checker.ts'

/**
 * Promise 10: a bad object says what is wrong with it, and a hot loop is slowed down. That others do not wait for it is
 * looked at with promise 5.
 */
export function createIsolation({ world, scenario, table, calmSinceMs, report }: Scene): Checker {
  const takenDown = createTakenDown()
  const unended = createUnended()
  /** By process and object. */
  const lastRunsMs = new Map<string, readonly number[]>()
  return {
    write: ({ before, after }) => {
      const isNews = hasNotEnded(after) && (before === undefined || !hasNotEnded(before))
      if (isNews && scenario.local !== undefined && unended.endsOf(named(after)) < endsMin)
        report(`promise 10, isolation: ${named(after)} is Stalled as if its runs did not end, and one has`)
      if (isNews && isClear(scenario) && !isFenceTried(scenario) && !isPoisoned(scenario))
        report(`promise 10, isolation: ${named(after)} is Stalled as if its runs did not end, and all of them did`)
    },
    runBegins: (run) => {
      const { isPoison, kind, name, uid, by } = run
      unended.begins(run)
      const isTooMany = takenDown.begins(run) === deathsMax
      if (isTooMany && !isFenceTried(scenario) && scenario.local?.reloads !== true)
        report(`promise 10, isolation: a poisoned object took ${kind} ${name} down with it ${deathsMax} times in a row`)
      if (!isPoison || calmSinceMs() === undefined) return
      const id = `${by.name} ${uid}`
      const lastMs = [...(lastRunsMs.get(id) ?? []), world.nowMs()].slice(-spinsMax)
      lastRunsMs.set(id, lastMs)
      if (lastMs.length === spinsMax && world.nowMs() - (lastMs[0] ?? 0) < spinsWithinMs)
        report(`promise 10, isolation: ${kind} ${name} runs ${spinsMax} times in three minutes in one process`)
    },
    runEnds: (run) => {
      takenDown.ends(run)
      unended.ends(run)
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

/**
 * A message that was held r times before is known to have been lost once it was lost more than 2/7 r times, since a
 * hold is for a minute at most and a visibility timeout is four and a half: after three times at the latest it is run
 * apart.
 */
const deathsMax = 5

/** How often in a row an object's runs ended with a process that another, poisoned one took down. */
function createTakenDown() {
  const poisoned = new Set<Life>()
  const last = new Map<string, { readonly by: Life; readonly deaths: number }>()
  return {
    begins: ({ uid, by, isPoison, spec }: Run): number => {
      if (isPoison) {
        if ((spec as { readonly mood?: unknown }).mood === 'crash') poisoned.add(by)
        return 0
      }
      const before = last.get(uid)
      const isDeath = before !== undefined && before.by.isDead() && poisoned.has(before.by)
      const deaths = isDeath ? before.deaths + 1 : 0
      last.set(uid, { by, deaths })
      return deaths
    },
    ends: ({ uid }: Run): void => void last.delete(uid),
  }
}

/** On one machine an object is given up behind so many ends of the process in a row while it ran. */
const endsMin = 3

/**
 * In how many processes in a row runs of this name were under way, none of which came to its end. Those that had the
 * name before run ahead of an object, and it waits with them.
 */
function createUnended() {
  const begun = new Map<string, Set<Life>>()
  const textOf = ({ kind, name }: Run): string => `${kind} ${name}`
  return {
    begins: (run: Run): void => {
      const text = textOf(run)
      begun.set(text, (begun.get(text) ?? new Set<Life>()).add(run.by))
    },
    ends: (run: Run): void => void begun.delete(textOf(run)),
    endsOf: (text: string): number => [...(begun.get(text) ?? [])].filter((life) => life.isDead()).length,
  }
}

function hasNotEnded({ object }: Parameters<typeof specOf>[0]): boolean {
  return conditionOf(object, 'Stalled')?.reason === notEnded.reason
}

/**
 * An object may run a hundred times at once and once a second after that, in every process: two processes that run it
 * no faster never find a loop, for hours. What goes past it has to go past it in one process, for one object.
 */
const spinsMax = 300
const spinsWithinMs = 180_000

function isUnready({ object }: Parameters<typeof specOf>[0]): boolean {
  return conditionsOf(object).some(({ type, status }) => type === 'Ready' && status === 'False')
}
