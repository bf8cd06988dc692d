import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSeededRandom } from '../../shared/testing/seeded-random.ts'
import { root, sourceFiles } from '../architecture/source.ts'
import { optionsOf, wholeNumber } from '../support/command-line.ts'
import { findMutants, type Mutant } from './find-mutants.ts'
import { Judge } from './judge.ts'
import { knownSurvivors } from './survivors.ts'

/**
 * `npm run mutants`: makes small changes of the program, one at a time, and runs the tests that reach them. A change
 * that no test notices is a hole in the tests. Exit code 1 if fewer than 95 of 100 were killed.
 *
 *     npm run mutants                             all of them: days of processor time
 *     npm run mutants -- --sample 20 --seed 7     20 of them, drawn by a seed
 *     npm run mutants -- --only engine/state      those of files whose path holds this text
 */
const { values } = optionsOf('npm run mutants --', {
  options: {
    sample: { type: 'string', default: '' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    minutes: { type: 'string', default: '10' },
    near: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
})

/** Where promises are kept. */
const folders = ['model', 'resources', 'engine', 'reconciler', 'api', 'adapters/local'].map((name) => `shared/${name}`)
const leastKilled = 0.95

const all = sourceFiles(folders)
  .filter(({ path }) => path.includes(values.only))
  .flatMap(({ path, text }) => findMutants(path, text))
  .filter((mutant) => !isKnown(mutant))
const drawn = values.sample === '' ? all : draw(all, wholeNumber('--sample', values.sample, 1))
console.log(`${drawn.length} of ${all.length} mutants, seed ${values.seed}`)
if (values.list) for (const mutant of drawn) console.log(describe(mutant))
else process.exitCode = judgeAll(drawn) >= leastKilled ? 0 : 1

/** The part that was killed. */
function judgeAll(mutants: readonly Mutant[]): number {
  using judge = new Judge({ timeoutMs: wholeNumber('--minutes', values.minutes, 1) * 60_000, near: values.near })
  let killed = 0
  for (const mutant of mutants) {
    const judgement = judge.judge(mutant)
    if (judgement !== 'survived') killed++
    console.log(`${judgement.padEnd(9)}  ${describe(mutant)}`)
  }
  console.log(`${killed} of ${mutants.length} killed`)
  return mutants.length === 0 ? 1 : killed / mutants.length
}

function draw(from: readonly Mutant[], count: number): readonly Mutant[] {
  const random = createSeededRandom(wholeNumber('--seed', values.seed))
  return from
    .map((mutant) => ({ mutant, at: random.next() }))
    .toSorted((a, b) => a.at - b.at)
    .slice(0, count)
    .map(({ mutant }) => mutant)
}

function describe({ path, line, original, replacement }: Mutant): string {
  return `${path}:${line}  ${original.replaceAll(/\s+/g, ' ').slice(0, 60)}  →  ${replacement}`
}

function isKnown({ path, line, replacement }: Mutant): boolean {
  return knownSurvivors.some(
    (known) => known.path === path && known.replacement === replacement && known.line === lineOf(path, line),
  )
}

function lineOf(path: string, line: number): string {
  return (readFileSync(join(root, path), 'utf8').split('\n')[line - 1] ?? '').trim()
}
