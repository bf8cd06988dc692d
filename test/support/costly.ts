import { readFileSync } from 'node:fs'
import type { EndedTest } from './test-run.ts'

/**
 * Which tests `npm test` leaves to `npm run test:long`, since each takes long: by file, the names with those of the
 * suites around them. `npm test -- --costs` writes the list.
 */
export type Costly = Readonly<Record<string, readonly string[]>>

export const costlyFile = 'test/support/costly.json'

/** Why a report says that it did not run. */
export const costlyReason = `npm run test:long (${costlyFile})`

export function readCostly(): Costly {
  return JSON.parse(readFileSync(new URL('costly.json', import.meta.url), 'utf8')) as Costly
}

/** Whether the tree is in order: whoever changes it wants to know at once. */
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

/** What the list names, and the run did not come by: a test that has another name now. */
export function strangersIn(costly: Costly, tests: readonly EndedTest[]): readonly string[] {
  const known = new Set(tests.map(({ file, fullName }) => `${file} > ${fullName}`))
  return Object.entries(costly)
    .flatMap(([file, names]) => names.map((name) => `${file} > ${name}`))
    .filter((name) => !known.has(name))
}
