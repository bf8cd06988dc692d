import { createSeededRandom } from '../../../shared/testing/seeded-random.ts'
import { listLimitOf, scenarioOf, statusLinksOf } from '../scenario-of.ts'
import { isClear } from '../checkers/checker.ts'
import type { KindName, Scenario, WatchTrouble } from '../scenario.ts'
import { oneOf } from '../world.ts'
import { queuesOf } from './queue-draws.ts'

/** A look of a feed is eight requests, or one: those of more kinds would take longer than all else. */
export const watchedKinds = ['Gadget', 'ConfigMap'] as const satisfies readonly KindName[]

/**
 * What a seed is on AWS. In one of six somebody watches: there clocks and the index differ by less than the two seconds
 * that a feed reaches back, as its promise asks.
 */
export function awsScenarioOf(seed: number): Scenario {
  const plain = scenarioOf(seed)
  const scenario = {
    ...plain,
    ...hardRecordsOf(seed, plain),
    ...statusLinksOf(seed, plain),
    ...queuesOf(seed, plain),
  }
  const random = createSeededRandom(seed).fork('watch')
  if (random.next() >= 1 / 6) return scenario
  const { climate } = scenario
  return {
    ...scenario,
    climate: { ...climate, skewMsMax: Math.min(climate.skewMsMax, 400) },
    watch: {
      informers: oneOf(random, [1, 2]),
      // With a look each second a seed takes as long as six others.
      pollMs: random.next() < 1 / 12 ? 1_000 : 10_000,
      lagMsMax: oneOf(random, [0, 100, 600]),
      numberedMsMax: oneOf(random, [0, 400]),
      recordedBuckets: oneOf(random, [undefined, undefined, 1, 8]),
      ...listLimitOf(seed),
      ...replicasOf(seed),
    },
  }
}

/** In half of those that watch, a look may see less than an earlier one. */
function replicasOf(seed: number): Pick<WatchTrouble, 'replicas'> {
  return createSeededRandom(seed).fork('replicas').next() < 1 / 2 ? { replicas: 3 } : {}
}

/** One seed in eight, and none in which promises about time are told. */
function hardRecordsOf(seed: number, scenario: Scenario): Pick<Scenario, 'hardRecords'> {
  const random = createSeededRandom(seed).fork('hard records')
  return random.next() < 1 / 8 && !isClear(scenario) ? { hardRecords: oneOf(random, [0.05, 0.3]) } : {}
}
