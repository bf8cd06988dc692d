import type { StoredObject } from '../../../shared/model/stored-object.ts'
import { isClear, isExcused, named, objectsOf, type Checker, type Scene } from './checker.ts'

/**
 * What an object expects in time is met, or its time is over and it says so: no sooner, and without a change that wakes
 * it. What has come true is expected no longer.
 */
export function createExpectations(scene: Scene): Checker {
  const { world, scenario, table, report } = scene

  const early = (stored: StoredObject): void => {
    const untilMs = deadlineOf(stored)
    if (untilMs !== undefined && answerOf(stored) === 'timedOut' && world.nowMs() < untilMs)
      report(`expectations: ${named(stored)} gives up ${(untilMs - world.nowMs()) / 1_000} s before its time is over`)
  }

  const wrongWith = (stored: StoredObject): string | undefined => {
    const [untilMs, answer] = [deadlineOf(stored), answerOf(stored)]
    if (untilMs === undefined) return answer === 'met' ? undefined : `expects nothing, and says ${String(answer)}`
    if (untilMs > world.nowMs()) return `expects something until ${(untilMs - world.nowMs()) / 1_000} s from now`
    return answer === 'timedOut' ? undefined : `says ${String(answer)}, and its time is over`
  }

  return {
    write: ({ after }) => {
      if (after.object.kind === 'Errand' && isClear(scenario)) early(after)
    },
    unmet: () =>
      objectsOf(table, 'Errand').flatMap((stored) => {
        const wrong = isExcused(scene) ? undefined : wrongWith(stored)
        return wrong === undefined ? [] : [`expectations: ${named(stored)} ${wrong}`]
      }),
  }
}

function deadlineOf({ engine }: StoredObject): number | undefined {
  return engine.memory?.expectations?.['Answered']
}

function answerOf({ object }: StoredObject): unknown {
  return object.status?.['answer']
}
