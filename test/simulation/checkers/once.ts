import type { OnceEffect } from '../runs.ts'
import { isFenceTried, type Checker, type Scene } from './checker.ts'

/**
 * What is done once is not done again once it is recorded that it ended, and whoever does it after an attempt of which
 * nobody knows the end is told so. Two turns at once may both begin.
 */
export function createOnceOnly({ scenario, report }: Scene): Checker {
  /** By uid: the value of the last attempt, and the one that is recorded as done. */
  const begun = new Map<string, number>()
  const ended = new Map<string, unknown>()

  const look = ({ uid, name, value, isTold }: OnceEffect): void => {
    if (ended.get(uid) === value) report(`once: what was done for ${value} of Gadget ${name} is done again`)
    else if (begun.get(uid) === value && !isTold)
      report(`once: what may have been done for ${value} of Gadget ${name} is done again without a word`)
  }

  return {
    write: ({ after: { object, engine } }) => {
      const { state, result } = engine.memory?.once?.['stamp'] ?? {}
      // One that began anew is recorded as such: the one before is over.
      if (state === 'done') ended.set(object.metadata.uid, result)
      else if (state === 'begun') ended.delete(object.metadata.uid)
    },
    once: (effect) => {
      if (!isFenceTried(scenario)) look(effect)
      begun.set(effect.uid, effect.value)
    },
  }
}
