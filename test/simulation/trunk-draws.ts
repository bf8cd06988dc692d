import type { SeededRandom } from '../../shared/testing/seeded-random.ts'
import type { Scenario, Step } from './scenario.ts'
import { below, oneOf } from './world.ts'

/**
 * One seed in sixteen: objects of which some are so large that there is no room for their status, for a while or in the
 * end.
 */
export function trunksOf(random: SeededRandom, { herd }: Scenario): readonly Step[] {
  if (random.next() >= 1 / 16 || herd > 0) return []
  return Array.from({ length: 3 + below(random, 5) }, (_, i): Step => {
    const act = oneOf(random, ['apply', 'apply', 'apply', 'apply', 'edit', 'poke', 'delete'] as const)
    const size = oneOf(random, [0, 300 + below(random, 1_500), 800 + below(random, 3_000)])
    const name = `trunk-${below(random, 2)}`
    const afterMs = Math.floor(random.next() ** 2 * 120_000)
    return { user: 86, mood: 'plain', to: '', act, afterMs, kind: 'Trunk', name, value: 100 + i, size }
  })
}
