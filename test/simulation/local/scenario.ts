import { createSeededRandom, type SeededRandom } from '../../../shared/testing/seeded-random.ts'
import { isClear } from '../checkers/checker.ts'
import { clearSky, type Climate } from '../climate.ts'
import { listLimitOf, scenarioOf, statusLinksOf } from '../scenario-of.ts'
import type { LocalTrouble, Scenario } from '../scenario.ts'
import { oneOf } from '../world.ts'

/** The same users, faults outside and limits as on AWS, with the troubles of one machine. */
export function localScenarioOf(seed: number): Scenario {
  const scenario = scenarioOf(seed)
  const random = createSeededRandom(seed).fork('local')
  const climate = climateOf(random, scenario)
  const local = { ...localOf(random), ...listLimitOf(seed), ...retentionOf(seed) }
  const tame = { ...scenario, ...statusLinksOf(seed, scenario), climate, local }
  return isClear(tame) ? tame : { ...tame, local: { ...local, ...commitFailureOf(seed), ...reloadsOf(seed, tame) } }
}

function localOf(random: SeededRandom): LocalTrouble {
  return {
    // With a look every second, as in earnest, two hours of calm are slow.
    tickMs: oneOf(random, ticksMs),
    powerLoss: oneOf(random, [0, 0.5, 1]),
    // Three of them take half as long as all else of a seed.
    informers: oneOf(random, [0, 0, 1, 1, 0, 3]),
    checkpointPages: oneOf(random, [4_000, 4_000, 200, 20]),
  }
}

const often = [30_000, 60_000, 30_000, 60_000, 30_000, 60_000, 30_000, 60_000, 30_000, 60_000]
const ticksMs = [1_000, 5_000, ...often]

/** One seed in eight: who comes back after a crash finds that the log does not reach back to where it was. */
function retentionOf(seed: number): Pick<LocalTrouble, 'retainedCharacters'> {
  const random = createSeededRandom(seed).fork('retention')
  return random.next() < 1 / 8 ? { retainedCharacters: oneOf(random, [3_000, 20_000]) } : {}
}

/** One seed in eight, of those in which no promises about time are told. */
function commitFailureOf(seed: number): Pick<LocalTrouble, 'commitFailure'> {
  const random = createSeededRandom(seed).fork('commits')
  return random.next() < 1 / 8 ? { commitFailure: oneOf(random, [0.02, 0.1, 0.3]) } : {}
}

/**
 * One seed in eight, of those in which no promises about time are told. Other reconcilers begin with whole budgets, so
 * none of these is there.
 */
function reloadsOf(seed: number, { limits, retryBudget, parcels }: Scenario): Pick<LocalTrouble, 'reloads'> {
  const hasBudget = limits !== undefined || retryBudget !== undefined || parcels?.budget !== undefined
  return createSeededRandom(seed).fork('reloads').next() < 1 / 8 && !hasBudget ? { reloads: true } : {}
}

/** What goes wrong in a seed goes wrong here, too, in the way of a machine. */
function climateOf(random: SeededRandom, { climate }: Scenario): Climate {
  const { deploying, skewMsMax, jumpMinutes, outside } = climate
  const isDying = climate.crash > 0 || climate.invokeThrottle > 0
  return {
    ...clearSky,
    latencyMsMax: oneOf(random, [0, 2, 20, 200]),
    // The disk.
    throttle: climate.throttle / 2,
    unknown: climate.unknown,
    hotPartition: climate.hotPartition,
    // Whenever the process is to go on.
    crash: isDying ? 1 / oneOf(random, [300, 1_000, 5_000]) : 0,
    pause: climate.pause > 0 ? 1 / oneOf(random, [2_000, 20_000]) : 0,
    pauseMsMax: oneOf(random, [5_000, 60_000, 600_000]),
    // Nobody corrects the clock of a machine that was never right.
    skewMsMax: skewMsMax > 0 ? oneOf(random, [skewMsMax, 60_000, 3_600_000]) : 0,
    jumpMinutes,
    deploying,
    outside,
  }
}
