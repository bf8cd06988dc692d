import { readFileSync } from 'node:fs'
import type { EndedTest } from './test-run.ts'

/**
 * Which tests `npm test` leaves to `npm run test:long`, since each takes long: by file, the names with those of the
 * suites around them. `npm test -- --costs` writes the list.
 */
export type Costly = Readonly<Record<string, readonly string[]>>

export const costlyFile = 'test/support/costly.json'

/** The reason in the report of a run that left such a test out. */
export const costlyReason = `npm run test:long (${costlyFile})`

export function readCostly(): Costly {
  return JSON.parse(readFileSync(new URL('costly.json', import.meta.url), 'utf8')) as Costly
}

/** These tests look at the whole tree. A person who changes a file wants their result at once. */
const alwaysRun = /^test\/(architecture|docs)\//

/** Of tests that ran one after the other, in the order of files and names. */
export function costlyOf(tests: readonly EndedTest[], limitMs: number): Costly {
  const costly = tests.filter(
    ({ file, state, tookMs }) => state === 'passed' && tookMs >= limitMs && !alwaysRun.test(file),
  )
  const byFile = Map.groupBy(costly, ({ file }) => file)
  const files = [...byFile].toSorted(([one], [other]) => (one < other ? -1 : 1))
  return Object.fromEntries(files.map(([file, some]) => [file, some.map(({ fullName }) => fullName).toSorted()]))
}

/** The names in the list that no test of the run has: somebody has renamed or removed the test. */
export function strangersIn(costly: Costly, tests: readonly EndedTest[]): readonly string[] {
  const known = new Set(tests.map(({ file, fullName }) => `${file} > ${fullName}`))
  return Object.entries(costly)
    .flatMap(([file, names]) => names.map((name) => `${file} > ${name}`))
    .filter((name) => !known.has(name))
}
