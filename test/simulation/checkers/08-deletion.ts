import { textOf } from '../users.ts'
import { isFenceTried, type Checker, type Scene } from './checker.ts'

/** Promise 8: what was deleted goes, its entity outside and its children with it; nothing is left of anything. */
export function createDeletion({ scenario, table, outside, users }: Scene): Checker {
  /** Nothing but the stream tells of these: where records are set aside, nobody may have heard. */
  const untold = new Set<string>()
  const isTrimmed = scenario.climate.streamRetriesMax < 100

  return {
    write: ({ type, after: { object } }) => {
      if (isTrimmed && type === 'removed' && object.kind === 'Witness') untold.add(object.metadata.uid)
    },
    unmet: () => {
      const uids = new Set([...table.items.values()].map(({ object }) => object.metadata.uid))
      // What a worker does outside after its turn is over, nobody can fence.
      const entities = isFenceTried(scenario) ? [] : [...outside.entities.keys()]
      const leaks = entities.filter((uid) => !uids.has(uid) && !untold.has(uid))
      const orphans = [...table.items].filter(([, { object }]) => {
        const owner = object.metadata.ownerReferences?.[0]
        return owner !== undefined && !uids.has(owner.uid)
      })
      const undeleted = [...users.expectations.values()].filter(
        ({ kind, name, mayExist }) => !mayExist && table.items.has(textOf(kind, name)),
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
