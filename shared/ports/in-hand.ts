/**
 * What functions have in hand for the background, by queue: a sender of more work looks here first. The notes only
 * set the pace: a note that is lost or late makes a sweep quicker or slower.
 *
 * Promises, checked by test/contract/in-hand.contract.ts on every adapter:
 * - A note that was answered is seen by whoever looks after that, until it is struck or its time is over.
 * - Striking what is not there does nothing.
 *
 * Throws THROTTLED, UNAVAILABLE.
 */
export interface InHand {
  /** Notes all of them, each by its id. */
  note(queue: string, notes: readonly InHandNote[]): Promise<void>
  /** Strikes notes, and says of which loops turns were slow just now. */
  strike(queue: string, ids: readonly string[], slowLoops: readonly string[]): Promise<void>
  look(queue: string): Promise<SeenInHand>
}

export interface InHandNote {
  readonly id: string
  readonly rank: Rank
  /** Whoever has it in hand is over by then, whatever becomes of it. */
  readonly untilMs: number
  /** A loop of which turns were slow just now, if that is why. */
  readonly slowLoop?: string
}

/** A timer is a wait that a user asked for; a sweep is for drift that nobody may have caused. */
export type Rank = 'timer' | 'sweep'

export interface SeenInHand {
  readonly notes: readonly InHandNote[]
  /** When turns of a loop were slow last. */
  readonly slowMs: ReadonlyMap<string, number>
}
