import type { Json } from '../../json.ts'

/**
 * A quick answer about a value that is as its schema wants it. A yes is certain: there is nothing to do. A no says
 * nothing: the interpreters (`prune`, `applyDefaults`, `interpretSchema`) find out what there is to do, and word the
 * errors.
 *
 * `old` is what stood there before an update; what is unchanged fits, whatever it is. It is left out where that does
 * not hold: where a value is asked for unknown fields or missing defaults and `old` was not.
 */
export type Fit = (value: Json, old: Json | undefined, run: FitRun) => boolean

/** What one walk asks, and what it may still cost. One mutable record, so that a step down costs no allocation. */
export interface FitRun {
  /** Bits of `question`. */
  asks: number
  /** What is left of the work that patterns and branches may cause, in steps. */
  steps: number
}

/**
 * What can be asked: that every field is known, that no default is missing and no null too many, that the value is
 * valid.
 */
export const question = { known: 1, complete: 2, valid: 4 } as const
