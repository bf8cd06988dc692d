import { isFenceTried, type Checker, type Scene } from './checker.ts'

/**
 * Promise 8: nothing is done outside for an object before its finalizer is there, nor after it is gone. Whoever acts
 * after the end of his turn may do that, if he began while the finalizer was there: none does whose process was made
 * later.
 */
export function createEffects({ world, scenario, users, report }: Scene): Checker {
  /** Since when there is no finalizer; `held` while there is one. */
  const freeSinceMs = new Map<string, number | 'held'>()
  const names = new Map<string, string>()
  /** When the last run of an object began in a process. */
  const beganMs = new Map<string, number>()
  return {
    runBegins: ({ uid, by }) => void beganMs.set(`${uid} ${by.name}`, world.nowMs()),
    write: ({ type, after: { object } }) => {
      const { uid, name, finalizers = [] } = object.metadata
      names.set(uid, name)
      if (object.kind !== 'Gadget' && object.kind !== 'Parcel') return
      const isHeld = type !== 'removed' && finalizers.length > 0
      if (isHeld) freeSinceMs.set(uid, 'held')
      // One that was never held has been free for ever.
      else if (freeSinceMs.get(uid) !== undefined) freeSinceMs.set(uid, world.nowMs())
      else freeSinceMs.set(uid, 0)
    },
    effect: ({ what, name: uid, by }) => {
      const sinceMs = freeSinceMs.get(uid)
      // A removal whose answer was lost may be made while the clean-up is under way once more.
      const isLate = what === 'remove' && scenario.climate.unknown > 0
      if (sinceMs === undefined || sinceMs === 'held' || isLate) return
      if (isFenceTried(scenario) && by.bornMs <= sinceMs) return
      // Somebody took it away by hand, from a run that was under way, or had just put it there.
      const begunMs = beganMs.get(`${uid} ${by.name}`) ?? Infinity
      if (users.meddled.unleashed.has(uid) && begunMs <= sinceMs + beginningMsMax) return
      report(`promise 8, effects: ${by.name} does a ${what} outside for ${names.get(uid)}, which has no finalizer`)
    },
  }
}

/** So long a turn may take from its write of the finalizer to its run: a call, and a process that stands still. */
const beginningMsMax = 60_000
