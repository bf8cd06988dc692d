import type { Run } from '../runs.ts'
import { beginMs } from '../world.ts'
import { textOf } from '../addresses.ts'
import { isFoundOutside } from '../kinds/parcel.ts'
import { isRetained } from './holders.ts'
import { isFenceTried, type Checker, type Scene } from './checker.ts'

/** Promise 8: what was deleted goes, its entity outside and its children with it; nothing is left of anything. */
export function createDeletion({ world, scenario, table, outside, users }: Scene): Checker {
  /** Nothing but the stream tells of these: where records are set aside, nobody may have heard. */
  const untold = new Set<string>()
  /** What was made for these is to stay. */
  const kept = new Set<string>()
  /** When the last one was put outside, and when the last clean-up began that said it was done. */
  const putMs = new Map<string, number>()
  const cleanedMs = new Map<string, number>()
  const began = new Map<Run, number>()
  /** Somebody put it there behind the clean-up, after the end of his turn: nobody can fence that. */
  const isPutBehind = (uid: string): boolean =>
    isFenceTried(scenario) && (putMs.get(uid) ?? 0) >= (cleanedMs.get(uid) ?? Infinity)
  const isTrimmed = scenario.climate.streamRetriesMax < 100

  /** Its controller is away, or will be before it is told: what is removed then it has not seen. */
  const isUnheard = (): boolean => {
    const { kind, fromMs, untilMs } = scenario.absent ?? { kind: '', fromMs: 0, untilMs: 0 }
    const sinceMs = world.nowMs() - beginMs
    return kind === 'Witness' && sinceMs > fromMs - lateMsMax && sinceMs < untilMs
  }

  return {
    effect: ({ what, name: uid }) => {
      if (what === 'put') putMs.set(uid, world.nowMs())
    },
    runBegins: (run) => void began.set(run, world.nowMs()),
    runEnds: (run, how) => {
      const atMs = began.get(run) ?? 0
      began.delete(run)
      if (run.phase !== 'cleanup' || how !== 'done') return
      cleanedMs.set(run.uid, Math.max(atMs, cleanedMs.get(run.uid) ?? 0))
    },
    write: ({ type, after: { object } }) => {
      if (object.metadata.deletionTimestamp !== undefined && isRetained(object)) kept.add(object.metadata.uid)
      if ((isTrimmed || isUnheard()) && type === 'removed' && object.kind === 'Witness') untold.add(object.metadata.uid)
    },
    unmet: () => {
      const uids = new Set([...table.items.values()].map(({ object }) => object.metadata.uid))
      const leaks = [...outside.entities.keys()].filter(
        (uid) =>
          !uids.has(uid) &&
          !isFoundOutside(uid) &&
          !untold.has(uid) &&
          !isPutBehind(uid) &&
          !kept.has(uid) &&
          !users.meddled.unleashed.has(uid),
      )
      const orphans = [...table.items].filter(([, { object }]) => {
        const { ownerReferences: owners = [] } = object.metadata
        // An owner of a kind that nobody has defined any more may be anywhere.
        return owners.length > 0 && owners.every(({ uid, kind }) => !uids.has(uid) && kind !== 'Tool')
      })
      const undeleted = [...users.expectations.values()].filter(
        ({ kind, name, namespace, mayExist }) => !mayExist && table.items.has(textOf(kind, name, namespace)),
      )
      const going = [...table.items.values()].filter(({ object }) => object.metadata.deletionTimestamp !== undefined)
      return [
        ...leaks.map((uid) => `promise 8, deletion: an entity outside is left of ${uid}`),
        ...orphans.map(([text]) => `promise 8, deletion: ${text} outlived its owner`),
        ...undeleted.map(({ kind, name }) => `promise 8, deletion: ${kind} ${name} was deleted and is there`),
        ...going.map(({ object }) => `promise 8, deletion: ${object.kind} ${object.metadata.name} does not go`),
      ]
    },
  }
}

/** How long it may take until a change is told: a relay may fail, or stand still. */
const lateMsMax = 1_200_000
