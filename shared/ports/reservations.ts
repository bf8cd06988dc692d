import type { Rate } from '../model/reservations.ts'

/**
 * Makes reservations in a line that all processes share: times at which something may be done, in order, the first of
 * them now if the rate allows it. Nobody can give one back.
 *
 * Promises, checked by test/contract/reservations.contract.ts on every adapter:
 * - Within any time t there are at most `burst + perSecond · t` reservations of a line, whoever made them and however
 *   wrong clocks are.
 * - None is for a time that has passed. Those of a request whose answer is lost are lost.
 * - Durable: a line that was moved on stays so.
 *
 * Throws THROTTLED, UNAVAILABLE.
 */
export type Reserve = (line: string, count: number, rate: Rate) => Promise<readonly number[]>
