import { objectText } from '../model/object-text.ts'
import type { ApiObject } from '../model/object.ts'
import type { Clock } from '../ports/clock.ts'

/**
 * Others have their turn before more is done with a large object: what may be asked about one request takes longer in
 * all than one request may hold the process.
 */
export async function restBefore(object: ApiObject | undefined, { nextTurn }: Pick<Clock, 'nextTurn'>): Promise<void> {
  if (nextTurn === undefined || object === undefined) return
  if (objectText(object).length >= largeFrom) await nextTurn()
}

/** What is done with an object of so many characters takes milliseconds. */
const largeFrom = 50_000
