import { clearOutside, clearSky, type Climate } from './climate.ts'
import { runTwice } from './run-seed.ts'
import type { Extras, Scenario } from './scenario.ts'

/** A scenario that breaks a promise, and which. What `main.ts --replay` reads. */
export interface Regression {
  /** The violation without its particulars, such as `promise 2, single holder`. */
  readonly breaks: string
  /** For people: what it was about and what was done. */
  readonly note: string
  readonly scenario: Scenario
}

/** From a file's text. What it says nothing of is as under a clear sky: it may be older than that. */
export function parseRegression(text: string): Regression {
  const { scenario, ...about } = JSON.parse(text) as Regression
  return { ...about, scenario: { ...scenario, climate: { ...clearSky, ...scenario.climate } } }
}

/** The promise and the checker that a violation names. */
export function sortOf(violation: string): string {
  return violation.slice(0, violation.indexOf(':'))
}

/**
 * A shorter scenario that breaks the same promise: steps are left out, halves first, then faults and tight limits, one
 * by one. As good as it gets within so many tries.
 */
export async function shrink(scenario: Scenario, breaks: string, triesMax = 400): Promise<Scenario> {
  let best = scenario
  let tries = 0

  /** Whether it breaks the same promise; then it is the best so far. */
  const keep = async (candidate: Scenario): Promise<boolean> => {
    if (isNeverMended(candidate) || tries++ >= triesMax) return false
    const { violations } = await runTwice(candidate)
    if (!violations.some((violation) => sortOf(violation) === breaks)) return false
    best = candidate
    return true
  }

  await dropSteps()
  if (best.herd > 0) await keep({ ...best, herd: 0 })
  for (const extra of extras) if (best[extra] !== undefined) await keep(without(best, extra))
  for (const climate of calmerBy(scenario.climate)) await keep({ ...best, climate: climate(best.climate) })
  await dropSteps()
  return best

  async function dropSteps(): Promise<void> {
    for (let size = Math.ceil(best.steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
      for (let at = 0; at < best.steps.length;)
        if (!(await keep({ ...best, steps: best.steps.toSpliced(at, size) }))) at += size
  }
}

/** What does not fit its kind never converges unless somebody mends it: it would break a promise of its own. */
function isNeverMended({ misfit, steps }: Scenario): boolean {
  return misfit === true && steps.every(({ act }) => act !== 'mend')
}

const extras = [
  'limits',
  'slowed',
  'absent',
  'once',
  'propagation',
  'misfit',
  'slowLinks',
  'statusLinks',
  'parcels',
  'tenants',
] as const satisfies readonly (keyof Extras)[]

function without(scenario: Scenario, extra: keyof Extras): Scenario {
  const { [extra]: _, ...rest } = scenario
  return rest
}

/** One thing after another as under a clear sky. */
function calmerBy({ outside }: Climate): readonly ((climate: Climate) => Climate)[] {
  const names = Object.keys(clearSky).filter((name) => name !== 'outside') as (keyof Climate)[]
  const far = Object.keys(outside) as (keyof Climate['outside'])[]
  return [
    ...names.map((name) => (climate: Climate) => ({ ...climate, [name]: clearSky[name] })),
    ...far.map((name) => (climate: Climate) => ({
      ...climate,
      outside: { ...climate.outside, [name]: clearOutside[name] },
    })),
  ]
}
