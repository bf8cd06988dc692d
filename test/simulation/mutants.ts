import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { optionsOf } from '../support/command-line.ts'
import { copySources } from '../support/source-copy.ts'
import type { EngineName } from './run-seed.ts'
import { allPlanted } from './all-planted.ts'
import type { PlantedBug } from './planted-bugs.ts'

/**
 * `node test/simulation/mutants.ts [--seeds 2000 | A..B] [--threads 2] [--only text] [--engine local]`: plants bugs
 * in a copy of the source, one at a time, and says which checker finds each, and with which seed. A bug that no seed
 * finds is a hole in the checkers; exit code 1 then. First come the seeds from the one that docs/simulator.md names.
 */
const { values } = optionsOf('node test/simulation/mutants.ts', {
  options: {
    seeds: { type: 'string', default: '2000' },
    threads: { type: 'string', default: '2' },
    only: { type: 'string', default: '' },
    engine: { type: 'string', default: '' },
  },
})

using copy = copySources('planted')
const directory = copy.path
spawnSync('git', ['init', '-q'], { cwd: directory })
spawnSync('git', ['-c', 'user.name=m', '-c', 'user.email=m', 'commit', '-q', '--allow-empty', '-m', 'm'], {
  cwd: directory,
})

const tables = readFileSync(join(import.meta.dirname, '../../docs/simulator.md'), 'utf8')

/** The seeds to try, in series: those about the one that caught it last, and all. */
function seriesFor(bug: string): readonly string[] {
  const all = values.seeds.includes('..') ? values.seeds : `1..${values.seeds}`
  const line = tables.split('\n').find((one) => one.startsWith(`| ${bug} |`))
  const known = Number(line?.split(' | ').at(-1)?.replace(' |', ''))
  return Number.isNaN(known) ? [all] : [`${known}..${known + knownCount - 1}`, all]
}

const knownCount = 20

/** The first violation that a bug leads to, or undefined. */
function hunt({ bug, file, find, replace, engine = 'aws', part }: PlantedBug): string | undefined {
  const path = join(directory, file)
  const source = readFileSync(path, 'utf8')
  if (source.split(find).length !== 2) throw new Error(`${file} does not hold this once: ${find}`)
  writeFileSync(
    path,
    source.replace(find, () => replace),
  )
  let found: string | undefined
  for (const seeds of seriesFor(bug)) found ??= findBroken(engine, seeds, part)
  writeFileSync(path, source)
  return found
}

function findBroken(engine: EngineName, seeds: string, part: string | undefined): string | undefined {
  const only = part === undefined ? [] : ['--with', part]
  const series = ['--engine', engine, '--seeds', seeds, '--first', '--once', '--threads', values.threads, ...only]
  const program = ['test/simulation/main.ts', ...series]
  const { stdout, stderr } = spawnSync(process.execPath, program, { cwd: directory, encoding: 'utf8' })
  if (!stdout.includes('faults: ')) throw new Error(`the simulation broke down: ${stderr}`)
  return /^seed \d+: .*$/m.exec(stdout)?.[0]
}

function row({ bug }: PlantedBug, found: string | undefined): string {
  if (found === undefined) return `| ${bug} | **missed** | |`
  const [, seed = '', checker = ''] = /^seed (\d+): (.*?): /.exec(found) ?? []
  return `| ${bug} | ${checker} | ${seed} |`
}

let missed = 0
const planted = allPlanted.filter(
  ({ bug, engine = 'aws' }) => bug.includes(values.only) && engine.includes(values.engine),
)
console.log('| planted bug | caught by | seed |\n| --- | --- | --- |')
for (const bug of planted) {
  const found = hunt(bug)
  missed += found === undefined ? 1 : 0
  console.log(row(bug, found))
}
console.log(`\n${planted.length - missed} of ${planted.length} caught within the seeds ${values.seeds}`)
process.exitCode = missed > 0 ? 1 : 0
