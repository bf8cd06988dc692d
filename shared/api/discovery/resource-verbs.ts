import type { ServedKind } from '../../model/served-kind.ts'
import { namespaceKind } from '../../resources/built-in-kinds.ts'
import { isComputed } from '../computed/computed-kinds.ts'
import { emptyKinds } from '../empty-kinds.ts'
import { isReview } from '../reviews/review-kinds.ts'

const allVerbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

/** The verbs that a kind's resource answers, as discovery names them. */
export function resourceVerbs(kind: ServedKind): string[] {
  if (isReview(kind)) return ['create']
  // Nobody is told of changes of what is not stored.
  if (isComputed(kind)) return ['get', 'list']
  if (emptyKinds.includes(kind)) return ['get', 'list', 'watch']
  // One request is not to remove all there is.
  return kind === namespaceKind ? allVerbs.filter((verb) => verb !== 'deletecollection') : allVerbs
}
