import type { SeededRandom } from '../../shared/testing/seeded-random.ts'
import { tenantNames } from './placed.ts'
import type { Scenario, Step } from './scenario.ts'
import { below, oneOf } from './world.ts'

const acts = ['apply', 'recreate', 'recreate', 'recreate', 'edit', 'delete'] as const
const user = 90

/**
 * One seed in twelve: objects without a finalizer, whose last runs have much to do, and which are made anew meanwhile.
 * Some are large, so that few last states find room; some were stored in the version of before.
 */
export function tenantsOf(random: SeededRandom, { herd }: Scenario): readonly Step[] {
  if (random.next() >= 1 / 12 || herd > 0) return []
  const base = { kind: 'Tenant', mood: 'plain', to: '' } as const
  const kilobytes = random.next() < 1 / 4 ? 170 : 0
  const pausesMs = oneOf(random, [
    [100, 1_000],
    [100, 3_000, 20_000],
    [3_000, 60_000],
  ])
  const value = (): number => 1 + below(random, 840)
  const size = (): number => (random.next() < 3 / 4 ? kilobytes : 0)
  const some = Array.from({ length: 4 + below(random, 10) }, (_, i): Step => {
    const act = i === 0 ? 'apply' : oneOf(random, acts)
    const name = `tenant-${random.next() < 2 / 3 ? 0 : 1}`
    return { ...base, user, act, afterMs: oneOf(random, pausesMs), name, value: value(), size: size() }
  })
  const old = tenantNames.map((name, i): Step => {
    const act = oneOf(random, ['delete', 'recreate'] as const)
    return { ...base, user: user + 1 + i, act, afterMs: below(random, 60_000), name, value: value(), size: 0 }
  })
  return [...some, ...old]
}
