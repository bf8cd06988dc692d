/**
 * How many characters a text has: code points, of which those beyond 16 bits have two units. What JavaScript counts is
 * never less, and at most twice as much.
 */
export function textLengthOf(text: string): number {
  if (!surrogates.test(text)) return text.length
  let pairs = 0
  for (let i = 1; i < text.length; i++) if (isLow(text.charCodeAt(i)) && isHigh(text.charCodeAt(i - 1))) pairs++
  return text.length - pairs
}

export const surrogates = /[\ud800-\udfff]/

/** The first unit of a character beyond 16 bits. */
function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}
