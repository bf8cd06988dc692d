import type { ServedKind } from '../../model/served-kind.ts'
import { isReview } from '../reviews/review-kinds.ts'

const allVerbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

/** The verbs that a kind's resource answers, as discovery names them. */
export function resourceVerbs(kind: ServedKind): string[] {
  return isReview(kind) ? ['create'] : allVerbs
}

/** The verbs of the status of kinds that have it apart. */
export const statusVerbs = ['get', 'patch', 'update']
