import { awsScenarioOf } from './aws/scenario.ts'
import { localScenarioOf } from './local/scenario.ts'
import { hasPart, type Scenario } from './scenario.ts'
import { simulate, type SimulationResult } from './simulate.ts'

/** What a seed is on each engine. */
export const scenarios = { aws: awsScenarioOf, local: localScenarioOf } as const
export type EngineName = keyof typeof scenarios

/** A scenario that ran twice. */
export interface CheckedResult extends SimulationResult {
  /** Broken promises, and that the two runs differ, if they do. */
  readonly violations: readonly string[]
}

/** Runs a scenario twice: both runs must leave the same trace. */
export async function runTwice(scenario: Scenario): Promise<CheckedResult> {
  const result = await simulate(scenario)
  const again = await simulate(scenario)
  const differs = result.trace.findIndex((line, i) => line !== again.trace[i])
  if (differs < 0 && result.trace.length === again.trace.length) return result
  const where = `line ${differs}: ${String(result.trace[differs])} | ${String(again.trace[differs])}`
  return { ...result, violations: [...result.violations, `determinism: the second run differs at ${where}`] }
}

/** A simulation that throws says nothing of what it was to find out: that is a finding, too. */
function brokeDown(error: unknown): CheckedResult {
  return {
    violations: [`simulation: it broke down: ${String(error)}`],
    trace: [],
    hours: 0,
    runs: 0,
    faults: new Map(),
  }
}

/** What is left to tell of many seeds. */
export interface Tally {
  readonly seeds: number
  readonly hours: number
  readonly runs: number
  readonly faults: Readonly<Record<string, number>>
  readonly broken: readonly { readonly seed: number; readonly violations: readonly string[] }[]
}

export const nothingYet: Tally = { seeds: 0, hours: 0, runs: 0, faults: {}, broken: [] }

export function together(a: Tally, b: Tally): Tally {
  const faults = { ...a.faults }
  for (const [sort, count] of Object.entries(b.faults)) faults[sort] = (faults[sort] ?? 0) + count
  return {
    seeds: a.seeds + b.seeds,
    hours: a.hours + b.hours,
    runs: a.runs + b.runs,
    faults,
    broken: [...a.broken, ...b.broken],
  }
}

export interface SeedsOptions {
  readonly engine: EngineName
  /** Stop at the first broken seed. */
  readonly isFirstOnly?: boolean
  /** Of long series: only one seed in sixteen runs a second time, to be compared with the first. */
  readonly isOnce?: boolean
  /** Only seeds whose scenario has this part. */
  readonly part?: string | undefined
}

const repeatedOnceIn = 16

/** Runs seeds one after the other. */
export async function runSeeds(seeds: Iterable<number>, options: SeedsOptions): Promise<Tally> {
  const { engine, isFirstOnly = false, isOnce = false, part } = options
  let tally = nothingYet
  for (const seed of seeds) {
    const scenario = scenarios[engine](seed)
    if (part !== undefined && !hasPart(scenario, part)) continue
    const run = isOnce && seed % repeatedOnceIn !== 0 ? simulate : runTwice
    const { violations, hours, runs, faults } = await run(scenario).catch(brokeDown)
    const broken = violations.length === 0 ? [] : [{ seed, violations }]
    tally = together(tally, { seeds: 1, hours, runs, faults: Object.fromEntries(faults), broken })
    if (isFirstOnly && broken.length > 0) break
  }
  return tally
}
