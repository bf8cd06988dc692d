/**
 * Sixteen hexadecimal digits that tell texts apart where nobody gains by making two alike: FNV-1a over 64 bits, as two
 * halves.
 */
export function digest(text: string): string {
  let low = 0x811c9dc5
  let high = 0xcbf29ce4
  for (let i = 0; i < text.length; i++) {
    low = Math.imul(low ^ text.charCodeAt(i), 0x01000193)
    high = Math.imul(high ^ text.charCodeAt(i) ^ (low >>> 16), 0x01000193)
  }
  return [high, low].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('')
}
