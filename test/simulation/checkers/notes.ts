import type { NoteStep } from '../runs.ts'
import { isClear, isExcused, isFenceTried, isPoisoned, named, objectsOf, specOf } from './checker.ts'
import type { Checker, Scene } from './checker.ts'

/**
 * What a run notes is there for later runs: from the moment that `keep` has resolved on, whatever happens, and where
 * nothing goes wrong since the run's end. What a run expects is kept beside its notes.
 */
export function createNotes(scene: Scene): Checker {
  const { scenario, table, users, report } = scene
  const isTold = isClear(scenario) && !isFenceTried(scenario) && !isPoisoned(scenario)
  /** What later runs must be told, by uid: one of these. */
  const noted = new Map<string, Set<number>>()
  /** Of these nobody asked to have them kept. */
  const unkept = new Set<string>()
  /** Who says by hand that a later generation is observed ends the runs of earlier ones, and what they note is lost. */
  const isLost = (uid: string): boolean => unkept.has(uid) && users.meddled.dubbed.has(uid)

  const look = ({ uid, name, told }: NoteStep): void => {
    const possible = noted.get(uid)
    if (possible === undefined || possible.has(Number(told)) || isLost(uid)) return
    report(`notes: a run of Errand ${name} is told ${String(told)}, and ${[...possible].join(' or ')} was noted`)
  }

  return {
    notes: (step) => {
      if (isFenceTried(scenario)) return
      const { uid, value } = step
      if (step.step === 'told') look(step)
      // Whether the run gets to its end nobody knows: what it was told may be what the next one is told, too.
      if (step.step === 'told') noted.get(uid)?.add(value)
      else {
        noted.set(uid, new Set([value]))
        unkept.delete(uid)
      }
    },
    runEnds: ({ kind, uid, spec }, how) => {
      if (!isTold || kind !== 'Errand' || how === 'failed') return
      noted.set(uid, new Set([valueOf(spec)]))
      unkept.add(uid)
    },
    unmet: () =>
      objectsOf(table, 'Errand').flatMap((stored) => {
        const { value } = specOf(stored)
        const { notes } = stored.engine.memory ?? {}
        if (notes?.['value'] === value || isExcused(scene)) return []
        return [`notes: ${named(stored)} keeps the note ${String(notes?.['value'])}, and its value is ${String(value)}`]
      }),
  }
}

function valueOf(spec: object): number {
  return (spec as { readonly value: number }).value
}
