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
import { startVitest, type TestCase, type TestModule, type Vitest } from 'vitest/node'

interface Tally {
  readonly passed: number
  readonly failed: number
  readonly skipped: readonly Skipped[]
}

interface Skipped {
  readonly name: string
  readonly reason: string | undefined
}

declare module 'vitest' {
  interface TaskMeta {
    /** Why the test, or every test of the suite, does not run. */
    skipped?: string
  }
}

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

async function runTests(filters: readonly string[]): Promise<Tally> {
  const startMs = performance.now()
  const vitest = await startVitest([...filters], { root, watch: false, configLoader: 'native' })
  const tally = tallyOf(vitest)
  await vitest.close()
  console.log(`${tally.failed === 0 ? 'ok    ' : 'FAILED'} tests ${seconds(startMs)}`)
  return tally
}

function tallyOf({ state }: Vitest): Tally {
  const modules = state.getTestModules()
  const tests = modules.flatMap((module) => [...module.children.allTests()])
  const inState = (wanted: string) => tests.filter((test) => test.result().state === wanted)
  const unfinished = inState('pending').length
  const brokenGroups = modules.flatMap((module) => [module, ...module.children.allSuites()]).filter(isBroken).length
  const none = tests.length === 0 ? 1 : 0
  return {
    passed: inState('passed').length,
    failed: inState('failed').length + unfinished + brokenGroups + state.getUnhandledErrors().length + none,
    skipped: inState('skipped').map((test) => ({ name: test.fullName, reason: reasonOf(test) })),
  }
}

/** Its own code failed, in a hook or while loading, not one of its tests. */
function isBroken(group: Pick<TestModule, 'errors'>): boolean {
  return group.errors().length > 0
}

/** The argument of `context.skip()`, or `meta.skipped` of the test or of a suite around it. */
function reasonOf(test: TestCase): string | undefined {
  const result = test.result()
  return (result.state === 'skipped' ? result.note : undefined) ?? test.meta().skipped
}

const filters = process.argv.slice(2)
if (filters.some((filter) => filter.startsWith('-'))) {
  console.log('usage: npm test -- [path …]')
  process.exit(filters.includes('--help') ? 0 : 1)
}
const failedChecks = filters.length > 0 ? 0 : checks.filter((one) => !check(one)).length
const tests = await runTests(filters).catch((error: unknown): Tally => {
  console.error(error)
  return { passed: 0, failed: 1, skipped: [] }
})

for (const [reason, some] of Map.groupBy(tests.skipped, (one) => one.reason ?? 'without a reason'))
  console.log(`skipped: ${some[0]?.name}${some.length > 1 ? ` and ${some.length - 1} more` : ''}: ${reason}`)
const failed = failedChecks + tests.failed + tests.skipped.filter(({ reason }) => reason === undefined).length
console.log(`${tests.passed} passed, ${failed} failed, ${tests.skipped.length} skipped`)
process.exit(failed === 0 ? 0 : 1)
