import type { DueTimer, KindName } from './object-index.ts'

/**
 * The timers of the safety net, which `ObjectIndex.due` leaves out: objects of a kind that were changed, that nobody
 * has run since, and whose net wants a run from one time on and before another; the earliest first.
 */
export type ListNetted = (kind: KindName, fromMs: number, toMs: number) => Promise<readonly DueTimer[]>
