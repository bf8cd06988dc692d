import { OperatingError } from '../../model/errors.ts'
import type { ServedKind } from '../../model/served-kind.ts'
import type { Change } from '../../ports/change-feed.ts'
import { servedOrFault } from '../../resources/as-served.ts'
import type { Membership } from './membership.ts'

/** A change of an object that a version cannot show, and why. */
export interface Unshown {
  readonly change: Change
  readonly fault: OperatingError
}

/** The feed tells objects as they are stored: changes as a version shows them, and those that it cannot show. */
export function shownIn(
  kind: ServedKind,
  changes: readonly Change[],
): { readonly changes: readonly Change[]; readonly unshown: readonly Unshown[] } {
  const shown: Change[] = []
  const unshown: Unshown[] = []
  for (const change of changes) {
    const stored = servedOrFault(kind, change.stored)
    if (stored instanceof OperatingError) unshown.push({ change, fault: stored })
    else shown.push(stored === change.stored ? change : { type: change.type, touched: change.touched, stored })
  }
  return { changes: shown, unshown }
}

/**
 * Why a watch cannot go on: it would say nothing of an object that it may be about. A client that lists again is warned
 * of that object, and goes on behind its change.
 */
export function endOfView(unshown: readonly Unshown[], membership: Membership): OperatingError | undefined {
  const found = unshown.find(({ change }) => membership.mayTell(change.stored.object))
  if (found === undefined) return undefined
  const { fault } = found
  return new OperatingError('EXPIRED', `the watch ends, list again: ${fault.message}`, { cause: fault })
}
