import { conditionOf } from '../../../shared/model/conditions.ts'
import type { StoredObject } from '../../../shared/model/stored-object.ts'
import { echo, objectBytes } from '../kinds/trunk.ts'
import { isExcused, named, objectsOf, specOf, type Checker, type Scene } from './checker.ts'

/**
 * Promise 1 of what may be too large for its status: where there is room, it says what it has observed; where there is
 * none, the conditions say so, or an Event if there is no room for these either; and nothing is tried again and again.
 */
export function createTrunks(scene: Scene): Checker {
  const { table } = scene
  /** The uids of objects of which an Event says that they are too large. */
  const told = new Set<string>()

  const wrongWith = (stored: StoredObject): string | undefined => {
    const { metadata, status = {}, ...rest } = stored.object
    const isObserved = status['observedGeneration'] === metadata.generation
    const isReported = status['value'] === specOf(stored)['value'] && status['echo'] === echo
    const leftBytes = objectBytes - JSON.stringify({ metadata, ...rest }).length
    if (isObserved && isReported) return undefined
    if (leftBytes > statusBytes) return `has room for its status (${leftBytes} bytes): ${JSON.stringify(status)}`
    const isTold = isObserved
      ? sayings.test(conditionOf(stored.object, 'Stalled')?.message ?? '')
      : told.has(metadata.uid)
    return isTold ? undefined : `has no room for its status (${leftBytes} bytes), and nothing says so`
  }

  return {
    write: ({ type, after: { object } }) => {
      if (object.kind !== 'Event' || type === 'removed') return
      const { involvedObject, message } = object as unknown as Told
      if (involvedObject.uid !== undefined && sayings.test(message)) told.add(involvedObject.uid)
    },
    unmet: () =>
      isExcused(scene)
        ? []
        : objectsOf(table, 'Trunk').flatMap((stored) => {
            const wrong = wrongWith(stored)
            return wrong === undefined ? [] : [`trunks: ${named(stored)} ${wrong}`]
          }),
  }
}

interface Told {
  readonly involvedObject: { readonly uid?: string }
  readonly message: string
}

const sayings = /would take \d+ bytes, the limit is \d+/

/** A status with its conditions takes less. */
const statusBytes = 2_500
