import type { ServedKind } from '../model/served-kind.ts'
import { serviceAccountKind } from '../resources/access-kinds.ts'
import { namespaceKind } from '../resources/built-in-kinds.ts'
import type { Verb } from './request-info.ts'
import { tokenRequestKind } from './reviews/review-kinds.ts'

/** A part of an object with a path of its own, as discovery tells it. */
export interface Subresource {
  readonly name: 'status' | 'scale' | 'finalize' | 'token'
  readonly verbs: readonly Verb[]
  /** What it gives and takes. */
  readonly is: Pick<ServedKind, 'group' | 'version' | 'kind'>
}

/** The subresources that objects of a kind have. */
export function subresourcesOf(kind: ServedKind): readonly Subresource[] {
  const all: readonly (Subresource | undefined)[] = [
    kind.hasStatus ? { name: 'status', verbs: ['get', 'patch', 'update'], is: kind } : undefined,
    kind.scale === undefined ? undefined : { name: 'scale', verbs: ['get', 'patch', 'update'], is: scaleKind },
    kind === serviceAccountKind ? { name: 'token', verbs: ['create'], is: tokenRequestKind } : undefined,
    kind === namespaceKind ? { name: 'finalize', verbs: ['update'], is: kind } : undefined,
  ]
  return all.filter((one) => one !== undefined)
}

/** What `/scale` gives and takes, whatever the kind. */
export const scaleKind = { group: 'autoscaling', version: 'v1', kind: 'Scale' } as const
