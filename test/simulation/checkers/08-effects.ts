import { isFenceTried, type Checker, type Scene } from './checker.ts'

/** Promise 8: nothing is done outside for an object before its finalizer is there, nor after it is gone. */
export function createEffects({ scenario, report }: Scene): Checker {
  const held = new Map<string, boolean>()
  const names = new Map<string, string>()
  return {
    write: ({ type, after: { object } }) => {
      names.set(object.metadata.uid, object.metadata.name)
      if (object.kind === 'Gadget')
        held.set(object.metadata.uid, type !== 'removed' && (object.metadata.finalizers ?? []).length > 0)
    },
    effect: ({ what, name: uid, by }) => {
      // A removal whose answer was lost may be made while the clean-up is under way once more.
      const isLate = what === 'remove' && scenario.climate.unknown > 0
      if (held.get(uid) !== false || isLate || by.isZombie() || isFenceTried(scenario)) return
      report(`promise 8, effects: ${by.name} does a ${what} outside for ${names.get(uid)}, which has no finalizer`)
    },
  }
}
