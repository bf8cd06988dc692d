/**
 * `npm test`: tests, and beside them types, lint and format. All of it runs, whatever fails on the way; the last line
 * is `N passed, N failed, N skipped`, where a failed check, a file that does not load, an error outside a test and a
 * skip without a reason count as failed. Exits 1 if anything failed.
 *
 * `npm run test:long` (`--long`) leaves nothing out: files named `*.long.test.ts`, tests that the short form skips for
 * what they cost, ten times the seeds and the runs of properties (test/support/strength.ts), lint by types, and a look
 * for dead code.
 *
 * Arguments choose test files, as with vitest, and leave out the checks: `npm test -- test/unit/model`. Then
 * costly tests of these files run, too.
 *
 * `npm test -- --costs` runs the tests of the short form one after the other, and writes down which take long: from
 * then on `npm test` leaves these out (test/support/costly.ts).
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { startVitest, type CliOptions } from 'vitest/node'
import { costlyFile, costlyOf, readCostly, strangersIn, type Costly } from './support/costly.ts'
import { joinRuns, testRunOf, type EndedTest, type TestRun } from './support/test-run.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

const given = process.argv.slice(2)
const chosen = given.filter((one) => one !== '--long' && one !== '--costs')
const isLong = given.includes('--long') || chosen.some((one) => one.includes('.long'))
const isForCosts = given.includes('--costs')
const isQuick = !isLong && !isForCosts && chosen.length === 0

/** A name, a command and its arguments. */
type Check = readonly [string, string, ...string[]]

/** Without the rules that look at types, and so without a word on comments that allow what those forbid. */
const quickLint: Check = ['lint', 'oxlint', '--report-unused-disable-directives-severity', 'off']
/** Neither these nor the tests write into the tree, which may belong to another user. */
const checks: readonly Check[] = [
  ['types', 'tsc', '--incremental', 'false', '--tsBuildInfoFile', 'null', '--checkers', '1'],
  isLong ? ['lint', 'oxlint', '--type-aware'] : quickLint,
  ['format', 'oxfmt', '--list-different'],
  ...(isLong ? [['dead code', 'knip'] as const] : []),
]

/**
 * For the compiler and the linter, which are Go programs: on one processor they work out each type once, and below
 * this limit they collect no memory. That halves their processor time, and the tests take the other processors.
 */
const goEnvironment = { GOMAXPROCS: '1', GOGC: 'off', GOMEMLIMIT: '3GiB' }

/** Whether the check holds. What it finds goes to the terminal when it has ended. */
async function check([name, command, ...args]: Check): Promise<boolean> {
  const startMs = performance.now()
  const PATH = `${root}node_modules/.bin${delimiter}${process.env['PATH'] ?? ''}`
  const env = { ...process.env, PATH, ...goEnvironment }
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], env })
  const ended = once(child, 'close').catch((error: unknown) => [error])
  const [found, complaints, [code]] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  const holds = code === 0
  console.log(`${found}${complaints}${holds ? 'ok    ' : 'FAILED'} ${name} ${seconds(startMs)}`)
  if (code instanceof Error) console.log(code.message)
  return holds
}

function seconds(startMs: number): string {
  return `${((performance.now() - startMs) / 1000).toFixed(1)} s`
}

/** How many of them fail, one after the other: the tests take the rest of the machine. */
async function runChecks(): Promise<number> {
  let failed = 0
  for (const one of checks) if (!(await check(one))) failed++
  return failed
}

/** Of vitest.config.ts. */
type Project = 'system' | 'pure' | 'timed'

/** From here on a test is costly. Tests of the system mostly wait, while others compute. */
const costlyMs: Readonly<Record<Project, number>> = { system: 600, pure: 60, timed: 150 }

/** What the tests came to, and how many checks beside them failed. */
interface Ended {
  readonly run: TestRun
  readonly failedChecks: number
}

/**
 * Tests that compute and tests that mostly wait fill the machine together. Tests that measure time come last, and no
 * other test runs beside them. They have one thread, so the checks, which are processes of their own, run then.
 */
