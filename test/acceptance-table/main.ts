/**
 * `npm run acceptance`: runs the acceptance tests and prints what the source documents ask for, number by number, with
 * the tests that show it; with `-- --tests`, every one of them and its file. Exits 1 if a number has no test, or if
 * anything failed: a test with a number or without, a file that does not load, an error outside a test.
 *
 * `-- --dead-engine` runs the same tests on an engine whose queues deliver nothing, and exits 1 if the tests of a
 * number all pass there (test/acceptance-table/engineless.ts lists the numbers that are about something else, and why).
 *
 * `-- --aws` runs them on the engine of AWS (test/aws/acceptance-engine.ts), says which do not apply there, and why,
 * and adds those that stand in their place (test/aws/acceptance*.test.ts). It takes a quarter of an hour: each minute
 * of virtual time is a tick of some fifty requests.
 *
 * `-- --include GLOB` runs other files in place of test/acceptance.
 */
import { fileURLToPath } from 'node:url'
import { startVitest, type TestUserConfig } from 'vitest/node'
import { applies, elsewhere } from '../aws/elsewhere.ts'
import { optionsOf } from '../support/command-line.ts'
import { inThreads } from '../support/in-threads.ts'
import { joinRuns, testRunOf, type TestRun } from '../support/test-run.ts'
import { engineless } from './engineless.ts'
import { deadFaultsOf, faultsOf, isShown, printRow, rowsOf } from './rows.ts'

// Nothing is left out.
process.env['SETPOINT_TESTS'] = 'long'
const root = fileURLToPath(new URL('../..', import.meta.url))

const options = optionsOf('npm run acceptance --', {
  options: {
    aws: { type: 'boolean', default: false },
    'dead-engine': { type: 'boolean', default: false },
    tests: { type: 'boolean', default: false },
    include: { type: 'string', default: 'test/acceptance/**/*.test.ts' },
  },
}).values

async function run(more: TestUserConfig): Promise<TestRun> {
  const vitest = await startVitest([], {
    config: false,
    root,
    watch: false,
    include: [options.include],
    testTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    restoreMocks: true,
    unstubGlobals: true,
    reporters: ['dot'],
    ...more,
  })
  const ended = joinRuns([testRunOf(vitest)])
  await vitest.close()
  return ended
}

async function runOnAws(): Promise<TestRun> {
  const ended = await run({
    include: [options.include, 'test/aws/acceptance*.test.ts'],
    setupFiles: ['test/aws/acceptance-engine.ts'],
    testTimeout: 1_800_000,
    hookTimeout: 600_000,
    maxWorkers: 3,
    testNamePattern: applies(),
  })
  for (const { name } of ended.tests)
    if (elsewhere(name) !== undefined) console.log(`does not apply: ${name}: ${elsewhere(name)}`)
  return { ...ended, tests: ended.tests.filter(({ name }) => elsewhere(name) === undefined) }
}

/** What failed there is what was to fail, so nothing is printed of it, and it is not waited for for long. */
function runOnDeadEngine(): Promise<TestRun> {
  return run({
    setupFiles: ['test/acceptance-table/dead-engine.ts'],
    testTimeout: 60_000,
    expect: { poll: { timeout: 1_000 } },
    reporters: [{}],
    ...inThreads,
  })
}

function printTable(ended: TestRun): readonly string[] {
  const rows = rowsOf(ended)
  for (const row of rows) console.log(printRow(row, options.tests))
  console.log(`\n${rows.filter(isShown).length} of ${rows.length}`)
  return faultsOf(ended)
}

function printDead(ended: TestRun): readonly string[] {
  const passed = ended.tests.filter(({ state }) => state === 'passed')
  if (options.tests) for (const { file, fullName } of passed) console.log(`passes: ${file} > ${fullName}`)
  for (const [number, why] of Object.entries(engineless)) console.log(`${number.padEnd(4)} needs no engine: ${why}`)
  console.log(`\n${passed.length} of ${ended.tests.length} tests pass on a dead engine`)
  return deadFaultsOf(ended, engineless)
}

const faults = options['dead-engine']
  ? printDead(await runOnDeadEngine())
  : printTable(await (options.aws ? runOnAws() : run({})))
for (const fault of faults) console.log(fault)
// Once all is written: an exit cuts off what a pipe has not taken yet.
process.stdout.write('', () => process.exit(faults.length === 0 ? 0 : 1))
