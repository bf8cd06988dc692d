import type { Rate } from '../model/reservations.ts'

/**
 * What an account of a far side may be called, for all processes together. Unlike a reservation, a call that may not be
 * made now leaves nothing behind: whoever is told to wait asks again.
 *
 * Promises, checked by test/contract/allowances.contract.ts on every adapter:
 * - Within any time t at most `burst + perSecond · t` calls of an account are allowed, whoever asked.
 * - One that asks by a smaller burst leaves the rest to others.
 * - None is allowed before the moment that the account was closed until, by the clock of whoever asks.
 * - A call whose answer is lost counts.
 *
 * Throws THROTTLED, UNAVAILABLE.
 */
export interface Allowances {
  /** 0: one call may be made now, and counts. Else how many milliseconds to wait. */
  take(account: string, rate: Rate): Promise<number>
  /** The account is closed until then; it opens for one call after the other, by the rate. */
  close(account: string, rate: Rate, untilMs: number): Promise<void>
}
