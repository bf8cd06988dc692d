import type { OnceEffect } from '../runs.ts'
import { isFenceTried, type Checker, type Scene } from './checker.ts'

interface End {
  readonly result: unknown
  /** Of the first state that has its record. */
  readonly version: number
}

/**
 * A run that was given the record of an effect's end does not repeat the effect. A run that repeats an effect of
 * unknown end is told so. Two turns at once may both begin. The record may be written late, by a request that seemed
 * lost: a run that was given its object before that is told of an attempt.
 */
export function createOnceOnly({ scenario, report }: Scene): Checker {
  /** By uid: the value of the last attempt, and the one that is recorded as done. */
  const begun = new Map<string, number>()
  const ended = new Map<string, End>()

  const look = ({ uid, name, value, isTold, resourceVersion }: OnceEffect): void => {
    const end = ended.get(uid)
    if (end?.result === value && Number(resourceVersion) >= end.version)
      report(`once: what was done for ${value} of Gadget ${name} is done again`)
    else if (begun.get(uid) === value && !isTold)
      report(`once: what may have been done for ${value} of Gadget ${name} is done again without a word`)
  }

  return {
    write: ({ after: { object, engine } }) => {
      const { state, result } = engine.memory?.once?.['stamp'] ?? {}
      // One that began anew is recorded as such: the one before is over.
      const { uid, resourceVersion } = object.metadata
      if (state === 'begun') ended.delete(uid)
      else if (state === 'done' && ended.get(uid)?.result !== result)
        ended.set(uid, { result, version: Number(resourceVersion) })
    },
    once: (effect) => {
      if (!isFenceTried(scenario)) look(effect)
      begun.set(effect.uid, effect.value)
    },
  }
}
