/** So many decimals JavaScript can tell. */
export const decimalsMax = 100

/** With so many decimals. What lies in the middle goes to the even digit, as in Go; JavaScript takes the larger. */
export function fixedText(number: number, decimals: number): string {
  if (Math.abs(number) >= exactBelow) return `${BigInt(number)}${decimals === 0 ? '' : `.${'0'.repeat(decimals)}`}`
  const [whole = '', all = ''] = number.toFixed(decimalsMax).split('.')
  const below = decimals === 0 ? whole : `${whole}.${all.slice(0, decimals)}`
  const isEvenMiddle = /^50*$/.test(all.slice(decimals)) && /[02468]$/.test(below)
  return isEvenMiddle ? below : number.toFixed(decimals)
}

/** From here on JavaScript writes an exponent. */
const exactBelow = 1e21

/** The same with commas between thousands, and signs for what is no number of an end: what `%f` writes. */
export function groupedText(number: number, decimals: number): string {
  if (!Number.isFinite(number)) return endless(number)
  const [whole = '', ...rest] = fixedText(number, decimals).split('.')
  return [inThousands(whole), ...rest].join('.')
}

/** A number has up to 309 digits. */
function inThousands(whole: string): string {
  const sign = whole.startsWith('-') ? '-' : ''
  const first = (whole.length - sign.length) % 3 || 3
  const groups = [whole.slice(0, sign.length + first)]
  for (let at = sign.length + first; at < whole.length; at += 3) groups.push(whole.slice(at, at + 3))
  return groups.join()
}

/** What `%e` writes, whatever precision it is given: `1.500000 × 10⁻⁰⁴`. */
export function scientificText(number: number): string {
  if (!Number.isFinite(number)) return endless(number)
  const [mantissa = '', exponent = ''] = number.toExponential(6).split('e')
  const raised = exponent
    .slice(1)
    .padStart(2, '0')
    .replace(/\d/g, (digit) => superscripts.charAt(Number(digit)))
  return `${mantissa}\u202f×\u202f10${exponent.startsWith('-') ? '⁻' : ''}${raised}`
}

const superscripts = '⁰¹²³⁴⁵⁶⁷⁸⁹'

function endless(number: number): string {
  return Number.isNaN(number) ? 'NaN' : number > 0 ? '∞' : '-∞'
}
