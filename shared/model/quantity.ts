/** Amounts as Kubernetes writes them, such as `1.5Gi` and `100m`: counted in thousand-millionths of one. */

export const nanosPerOne = 1_000_000_000n

const form = /^([+-]?)(?:(\d+)\.?(\d*)|\.(\d+))(?:([KMGTPE]i|[numkMGTPE])|[eE]([+-]?\d{1,2}))?$/
const binary: Readonly<Record<string, bigint>> = { Ki: 10n, Mi: 20n, Gi: 30n, Ti: 40n, Pi: 50n, Ei: 60n }
/** The power of ten that a suffix stands for. */
export const decimal: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 }

/** Longer texts are no quantities. */
export const quantityLengthMax = 100

/** Undefined for a text that is no quantity. */
export function parseQuantity(text: string): bigint | undefined {
  const found = text.length > quantityLengthMax ? null : form.exec(text)
  if (found === null) return undefined
  const [, sign, whole = '', fraction = '', bare = '', suffix, exponent] = found
  const digits = `${whole}${fraction}${bare}`
  const scale = (fraction + bare).length
  let top = BigInt(digits) * nanosPerOne
  let bottom = 10n ** BigInt(scale)
  const bits = suffix === undefined ? undefined : binary[suffix]
  const power = exponent === undefined ? (suffix === undefined ? 0 : (decimal[suffix] ?? 0)) : Number(exponent)
  if (bits !== undefined) top <<= bits
  else if (power >= 0) top *= 10n ** BigInt(power)
  else bottom *= 10n ** BigInt(-power)
  // What is smaller than can be counted is rounded up, away from zero.
  const nano = (top + bottom - 1n) / bottom
  return sign === '-' ? -nano : nano
}
