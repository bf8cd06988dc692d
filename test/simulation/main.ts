import { execFileSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { simulate } from './simulate.ts'

/**
 * `node test/simulation/main.ts --seed N | --seeds A..B [--trace] [--first]`: every seed runs twice, and both runs must leave the same trace.
 * `--first` ends with the first seed that breaks a promise. The first line says how to repeat it; the exit code is 1 if a promise was broken.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string', default: '1..100' },
    trace: { type: 'boolean', default: false },
    first: { type: 'boolean', default: false },
  },
})

const [first, last] =
  values.seed === undefined ? values.seeds.split('..').map(Number) : [Number(values.seed), Number(values.seed)]
const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD']).toString().trim()
console.log(`seeds ${first}..${last} at ${commit}: node test/simulation/main.ts ${process.argv.slice(2).join(' ')}`)

let broken = 0
let hours = 0
let runs = 0
for (let seed = first ?? 1; seed <= (last ?? 1); seed++) {
  const result = await simulate({ seed })
  const again = await simulate({ seed })
  if (values.trace) console.log(result.trace.join('\n'))
  const differs = result.trace.findIndex((line, i) => line !== again.trace[i])
  const violations =
    differs < 0
      ? result.violations
      : [
          ...result.violations,
          `the second run differs at line ${differs}: ${result.trace[differs]} | ${again.trace[differs]}`,
        ]
  for (const violation of violations) console.log(`seed ${seed}: ${violation}`)
  broken += violations.length > 0 ? 1 : 0
  if (broken > 0 && values.first) break
  hours += result.hours
  runs += result.runs
}
console.log(
  `${(last ?? 1) - (first ?? 1) + 1} seeds, ${hours.toFixed(0)} virtual hours, ${runs} runs, ${broken} seeds broken`,
)
process.exitCode = broken > 0 ? 1 : 0
