/**
 * `npm test`: types, lint, format, dead code, then every test. All of it runs, whatever fails on the way; the last line is
 * `N passed, N failed, N skipped`, where a failed check, a file that did not load, an error outside a test and a skip
 * without a reason count as failed. Exits 1 if anything failed.
 *
 * Arguments choose test files, as with vitest, and leave out the checks: `npm test -- test/unit/model`.
 */
import { spawnSync } from 'node:child_process'
import { delimiter } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startVitest } from 'vitest/node'
import { testRunOf, type EndedTest, type TestRun } from './support/test-run.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Neither these nor the tests write into the tree, which may belong to another user. */
const checks = [
  ['types', 'tsc', '--incremental', 'false', '--tsBuildInfoFile', 'null'],
  ['lint', 'oxlint', '--type-aware'],
  ['format', 'prettier', '--check', '--log-level', 'warn', '.'],
  ['dead code', 'knip'],
] as const

/** Whether the check holds. What it finds goes to the terminal. */
function check([name, command, ...args]: readonly [string, string, ...string[]]): boolean {
  const startMs = performance.now()
  const PATH = `${root}node_modules/.bin${delimiter}${process.env['PATH'] ?? ''}`
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit', env: { ...process.env, PATH } })
  const holds = status === 0
  console.log(
    `${holds ? 'ok    ' : 'FAILED'} ${name} ${seconds(startMs)}${error === undefined ? '' : `: ${error.message}`}`,
  )
  return holds
}

function seconds(startMs: number): string {
  return `${((performance.now() - startMs) / 1000).toFixed(1)} s`
}

async function runTests(filters: readonly string[]): Promise<TestRun> {
  const startMs = performance.now()
  const vitest = await startVitest([...filters], { root, watch: false, configLoader: 'native' })
  const ended = testRunOf(vitest)
  await vitest.close()
  const holds = ended.troubles.length === 0 && ended.tests.every(({ state }) => state !== 'failed')
  console.log(`${holds ? 'ok    ' : 'FAILED'} tests ${seconds(startMs)}`)
  return ended
}

const filters = process.argv.slice(2)
if (filters.some((filter) => filter.startsWith('-'))) {
  console.log('usage: npm test -- [path …]')
  process.exit(filters.includes('--help') ? 0 : 1)
}
const failedChecks = filters.length > 0 ? 0 : checks.filter((one) => !check(one)).length
const { tests, troubles } = await runTests(filters).catch((error: unknown): TestRun => {
  console.error(error)
  return { tests: [], troubles: [String(error)] }
})

const inState = (wanted: EndedTest['state']): readonly EndedTest[] => tests.filter(({ state }) => state === wanted)
const skipped = inState('skipped')
for (const trouble of troubles) console.log(`FAILED ${trouble}`)
for (const [reason, some] of Map.groupBy(skipped, (one) => one.reason ?? 'without a reason'))
  console.log(`skipped: ${some[0]?.fullName}${some.length > 1 ? ` and ${some.length - 1} more` : ''}: ${reason}`)
const withoutReason = skipped.filter(({ reason }) => reason === undefined).length
const failed = failedChecks + troubles.length + inState('failed').length + withoutReason
console.log(`${inState('passed').length} passed, ${failed} failed, ${skipped.length} skipped`)
process.exit(failed === 0 ? 0 : 1)
