import type { ConditionPatch } from '../model/conditions.ts'
import type { NotReady } from './outcome.ts'

/**
 * Work is under way (a rollout, a move), whether or not the object is Ready meanwhile; `false`: none is. For the
 * `conditions` of a report: `done({ conditions: { ...progressing(waiting('Upgrading', '1 of 3 members is new')),
 * ...degraded(false) } })`.
 */
export function progressing(what: NotReady | false): { readonly Progressing: ConditionPatch } {
  return { Progressing: what === false ? { status: 'False', reason: 'Stable' } : { status: 'True', ...what } }
}

/** It works, and worse than declared (a member is lost); `false`: it does not. Used like `progressing`. */
export function degraded(why: NotReady | false): { readonly Degraded: ConditionPatch } {
  return { Degraded: why === false ? { status: 'False', reason: 'AsDeclared' } : { status: 'True', ...why } }
}
