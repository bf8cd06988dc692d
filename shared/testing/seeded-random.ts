import type { Random } from '../ports/random.ts'

/** Chance that a seed repeats. */
export interface SeededRandom extends Random {
  /** A stream of its own, told by its name: drawing from it leaves all others as they are. */
  fork(name: string): SeededRandom
}

export function createSeededRandom(seed: number): SeededRandom {
  const draw = xoshiro128(fourWords(seed))
  return {
    next: () => ((draw() >>> 5) * 2 ** 26 + (draw() >>> 6)) / 2 ** 53,
    uuid: () => uuidOf([draw(), draw(), draw(), draw()]),
    fork: (name) => createSeededRandom(hash(name, seed)),
  }
}

/** xoshiro128** 1.1 by Blackman and Vigna, 32 bits a draw. Source: https://prng.di.unimi.it/xoshiro128starstar.c */
export function xoshiro128(state: readonly [number, number, number, number]): () => number {
  let [a, b, c, d] = state
  return () => {
    const drawn = Math.imul(rotate(Math.imul(b, 5), 7), 9) >>> 0
    const shifted = b << 9
    c ^= a
    d ^= b
    b ^= c
    a ^= d
    c ^= shifted
    d = rotate(d, 11)
    return drawn
  }
}

function rotate(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by))
}

/** Four words from one, by splitmix32: seeds that are close give states that are not. */
function fourWords(seed: number): [number, number, number, number] {
  let state = seed
  const next = (): number => {
    state = (state + 0x9e3779b9) | 0
    let word = Math.imul(state ^ (state >>> 16), 0x21f0aaad)
    word = Math.imul(word ^ (word >>> 15), 0x735a2d97)
    return word ^ (word >>> 15)
  }
  return [next(), next(), next(), next()]
}

/** FNV-1a. */
function hash(text: string, start: number): number {
  let word = 0x811c9dc5 ^ start
  for (let i = 0; i < text.length; i++) word = Math.imul(word ^ text.charCodeAt(i), 0x01000193)
  return word >>> 0
}

function uuidOf(words: readonly number[]): string {
  const hex = words.map((word) => word.toString(16).padStart(8, '0')).join('')
  const variant = '89ab'.charAt(Number.parseInt(hex.charAt(16), 16) & 3)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`
}
