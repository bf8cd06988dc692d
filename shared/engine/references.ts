import { keyOf, keyText, type ObjectKey } from '../model/object-key.ts'
import type { ApiObject } from '../model/object.ts'
import { touches } from '../model/stored-object.ts'
import type { Change } from '../ports/change-feed.ts'
import type { ObjectIndex } from '../ports/object-index.ts'
import type { Controller } from './controller.ts'
import { isOf } from './kind.ts'

/**
 * Who refers to whom, for all controllers at once: primaries to the objects they name, watched objects to the primaries
 * they map to. Kept in the index, since what an object referred to before cannot be told from what it is now.
 */
export interface References {
  /** Notes what an object refers to now, in addition to before; the difference is given back. */
  note(change: Change): Promise<Noted>
}

export interface Noted {
  /** What the object referred to before, and does no more. */
  readonly dropped: readonly ObjectKey[]
  /** Forgets what is dropped: once those that it concerns have been woken. */
  forget(): Promise<void>
}

const nothing: Noted = { dropped: [], forget: async () => {} }

export function createReferences(controllers: readonly Controller[], index: ObjectIndex): References {
  const functionsFor = (object: ApiObject): readonly ((object: ApiObject) => readonly ObjectKey[])[] =>
    controllers.flatMap(({ kind, references, maps }) => [
      ...(isOf(object, kind) ? references.map(({ targets }) => targets) : []),
      ...maps.filter((map) => isOf(object, map.kind)).map(({ primaries }) => primaries),
    ])

  return {
    note: async ({ type, touched, stored: { object } }) => {
      const functions = type === 'removed' || isEnginesOwn(touched) ? [] : functionsFor(object)
      if (functions.length === 0) return nothing
      const key = keyOf(object)
      const wanted = functions.flatMap((find) => find(object))
      const isWanted = new Set(wanted.map(keyText))
      const dropped = (await index.references(key)).filter((target) => !isWanted.has(keyText(target)))
      await index.setReferences(key, [...wanted, ...dropped])
      return dropped.length === 0 ? nothing : { dropped, forget: () => index.setReferences(key, wanted) }
    },
  }
}

function isEnginesOwn(touched: Change['touched']): boolean {
  return !touches(touched, 'spec', 'labels', 'annotations', 'control', 'meta', 'status', 'delete')
}
