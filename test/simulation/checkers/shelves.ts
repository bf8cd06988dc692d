import { conditionOf } from '../../../shared/model/conditions.ts'
import type { StoredObject } from '../../../shared/model/stored-object.ts'
import { boxOf, boxValue, latePlace, wayOf } from '../kinds/shelf.ts'
import { isClear, isExcused, named, objectsOf, specOf, type Checker, type Scene } from './checker.ts'

/**
 * Promises 1, 2 and 3 of an object that keeps its children by hand, and whose author makes mistakes: a run that ends
 * oddly has failed, is told, and is tried again; nothing of its status is stored that its kind does not have; what it
 * does after its end is refused; and in the end the children are as declared.
 */
export function createShelves(scene: Scene): Checker {
  const { table, scenario, report } = scene
  /** The generations that a run has ended well for, by uid. */
  const good = new Map<string, Set<number>>()

  const lookAtStatus = (after: StoredObject): void => {
    const { status = {}, metadata } = after.object
    const { observedGeneration: observed, boxes, extra } = status
    const isExhausted = wayOf(Number(specOf(after)['value'])) === 'exhausts'
    if (boxes !== undefined && typeof boxes !== 'number')
      report(`shelves: ${named(after)} has a status that does not fit its kind: ${String(boxes)}`)
    if (extra !== undefined) report(`shelves: ${named(after)} has a field in its status that its kind does not have`)
    const isNews = observed === metadata.generation && metadata.deletionTimestamp === undefined
    if (isNews && !isExhausted && good.get(metadata.uid)?.has(metadata.generation) !== true)
      report(`shelves: ${named(after)} observed generation ${String(observed)}, of which no run has ended well`)
  }

  const wrongWith = (stored: StoredObject): string | undefined => {
    const { uid, name } = stored.object.metadata
    const { value, size } = stored.object.spec as { readonly value: number; readonly size: number }
    const boxes = objectsOf(table, 'ConfigMap').filter(({ object }) =>
      object.metadata.ownerReferences?.some((owner) => owner.uid === uid),
    )
    const said = new Map(boxes.map(({ object }) => [object.metadata.name, dataOf(object)]))
    const isThere = (place: number): boolean => said.get(boxOf(name, place)) === boxValue({ value }, place)
    const missing = Array.from({ length: size }, (_, place) => place).filter((place) => !isThere(place))
    const isExhausted = wayOf(value) === 'exhausts'
    // Whose few runs met trouble on their way to the boxes has none left.
    const isSpent = isExhausted && !isClear(scenario)
    if (!isSpent && (missing.length > 0 || said.size !== size))
      return `has ${JSON.stringify([...said])}, and ${String(missing)} are not as they should be`
    const stalled = conditionOf(stored.object, 'Stalled')
    if (isExhausted && stalled?.reason !== 'RetriesExhausted') return 'is tried again and again, or for nothing'
    if (isExhausted) return undefined
    if (stored.object.status?.['boxes'] !== size) return `says ${String(stored.object.status?.['boxes'])}`
    const left = ['Broken', 'Stalled'].filter((type) => conditionOf(stored.object, type) !== undefined)
    return left.length > 0 ? `still has ${String(left)}` : undefined
  }

  return {
    write: ({ type, after }) => {
      const { kind, metadata } = after.object
      const isLate = kind === 'ConfigMap' && metadata.name.endsWith(boxOf('', latePlace))
      if (isLate) report(`shelves: ${metadata.name} is made by a call behind the end of its run`)
      if (kind === 'Shelf' && type !== 'removed') lookAtStatus(after)
    },
    runEnds: ({ kind, uid, generation }, how) => {
      if (kind === 'Shelf' && how !== 'failed') good.set(uid, new Set(good.get(uid)).add(generation))
    },
    unmet: () =>
      isExcused(scene)
        ? []
        : objectsOf(table, 'Shelf').flatMap((stored) => {
            const wrong = wrongWith(stored)
            return wrong === undefined
              ? []
              : [`promise 3, level: ${named(stored)} ${JSON.stringify(specOf(stored))}: ${wrong}`]
          }),
  }
}

function dataOf(object: object): string | undefined {
  return (object as { readonly data?: { readonly value?: string } }).data?.value
}
