import { createSeededRandom } from '../../../shared/testing/seeded-random.ts'

/** What a session is drawn by. */
export interface Draw {
  /** Whether something of this probability happens. */
  chance(probability: number): boolean
  pick<Item>(from: readonly Item[]): Item
  /** A whole number from 0 to `most`. */
  upTo(most: number): number
  /** So many different ones, in their order. */
  some<Item>(from: readonly Item[], count: number): readonly Item[]
}

export function createDraw(seed: number): Draw {
  const random = createSeededRandom(seed)
  const upTo = (most: number): number => Math.floor(random.next() * (most + 1))
  const pick = <Item>(from: readonly Item[]): Item => from[upTo(from.length - 1)] as Item
  return {
    chance: (probability) => random.next() < probability,
    pick,
    upTo,
    some: (from, count) => {
      const left = [...from]
      while (left.length > count) left.splice(upTo(left.length - 1), 1)
      return left
    },
  }
}
