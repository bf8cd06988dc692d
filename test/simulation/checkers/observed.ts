import type { StoredObject } from '../../../shared/model/stored-object.ts'
import type { Outside } from '../gadget.ts'

/** Promise 1: a status that says it observed a generation speaks the truth about the world, at the moment it is written. */
export function createObservedChecker(outside: Outside, report: (violation: string) => void) {
  return (before: StoredObject | undefined, { object }: StoredObject): void => {
    const observed = object.status?.['observedGeneration']
    const isNews = observed === object.metadata.generation && before?.object.status?.['observedGeneration'] !== observed
    if (!isNews || object.kind !== 'Gadget' || object.metadata.deletionTimestamp !== undefined) return
    const found = outside.entities.get(object.metadata.uid)
    if (found !== object.spec?.['value']) {
      report(
        `promise 1: ${object.metadata.name} says it observed generation ${observed}, but outside is ${String(found)}`,
      )
    }
  }
}
