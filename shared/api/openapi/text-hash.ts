/**
 * 64 bits of a text in hexadecimal: two 32-bit multiplicative hashes with different seeds, mixed (after cyrb53, public
 * domain). Equal texts have equal hashes on every machine; not for secrets.
 */
export function textHash(text: string): string {
  const hash = createTextHash()
  hash.add(text)
  return hash.digest()
}

/** The same of a text that comes in pieces. */
export function createTextHash(): { add(piece: string): void; digest(): string } {
  let a = 0xdeadbeef
  let b = 0x41c6ce57
  return {
    add: (piece) => {
      for (let i = 0; i < piece.length; i++) {
        const unit = piece.charCodeAt(i)
        a = Math.imul(a ^ unit, 2_654_435_761)
        b = Math.imul(b ^ unit, 1_597_334_677)
      }
    },
    digest: () => hex(mix(a, b)) + hex(mix(b, a)),
  }
}

function mix(a: number, b: number): number {
  return Math.imul(a ^ (a >>> 16), 2_246_822_507) ^ Math.imul(b ^ (b >>> 13), 3_266_489_909)
}

function hex(value: number): string {
  return (value >>> 0).toString(16).padStart(8, '0')
}
