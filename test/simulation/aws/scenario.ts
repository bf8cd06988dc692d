import { createSeededRandom } from '../../../shared/testing/seeded-random.ts'
import { listLimitOf, scenarioOf } from '../scenario-of.ts'
import type { KindName, Scenario } from '../scenario.ts'
import { oneOf } from '../world.ts'

/** A look of a feed is eight requests, or one: those of more kinds would take longer than all else. */
export const watchedKinds = ['Gadget', 'ConfigMap'] as const satisfies readonly KindName[]

/**
 * What a seed is on AWS. In one of six somebody watches: there clocks and the index differ by less than the two seconds
 * that a feed reaches back, as its promise asks.
 */
export function awsScenarioOf(seed: number): Scenario {
  const scenario = scenarioOf(seed)
  const random = createSeededRandom(seed).fork('watch')
  if (random.next() >= 1 / 6) return scenario
  const { climate } = scenario
  return {
    ...scenario,
    climate: { ...climate, skewMsMax: Math.min(climate.skewMsMax, 400) },
    watch: {
      informers: oneOf(random, [1, 2]),
      pollMs: oneOf(random, [1_000, 10_000]),
      lagMsMax: oneOf(random, [0, 100, 600]),
      numberedMsMax: oneOf(random, [0, 400]),
      recordedBuckets: oneOf(random, [undefined, undefined, 1, 8]),
      ...listLimitOf(seed),
    },
  }
}
