import type { SeededRandom } from '../../shared/testing/seeded-random.ts'
import { dubbings } from './meddling-acts.ts'
import type { Scenario, Step } from './scenario.ts'
import { below, oneOf } from './world.ts'

const base = { mood: 'plain', to: '', size: 0 } as const

/**
 * One seed in twelve: people write the statuses of objects. After what a reconciler has to put right they ask it to
 * run, when no write of theirs is under way any more.
 */
export function dubsOf(random: SeededRandom, { herd }: Scenario): readonly Step[] {
  if (random.next() >= 1 / 12 || herd > 0) return []
  const things = [
    { kind: 'Errand', name: 'e4-30' },
    { kind: 'Ledger', name: 'ledger-30' },
    { kind: 'Gadget', name: 'dubbed-0' },
  ] as const
  return things.flatMap((thing, which): readonly Step[] => {
    const own = { ...base, ...thing, user: 94 + which } as const
    const rounds = Array.from({ length: 3 + below(random, 6) }, (_, i): readonly Step[] => {
      const afterMs = oneOf(random, [0, 50, 1_000, 20_000])
      const value = 2_000 + 10 * i + below(random, 10)
      if (random.next() < 1 / 3) return [{ ...own, act: 'apply', afterMs, value }]
      // What a Gadget's runs report is looked at all along.
      const how = thing.kind === 'Gadget' ? dubbings.audit : oneOf(random, Object.values(dubbings))
      const dub: Step = { ...own, act: 'dub', afterMs, value, size: how }
      return how === dubbings.wipe || how === dubbings.claim
        ? [dub, { ...own, act: 'nudge', afterMs: 60_000, value }]
        : [dub]
    })
    return [{ ...own, act: 'apply', afterMs: below(random, 3_000), value: 1_999 }, ...rounds.flat()]
  })
}

/** One seed in twelve: what has one of two labels is deleted at once, while others write it and change its label. */
export function sweepsOf(random: SeededRandom, { herd }: Scenario): readonly Step[] {
  if (random.next() >= 1 / 12 || herd > 0) return []
  const kinds = oneOf(random, [['ConfigMap'], ['ConfigMap', 'Gadget']] as const)
  const pauseMs = oneOf(random, [300, 3_000, 30_000])
  const some = (user: number): readonly Step[] =>
    Array.from({ length: 6 + below(random, 10) }, (_, i): Step => {
      const kind = oneOf(random, kinds)
      const act = oneOf(random, ['apply', 'apply', 'apply', 'apply', 'delete'] as const)
      const name = `batch-${kind.toLowerCase()}-${user}-${below(random, 3)}`
      return {
        ...base,
        user,
        act,
        afterMs: below(random, pauseMs),
        kind,
        name,
        value: 3_000 + 10 * i + below(random, 10),
      }
    })
  const sweeps = Array.from({ length: 2 + below(random, 5) }, (): Step => {
    const afterMs = below(random, 3 * pauseMs)
    return {
      ...base,
      user: 99,
      act: 'sweep',
      afterMs,
      kind: oneOf(random, kinds),
      name: 'all',
      value: below(random, 2),
    }
  })
  return [...some(97), ...some(98), ...sweeps]
}

/**
 * One seed in twelve: somebody takes the finalizer of their controller from Gadgets, of some as they delete them, and
 * all finalizers that there are from some.
 */
export function unleashesOf(random: SeededRandom, { herd }: Scenario): readonly Step[] {
  if (random.next() >= 1 / 12 || herd > 0) return []
  return [0, 1].flatMap((which): readonly Step[] => {
    const gadget = { ...base, kind: 'Gadget', name: `loose-${which}` } as const
    const owner = 100 + 2 * which
    const take = (user: number, afterMs: number): Step => {
      return { ...gadget, user, act: 'unleash', afterMs, value: 0, size: below(random, 4) }
    }
    const rounds = Array.from({ length: 3 + below(random, 4) }, (_, i): readonly Step[] => [
      { ...gadget, user: owner, act: 'apply', afterMs: oneOf(random, [100, 5_000]), value: 4_000 + i },
      take(owner, oneOf(random, [0, 200, 2_000, 20_000])),
    ])
    const others = Array.from({ length: 1 + below(random, 3) }, () => take(owner + 1, below(random, 40_000)))
    return [...rounds.flat(), ...others]
  })
}
