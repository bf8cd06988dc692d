import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { optionsOf, refuse, wholeNumber } from '../support/command-line.ts'
import { runTwice, scenarios, type EngineName, type Tally } from './run-seed.ts'
import type { Scenario } from './scenario.ts'
import { runPool } from './seed-pool.ts'
import { isFenceTried } from './checkers/checker.ts'
import { simulate } from './simulate.ts'
import { parseRegression, shrink, sortOf, type Regression } from './shrink.ts'

/**
 * `npm run sim -- [--engine aws | local] [--seed N | --seeds A..B | --from A --minutes M | --replay file]`
 *
 * Every seed runs twice, and both runs must leave the same trace. The first line says how to repeat what follows; the
 * exit code is 1 if a promise was broken. `--trace` prints what happened (one seed or a file), `--threads` is how many
 * cores it takes (default: all), `--first` ends with the first broken seed, `--shrink` makes broken seeds shorter and
 * writes them to `regressions`. `--once` is for long series: only one seed in sixteen runs a second time. `--digests`
 * prints what each seed of `--seeds` leaves as one digest: equal ones at two commits say that nothing which is drawn
 * became another. `--fenced` leaves the others of these seeds out, in which no worker outlives its turn. `--with` is a
 * part of a scenario, such as `Guard`, `hold` or `watch`: seeds without it are left out.
 */
const { values } = optionsOf('npm run sim --', {
  options: {
    engine: { type: 'string', default: 'aws' },
    seed: { type: 'string' },
    seeds: { type: 'string' },
    from: { type: 'string', default: '1' },
    minutes: { type: 'string' },
    replay: { type: 'string' },
    threads: { type: 'string', default: String(availableParallelism()) },
    trace: { type: 'boolean', default: false },
    first: { type: 'boolean', default: false },
    once: { type: 'boolean', default: false },
    shrink: { type: 'boolean', default: false },
    digests: { type: 'boolean', default: false },
    fenced: { type: 'boolean', default: false },
    with: { type: 'string' },
  },
})

// Of the threads that run seeds: all cores are taken, and little is alive of what was made since some seeds ended.
for (const flag of ['--single-threaded-gc', '--min-semi-space-size=256', '--max-semi-space-size=256'])
  setFlagsFromString(flag)

const engine: EngineName =
  values.engine === 'aws' || values.engine === 'local' ? values.engine : refuse('--engine is aws or local')
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
  const stopped = stopOnSignals()
  const progress = (all: Tally): void => {
    const rate = all.seeds / ((Date.now() - beganMs) / 1_000)
    console.log(`${new Date().toISOString()} ${figures(all)} ${rate.toFixed(0)} seeds/s ${megabytes()} MB`)
    toldMs = Date.now()
  }
  const all = await runPool({
    engine,
    from,
    to,
    threads: wholeNumber('--threads', values.threads, 1),
    isFirstOnly: values.first,
    isOnce: values.once,
    part: values.with,
    isOver: () => stopped.isSo || Date.now() >= untilMs,
    onSlice: (slice, sum) => {
      for (const { seed, violations } of slice.broken) tell(seed, violations)
      if (Date.now() - toldMs > progressMs) progress(sum)
    },
  })
  progress(all)
  summary(all, from, to)
  for (const { seed, violations } of values.shrink ? all.broken.slice(0, 20) : [])
    await keepShorter(scenarios[engine](seed), violations)
  return all.broken.length === 0
}

/** Seeds are given out in order, and those that have begun are run to their end: so the next one is known. */
function summary(all: Tally, from: number, to: number): void {
  const isWhole = values.with === undefined
  console.log(`seeds ${from}..${isWhole ? from + all.seeds - 1 : `${to} with ${values.with}`}: ${figures(all)}`)
  console.log(`faults: ${JSON.stringify(Object.fromEntries(Object.entries(all.faults).sort(([, a], [, b]) => b - a)))}`)
  for (const { seed, violations } of all.broken) tell(seed, violations.slice(0, 1))
  if (isWhole && from + all.seeds <= to && !values.first && to !== Infinity)
    console.log(`goes on with: npm run sim -- --engine ${engine} --seeds ${from + all.seeds}..${to}`)
}

/** A first signal ends it after the seeds that have begun, with a summary; a second one ends it at once. */
function stopOnSignals(): { readonly isSo: boolean } {
  const stopped = { isSo: false }
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      stopped.isSo = true
    })
  return stopped
}

function megabytes(): string {
  return (process.memoryUsage().rss / 1_000_000).toFixed(0)
}

const progressMs = 10_000

function figures({ seeds, hours, runs, faults, broken }: Tally): string {
  const count = Object.values(faults).reduce((sum, one) => sum + one, 0)
  return `${seeds} seeds, ${hours.toFixed(0)} virtual hours, ${runs} runs, ${count} faults, ${broken.length} seeds broken`
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

async function tellDigests(from: number, to: number): Promise<boolean> {
  let isWhole = true
  for (let seed = from; seed <= to; seed++) {
    const scenario = scenarios[engine](seed)
    if (values.fenced && !isFenceTried(scenario)) continue
    const { trace, violations } = await simulate(scenario)
    tell(seed, violations)
    const text = [...trace, ...violations].join('\n')
    console.log(`${seed} ${createHash('sha256').update(text).digest('hex').slice(0, 16)} of ${trace.length} lines`)
    isWhole &&= violations.length === 0
  }
  return isWhole
}

function isWell(): Promise<boolean> {
  if (values.digests) return tellDigests(...rangeOf(values.seeds ?? '1..100'))
  if (values.replay !== undefined) return runOne(parseRegression(readFileSync(resolve(values.replay), 'utf8')).scenario)
  if (values.seed !== undefined) return runOne(scenarios[engine](wholeNumber('--seed', values.seed)))
  if (values.minutes !== undefined) return runMany(wholeNumber('--from', values.from), Infinity)
  return runMany(...rangeOf(values.seeds ?? '1..1000'))
}

const what = values.replay ?? `seed ${values.seed ?? values.seeds ?? `${values.from}..`}`
console.log(`${what} at ${commit}: npm run sim -- ${process.argv.slice(2).join(' ')}`)
process.exitCode = (await isWell()) ? 0 : 1
