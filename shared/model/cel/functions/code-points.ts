import { surrogates, textLengthOf } from '../../schema/text-length.ts'
import type { Meter } from '../meter.ts'

/** Texts of CEL are counted in code points. */

/** What it takes to count a text, or to find a place in it. */
export function spendPoints(meter: Meter, text: string): void {
  meter.spend(surrogates.test(text) ? text.length : text.length >> 3)
}

/** The text as a list, in which each code point has its place. */
export function pointsOf(text: string): string | readonly string[] {
  return surrogates.test(text) ? Array.from(text) : text
}

/** From one place to another. */
export function sliceOf(points: string | readonly string[], from: number, to?: number): string {
  const part = points.slice(from, to)
  return typeof part === 'string' ? part : part.join('')
}

/** The place of a code unit, counted in code points. */
export function codePlaceOf(text: string, unit: number): number {
  return unit < 0 ? unit : textLengthOf(text.slice(0, unit))
}

/** The code unit of a place. */
export function codeUnitOf(text: string, place: number): number {
  return surrogates.test(text) ? Array.from(text).slice(0, place).join('').length : place
}
