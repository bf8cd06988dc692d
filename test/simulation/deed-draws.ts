import type { SeededRandom } from '../../shared/testing/seeded-random.ts'
import type { Extras, Scenario, Step } from './scenario.ts'
import { below, oneOf } from './world.ts'

const acts = ['apply', 'edit', 'edit', 'tamper', 'poke'] as const
/** What is deleted is made anew outside, and a create is where most can go wrong. */
const allActs = [...acts, 'apply', 'delete', 'recreate', 'recreate', 'recreate'] as const

/** One seed in ten: entities whose ids are chosen outside, by a system that can do more or less. */
export function deedsOf(random: SeededRandom, { herd }: Pick<Scenario, 'herd'>): Drawn {
  if (random.next() >= 1 / 10 || herd > 0) return { extras: {}, steps: [] }
  const finds = random.next() < 3 / 4
  const traits = {
    finds,
    // Where it can do neither, a lost answer is left to a person.
    tokens: !finds || random.next() < 1 / 3,
    unique: random.next() < 1 / 4,
    unseenMsMax: oneOf(random, [0, 0, 3_000, 12_000]),
    lateMsMax: oneOf(random, [0, 0, 3_000, 8_000]),
    deleteMsMax: oneOf(random, [0, 2_000, 90_000]),
  }
  // What cannot be looked for is not deleted here: where a create was lost, a person would have to say what is there.
  const steps = Array.from({ length: 6 + below(random, 11) }, (_, i): Step => {
    const act = i < 2 ? 'apply' : oneOf(random, finds ? allActs : acts)
    return {
      user: user + (i % 2),
      act,
      afterMs: oneOf(random, [100, 5_000, 60_000, 200_000]),
      kind: 'Deed',
      name: `deed-${i % 2}`,
      value: 900 + i,
      mood: 'plain',
      to: '',
      size: below(random, 2),
    }
  })
  return { extras: { deeds: traits }, steps }
}

const user = 90

interface Drawn {
  readonly extras: Pick<Extras, 'deeds'>
  readonly steps: readonly Step[]
}