async function runTests(filters: readonly string[]): Promise<Ended> {
  const run = (project: Project): Promise<TestRun> => runProject(project, filters).catch(brokenRun)
  const [system, pure] = await Promise.all([run('system'), run('pure')])
  const [timed, failedChecks] = await Promise.all([run('timed'), filters.length === 0 ? runChecks() : 0])
  return { run: joinRuns([system, pure, timed]), failedChecks }
}

/** One test runs at a time here, so that what each takes is its own. */
async function noteCosts(): Promise<Ended> {
  const runs: TestRun[] = []
  let costly: Costly = {}
  for (const [project, limitMs] of Object.entries(costlyMs) as [Project, number][]) {
    const ended = await runProject(project, [], { maxWorkers: 1 })
    runs.push(ended)
    costly = { ...costly, ...costlyOf(ended.tests, limitMs) }
  }
  writeFileSync(join(root, costlyFile), `${JSON.stringify(costly, undefined, 2)}\n`)
  return { run: joinRuns(runs), failedChecks: 0 }
}

async function runProject(project: Project, filters: readonly string[], more: CliOptions = {}): Promise<TestRun> {
  const startMs = performance.now()
  const vitest = await startVitest([...filters], {
    root,
    watch: false,
    configLoader: 'native',
    project: [project],
    passWithNoTests: true,
    ...more,
  })
  const ended = testRunOf(vitest)
  await vitest.close()
  const holds = ended.troubles.length === 0 && ended.tests.every(({ state }) => state !== 'failed')
  console.log(`${holds ? 'ok    ' : 'FAILED'} ${project} tests ${seconds(startMs)}`)
  return ended
}

function brokenRun(error: unknown): TestRun {
  console.error(error)
  return { tests: [], troubles: [String(error)] }
}

/** The last lines, and how many failures there are in all. */
function report({ run: { tests, troubles }, failedChecks }: Ended): number {
  const inState = (wanted: EndedTest['state']): readonly EndedTest[] => tests.filter(({ state }) => state === wanted)
  const skipped = inState('skipped')
  for (const trouble of troubles) console.log(`FAILED ${trouble}`)
  for (const one of inState('failed')) console.log(`FAILED ${one.file} > ${one.fullName}: ${one.error ?? ''}`)
  const strangers = isQuick ? strangersIn(readCostly(), tests) : []
  for (const stranger of strangers) console.log(`FAILED ${costlyFile} names a test that does not exist: ${stranger}`)
  for (const [reason, some] of Map.groupBy(skipped, (one) => one.reason ?? 'without a reason'))
    console.log(`skipped: ${some[0]?.fullName}${some.length > 1 ? ` and ${some.length - 1} more` : ''}: ${reason}`)
  const left = isLong ? 0 : globSync('test/**/*.long.test.ts', { cwd: root }).length
  if (left > 0) console.log(`left out: ${left} files: npm run test:long`)
  const withoutReason = skipped.filter(({ reason }) => reason === undefined).length
  const failed = failedChecks + troubles.length + strangers.length + inState('failed').length + withoutReason
  console.log(`${inState('passed').length} passed, ${failed} failed, ${skipped.length} skipped`)
  return failed
}

if (chosen.some((one) => one.startsWith('-')) || (isForCosts && given.length > 1)) {
  console.log('usage: npm test -- [--long] [path …] | --costs')
  process.exit(chosen.includes('--help') ? 0 : 1)
}
if (isLong) process.env['SETPOINT_TESTS'] = 'long'
if (isQuick) process.env['SETPOINT_TESTS'] = 'quick'
// Programs that tests start load the same modules over and over: Node keeps them compiled here.
const compiled = mkdtempSync(join(tmpdir(), 'setpoint-compiled-'))
process.env['NODE_COMPILE_CACHE'] ??= compiled
const ended = await (isForCosts ? noteCosts() : runTests(chosen))
rmSync(compiled, { recursive: true, force: true })
const failed = report(ended)
process.exit(failed === 0 ? 0 : 1)
