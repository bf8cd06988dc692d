import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { optionsOf, refuse, wholeNumber } from '../support/command-line.ts'
import { runTwice, type Tally } from './run-seed.ts'
import { scenarioOf, type Scenario } from './scenario.ts'
import { runPool } from './seed-pool.ts'
import { parseRegression, shrink, sortOf, type Regression } from './shrink.ts'

/**
 * `npm run sim -- [--seed N | --seeds A..B | --from A --minutes M | --replay file]`
 *
 * Every seed runs twice, and both runs must leave the same trace. The first line says how to repeat what follows; the exit code is 1
 * if a promise was broken. `--trace` prints what happened (one seed or a file), `--threads` is how many cores it takes (default:
 * all), `--first` ends with the first broken seed, `--shrink` makes broken seeds shorter and writes them to `regressions`.
 */
const { values } = optionsOf('npm run sim --', {
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string' },
    from: { type: 'string', default: '1' },
    minutes: { type: 'string' },
    replay: { type: 'string' },
    threads: { type: 'string', default: String(availableParallelism()) },
    trace: { type: 'boolean', default: false },
    first: { type: 'boolean', default: false },
    shrink: { type: 'boolean', default: false },
  },
})

const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: import.meta.dirname })
  .toString()
  .trim()

async function runOne(scenario: Scenario): Promise<boolean> {
  const { trace, violations, hours, runs, faults } = await runTwice(scenario)
  if (values.trace) console.log([JSON.stringify(scenario, undefined, 1), ...trace].join('\n'))
  tell(scenario.seed, violations)
  console.log(`${hours.toFixed(2)} virtual hours, ${runs} runs, ${JSON.stringify(Object.fromEntries(faults))}`)
  if (violations.length > 0 && values.shrink) await keepShorter(scenario, violations)
  return violations.length === 0
}

async function runMany(from: number, to: number): Promise<boolean> {
  const beganMs = Date.now()
  let toldMs = beganMs
  const untilMs = values.minutes === undefined ? Infinity : beganMs + wholeNumber('--minutes', values.minutes) * 60_000
  const progress = (all: Tally): void => {
    const rate = all.seeds / ((Date.now() - beganMs) / 1_000)
    console.log(`${new Date().toISOString()} ${figures(all)} ${rate.toFixed(0)} seeds/s`)
    toldMs = Date.now()
  }
  const all = await runPool({
    from,
    to,
    threads: wholeNumber('--threads', values.threads, 1),
    isFirstOnly: values.first,
    untilMs,
    onSlice: (slice, sum) => {
      for (const { seed, violations } of slice.broken) tell(seed, violations)
      if (Date.now() - toldMs > progressMs) progress(sum)
    },
  })
  progress(all)
  console.log(`faults: ${JSON.stringify(all.faults)}`)
  for (const { seed, violations } of values.shrink ? all.broken.slice(0, 20) : [])
    await keepShorter(scenarioOf(seed), violations)
  return all.broken.length === 0
}

const progressMs = 10_000

function figures({ seeds, hours, runs, broken }: Tally): string {
  return `${seeds} seeds, ${hours.toFixed(0)} virtual hours, ${runs} runs, ${broken.length} seeds broken`
}

function tell(seed: number, violations: readonly string[]): void {
  for (const violation of violations.slice(0, 5)) console.log(`seed ${seed}: ${violation}`)
}

/** A shorter script of the same, as a file that `--replay` and `npm test` read. */
async function keepShorter(scenario: Scenario, violations: readonly string[]): Promise<void> {
  const breaks = sortOf(violations[0] ?? '')
  const regression: Regression = { breaks, note: violations[0] ?? '', scenario: await shrink(scenario, breaks) }
  const folder = join(import.meta.dirname, 'regressions')
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `seed-${scenario.seed}.json`)
  writeFileSync(file, `${JSON.stringify(regression, undefined, 2)}\n`)
  console.log(`seed ${scenario.seed}: ${regression.scenario.steps.length} steps are left, in ${file}`)
}

function rangeOf(seeds: string): readonly [number, number] {
  const [from = 1, to = from] = seeds.split('..').map((seed) => wholeNumber('--seeds', seed))
  return from <= to ? [from, to] : refuse(`--seeds: "${seeds}" has no seed in it`)
}

function isWell(): Promise<boolean> {
  if (values.replay !== undefined) return runOne(parseRegression(readFileSync(resolve(values.replay), 'utf8')).scenario)
  if (values.seed !== undefined) return runOne(scenarioOf(wholeNumber('--seed', values.seed)))
  if (values.minutes !== undefined) return runMany(wholeNumber('--from', values.from), Infinity)
  return runMany(...rangeOf(values.seeds ?? '1..1000'))
}

const what = values.replay ?? `seed ${values.seed ?? values.seeds ?? `${values.from}..`}`
console.log(`${what} at ${commit}: npm run sim -- ${process.argv.slice(2).join(' ')}`)
process.exitCode = (await isWell()) ? 0 : 1
