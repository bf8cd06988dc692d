import type { SeededRandom } from '../../shared/testing/seeded-random.ts'
import { boxOf, wayCount } from './kinds/shelf.ts'
import type { Scenario, Step } from './scenario.ts'
import { below, oneOf } from './world.ts'

const base = { user: 84, mood: 'plain', to: '' } as const

/** One seed in ten: objects that keep their children by hand, and whose runs end in odd ways. */
export function shelvesOf(random: SeededRandom, { herd }: Scenario): readonly Step[] {
  if (random.next() >= 1 / 10 || herd > 0) return []
  return Array.from({ length: 3 + below(random, 8) }, (_, i): Step => {
    const shelf = `shelf-${below(random, 2)}`
    const act = oneOf(random, [
      'apply',
      'apply',
      'apply',
      'edit',
      'recreate',
      'delete',
      'poke',
      'spoil',
      'strip',
    ] as const)
    const name = act === 'spoil' || act === 'strip' ? boxOf(shelf, below(random, 3)) : shelf
    const afterMs = oneOf(random, [below(random, 3_000), Math.floor(random.next() ** 2 * 120_000)])
    const value = (1 + i) * wayCount + below(random, wayCount)
    return { ...base, act, afterMs, kind: 'Shelf', name, value, size: below(random, 4) }
  })
}
