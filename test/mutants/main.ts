import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createSeededRandom } from '../../shared/testing/seeded-random.ts'
import { root, sourceFiles } from '../architecture/source.ts'
import { optionsOf, wholeNumber } from '../support/command-line.ts'
import { findMutants } from './find-mutants.ts'
import { leastKilledOf, seedOfDay } from './gate.ts'
import { Coverage } from './coverage.ts'
import { Judge } from './judge.ts'
import type { FileRecord } from './host-messages.ts'
import type { Numbered } from './instrument.ts'
import { describeMutant, isKilled, reportOf, type Judged } from './report.ts'
import { mutantsOf } from './known.ts'
import { isNear, roomOf } from './room.ts'
import { knownSurvivors } from './survivors.ts'
import { Workshop } from './workshop.ts'

/**
 * `npm run mutants`: makes small changes of the program, one at a time, and runs the tests that come by them, the
 * cheapest first. A change that no test notices is a hole in the tests. Exit code 1 if fewer than 95 of 100 were
 * killed; of a sample, if so few were killed that this is hardly by chance.
 *
 *     npm run mutants                             all of them: a night
 *     npm run mutants -- --sample 20              20 of them, others each day
 *     npm run mutants -- --sample 20 --seed 7     20 of them, drawn by a seed
 *     npm run mutants -- --each 20                20 of each room
 *     npm run mutants -- --only engine/state      those of files whose path holds this text
 *     npm run mutants -- --near                   with the unit tests of their own room only, however long these take
 *     npm run mutants -- --tests unit/engine      with test files whose path holds this text: a quick look
 *     npm run mutants -- --seconds 60             for other tests of one mutant, as long as they take without it
 *     npm run mutants -- --known --near           those that are said to survive: none may be killed
 *     npm run mutants -- --hosts 2                so many processes at a time
 *     npm run mutants -- --keep /tmp/records      keeps what tests come by there, until the sources change
 *     npm run mutants -- --report test/mutants/REPORT.md   writes down what was found
 */
const { values } = optionsOf('npm run mutants --', {
  options: {
    sample: { type: 'string', default: '' },
    each: { type: 'string', default: '' },
    seed: { type: 'string', default: String(seedOfDay(Date.now())) },
    only: { type: 'string', default: '' },
    tests: { type: 'string', default: '' },
    near: { type: 'boolean', default: false },
    known: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '20' },
    hosts: { type: 'string', default: '1' },
    keep: { type: 'string', default: '' },
    report: { type: 'string', default: '' },
    list: { type: 'boolean', default: false },
  },
})

/** Where promises are kept. */
const gate = ['model', 'resources', 'engine', 'reconciler', 'api', 'adapters/local']
/** Judged only if `--only` asks for them, until their unit tests kill as many. */
const onTrial = ['adapters/aws', 'runtime/aws', 'runtime/local']
const folders = [...gate, ...(values.only === '' ? [] : onTrial)].map((name) => `shared/${name}`)
const files = sourceFiles(folders).map(({ path, text }) => ({ text, mutants: findMutants(path, text) }))
const numbered = files.flatMap(({ mutants }) => mutants).map((mutant, id) => ({ mutant, id }))
const known = new Set(
  files.flatMap(({ text, mutants }) => knownSurvivors.flatMap((one) => mutantsOf(one, mutants, text))),
)
const all = numbered.filter(({ mutant }) => mutant.path.includes(values.only) && known.has(mutant) === values.known)
const isSample = values.sample !== '' || values.each !== ''
const drawn = drawnOf(all).toSorted((a, b) => a.id - b.id)
const about = {
  command: ['npm run mutants --', ...process.argv.slice(2)].join(' '),
  commit: execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim(),
  day: new Date().toISOString().slice(0, 10),
  all: all.length,
  known: knownSurvivors,
}
console.log(`${drawn.length} of ${all.length} mutants, seed ${values.seed}`)
if (values.list) for (const { mutant } of drawn) console.log(describeMutant(mutant))
else await judgeAll()

async function judgeAll(): Promise<void> {
  const hosts = wholeNumber('--hosts', values.hosts, 1)
  using workshop = new Workshop(numbered, values.keep)
  const paths = new Set(drawn.map(({ mutant }) => mutant.path))
  const records = await workshop.cover(paths, { hosts, isWanted })
  tellOf(records)
  const options = {
    coverage: new Coverage(records, numbered.length),
    budgetMs: values.near ? 0 : wholeNumber('--seconds', values.seconds, 1) * 1000,
    killers: new Map<string, Map<string, number>>(),
    all: numbered,
  }
  const judged: Judged[] = []
  const open = drawn.values()
  const work = async (): Promise<void> => {
    using judge = new Judge(workshop, options)
    for (const one of open) {
      const startMs = performance.now()
      const { judgement, by = '' } = await judge.judge(one)
      judged.push({ mutant: one.mutant, judgement })
      const ms = String(Math.round(performance.now() - startMs)).padStart(6)
      console.log(`${judgement.padEnd(9)} ${ms} ms  ${describeMutant(one.mutant)}  ${by}`)
    }
  }
  await Promise.all(Array.from({ length: hosts }, work))
  conclude(judged)
}

function isWanted(test: string): boolean {
  return test.includes(values.tests) && (!values.near || drawn.some(({ mutant }) => isNear(test, mutant.path)))
}

function tellOf(records: readonly FileRecord[]): void {
  for (const { path, failed } of records) if (failed !== undefined) console.log(`fails without a mutant: ${path}`)
  const tests = records.reduce((sum, record) => sum + record.tests.length, 0)
  console.log(`${tests} tests in ${records.length} files`)
}

function conclude(judged: readonly Judged[]): void {
  if (values.known) return concludeKnown(judged)
  const report = reportOf({ ...about, judged })
  if (values.report !== '') writeFileSync(values.report, report)
  const killed = judged.filter(isKilled).length
  const least = leastKilledOf(judged.length, isSample)
  console.log(report.slice(0, report.indexOf('\n## ')))
  console.log(`${killed} of ${judged.length} killed; at least ${least} have to be`)
  process.exitCode = killed >= least ? 0 : 1
}

/** A mutant that a test kills is none that no test can notice: its entry in the list is wrong, or stands for others. */
function concludeKnown(judged: readonly Judged[]): void {
  const killed = judged.filter(isKilled)
  for (const { mutant } of killed) console.log(`is killed, though it is said to survive: ${describeMutant(mutant)}`)
  console.log(`${killed.length} of ${judged.length} known survivors are killed; none may be`)
  process.exitCode = killed.length === 0 ? 0 : 1
}

/** All of them, or so many, or so many of each room. */
function drawnOf(from: readonly Numbered[]): readonly Numbered[] {
  const random = createSeededRandom(wholeNumber('--seed', values.seed))
  const shuffled = from.map((one) => ({ one, at: random.next() })).toSorted((a, b) => a.at - b.at)
  const mixed = shuffled.map(({ one }) => one)
  if (values.sample !== '') return mixed.slice(0, wholeNumber('--sample', values.sample, 1))
  if (values.each === '') return mixed
  const each = wholeNumber('--each', values.each, 1)
  return [...Map.groupBy(mixed, ({ mutant }) => roomOf(mutant.path)).values()].flatMap((some) => some.slice(0, each))
}
