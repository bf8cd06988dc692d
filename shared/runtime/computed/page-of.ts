import type { ComputedPage, ComputedQuery } from '../../api/computed/computed-objects.ts'
import type { ApiObject } from '../../model/object.ts'

/** A page of objects that are all at hand. */
export function pageOf(all: readonly ApiObject[], { limit, after }: ComputedQuery): ComputedPage {
  const [from] = after ?? [0]
  const items = all.slice(from, from + limit)
  return from + limit < all.length ? { items, end: [from + limit, 0] } : { items }
}
