/**
 * A rate as a line of reservations (the generic cell rate algorithm): one number says where the line ends, and whoever
 * reserves moves the end on. From any reservation to the one made `burst` later there is at least the time of one,
 * whatever clocks were read.
 */

/** At most `burst` at once, and so many a second after that. */
export interface Rate {
  readonly perSecond: number
  readonly burst: number
}

/** How far each reservation moves the end of the line on, in whole microseconds: never faster than the rate. */
export function spacingUsOf({ perSecond }: Rate): number {
  return Math.ceil(1_000_000 / perSecond)
}

/** Where a line ends after `count` more. One that ended in the past begins anew: what was not used is not saved up. */
export function moveEndUs(endUs: number, count: number, rate: Rate, nowMs: number): number {
  return Math.max(endUs, nowMs * 1_000) + count * spacingUsOf(rate)
}

/** For when the last `count` of a line are that ends there, in order; none before `nowMs`. */
export function slotTimesMs(endUs: number, count: number, rate: Rate, nowMs: number): readonly number[] {
  const firstUs = endUs - (count + rate.burst - 1) * spacingUsOf(rate)
  return Array.from({ length: count }, (_, i) => Math.max(nowMs, Math.ceil((firstUs + i * spacingUsOf(rate)) / 1_000)))
}
