import type { InHandNote, Rank } from '../../ports/in-hand.ts'

/**
 * How many messages of a tick may be in a queue at a time: pure decisions.
 *
 * Three come to one queue, and have the right of way in this order: users' changes; timers, which are waits that a user
 * asked for; sweeps (resyncs and first looks).
 *
 * - Of a loop whose turns are not known to be quick, each sweep has a ticket. The tick notes tickets ahead of sending,
 *   and the function strikes them at the end of the turn. There is one ticket less than invocations may run at once,
 *   so one of them is free for a change, however long a turn takes.
 * - Of a loop whose turns are quick, as many are sent as run at once, if nothing waits. A function notes what takes
 *   longer than a turn may take that is quick, and from then on the loop needs tickets.
 * - Timers may be taken by all invocations, and none of them stands in line.
 */
export interface WindowLimits {
  readonly invocations: number
  readonly batchSize: number
  /** Several ticks send into the same queue: this one is the n-th of so many. */
  readonly share: { readonly index: number; readonly of: number }
}

/** What is known of the turns of a loop. */
export interface LoopPace {
  /** So many in a row were quick, up to as many as it takes to be known for that. */
  readonly quick: number
  /** When that was last seen to be so. */
  readonly seenMs: number
  /** When one was slow last, as a function said. */
  readonly slowMs?: number
}

/** What is remembered of a queue from one tick to the next. */
export interface KnownQueue {
  /** So many waited all the time: they stand behind a message of their object that is held or lost. */
  readonly stuck: number
  readonly loops: Readonly<Record<string, LoopPace>>
}

/** A turn that takes longer is slow. */
export const slowMsMin = 400
/** For so long after a slow turn its loop counts as slow. */
export const slowMsMax = 10 * 60_000
/** After so many turns in a row a loop is known to be quick. */
const quickInARow = 100
/** For so long, if nothing of it is seen. */
const quickMsMax = 10 * 60_000
/** Of several ticks, one at a time has tickets, for so long; first it only looks. */
const turnOfShareMs = 8_000
const pauseOfShareMs = 1_000

/**
 * What runs at once of each of so many queues, as infra has it (`feedingOf`, `concurrencyOfEach`): invocations, and
 * messages in each.
 */
export function workersOf(concurrency: number, queues = 1): Pick<WindowLimits, 'invocations' | 'batchSize'> {
  const ofEach = Math.floor(concurrency / queues)
  const batchSize = Math.max(1, Math.min(10, Math.floor(ofEach / 2)))
  return { batchSize, invocations: Math.min(1_000, Math.max(2, Math.floor(ofEach / batchSize))) }
}

export function isQuick(pace: LoopPace | undefined, nowMs: number): boolean {
  return pace !== undefined && pace.quick >= quickInARow && nowMs - pace.seenMs < quickMsMax
}

export function noteQuick(pace: LoopPace | undefined, nowMs: number): LoopPace {
  const before = pace !== undefined && nowMs - pace.seenMs < quickMsMax ? pace.quick : 0
  return { ...pace, quick: Math.min(quickInARow, before + 1), seenMs: nowMs }
}

/** How many sweeps may have tickets now, if so many are in hand. */
export function ticketsLeft({ invocations, share }: WindowLimits, inHand: number, nowMs: number): number {
  return isTurnOf(share, nowMs) ? Math.max(0, invocations - 1 - inHand) : 0
}

/** How many may be sent at once that have no tickets, if nothing waits. */
export function burstOf({ invocations, batchSize, share }: WindowLimits, notes: readonly InHandNote[]): number {
  const free = Math.max(0, invocations - notes.length)
  return free === 0 ? 0 : Math.max(1, Math.floor((free * batchSize) / share.of))
}

/** Each tick may send so many of them, though the queue is busy all the time. */
export function assuredOf({ invocations, batchSize, share }: WindowLimits, rank: Rank): number {
  return Math.max(1, Math.floor((rank === 'timer' ? invocations * batchSize : invocations - 1) / share.of))
}

/** Whether it is this tick's turn, and what the one before it noted shows. */
function isTurnOf({ index, of }: WindowLimits['share'], nowMs: number): boolean {
  if (of === 1) return true
  return Math.floor(nowMs / turnOfShareMs) % of === index && nowMs % turnOfShareMs >= pauseOfShareMs
}
