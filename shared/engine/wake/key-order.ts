import { digest } from '../../model/digest.ts'
import { keyText, type ObjectKey } from '../../model/object-key.ts'

/**
 * An order of keys in which some of many can be woken now and the others later: a place in it is short, and stays valid
 * however many keys come and go.
 */
export interface OrderedKeys {
  readonly keys: readonly ObjectKey[]
  /** The place behind the first keys; undefined if it cannot be told from the place of the next one. */
  placeAfter(count: number): string | undefined
}

/** Those behind a place. */
export function orderKeys(keys: readonly ObjectKey[], place = ''): OrderedKeys {
  const placed = keys
    .map((key) => ({ key, place: digest(keyText(key)).slice(0, placeLength) }))
    .filter((one) => one.place > place)
    .sort((a, b) => (a.place < b.place ? -1 : 1))
  return {
    keys: placed.map(({ key }) => key),
    placeAfter: (count) => {
      const next = placed[count]?.place
      const last = placed.slice(0, count).findLast((one) => one.place !== next)?.place
      return last ?? (place === '' ? undefined : place)
    },
  }
}

/** Two of ten thousand keys have the same place once in a hundred times: the second one is woken with the first. */
const placeLength = 8
