import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSeededRandom } from '../../shared/testing/seeded-random.ts'
import { root, sourceFiles } from '../architecture/source.ts'
import { optionsOf, wholeNumber } from '../support/command-line.ts'
import { findMutants, type Mutant } from './find-mutants.ts'
import { leastKilledOf, seedOfDay } from './gate.ts'
import { Judge } from './judge.ts'
import { describeMutant, reportOf, type Judged } from './report.ts'
import { knownSurvivors } from './survivors.ts'

/**
 * `npm run mutants`: makes small changes of the program, one at a time, and runs the tests that reach them, the nearest
 * first. A change that no test notices is a hole in the tests. Exit code 1 if fewer than 95 of 100 were killed; of a
 * sample, if so few were killed that this is hardly by chance.
 *
 *     npm run mutants                             all of them: days of processor time
 *     npm run mutants -- --sample 20              20 of them, others each day
 *     npm run mutants -- --sample 20 --seed 7     20 of them, drawn by a seed
 *     npm run mutants -- --only engine/state      those of files whose path holds this text
 *     npm run mutants -- --sample 20 --near       a quick look: the eight nearest test files only
 *     npm run mutants -- --report test/mutants/REPORT.md   writes down what was found
 */
const { values } = optionsOf('npm run mutants --', {
  options: {
    sample: { type: 'string', default: '' },
    seed: { type: 'string', default: String(seedOfDay(Date.now())) },
    only: { type: 'string', default: '' },
    minutes: { type: 'string', default: '10' },
    near: { type: 'boolean', default: false },
    report: { type: 'string', default: '' },
    list: { type: 'boolean', default: false },
  },
})

/** Where promises are kept. */
const folders = ['model', 'resources', 'engine', 'reconciler', 'api', 'adapters/local'].map((name) => `shared/${name}`)
const all = sourceFiles(folders)
  .filter(({ path }) => path.includes(values.only))
  .flatMap(({ path, text }) => findMutants(path, text))
  .filter((mutant) => !isKnown(mutant))
const drawn = values.sample === '' ? all : draw(all, wholeNumber('--sample', values.sample, 1))
const about = {
  command: ['npm run mutants --', ...process.argv.slice(2)].join(' '),
  commit: execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim(),
  day: new Date().toISOString().slice(0, 10),
  all: all.length,
  known: knownSurvivors,
}
console.log(`${drawn.length} of ${all.length} mutants, seed ${values.seed}`)
if (values.list) for (const mutant of drawn) console.log(describeMutant(mutant))
else judgeAll()

function judgeAll(): void {
  using judge = new Judge({ timeoutMs: wholeNumber('--minutes', values.minutes, 1) * 60_000, near: values.near })
  const judged: Judged[] = []
  for (const mutant of drawn) {
    const judgement = judge.judge(mutant)
    judged.push({ mutant, judgement })
    console.log(`${judgement.padEnd(9)}  ${describeMutant(mutant)}`)
    if (values.report !== '') writeFileSync(values.report, reportOf({ ...about, judged }))
  }
  const killed = judged.filter(({ judgement }) => judgement !== 'survived').length
  const least = leastKilledOf(judged.length, values.sample !== '')
  console.log(`${killed} of ${judged.length} killed; at least ${least} have to be`)
  process.exitCode = killed >= least ? 0 : 1
}

function draw(from: readonly Mutant[], count: number): readonly Mutant[] {
  const random = createSeededRandom(wholeNumber('--seed', values.seed))
  return from
    .map((mutant) => ({ mutant, at: random.next() }))
    .toSorted((a, b) => a.at - b.at)
    .slice(0, count)
    .map(({ mutant }) => mutant)
}

function isKnown({ path, line, replacement }: Mutant): boolean {
  return knownSurvivors.some(
    (known) => known.path === path && known.replacement === replacement && known.line === lineOf(path, line),
  )
}

function lineOf(path: string, line: number): string {
  return (readFileSync(join(root, path), 'utf8').split('\n')[line - 1] ?? '').trim()
}
