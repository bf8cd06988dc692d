import type { EndedTest, TestRun } from '../support/test-run.ts'

/** How many lines each list of the acceptance document has. */
const lists = { K: 32, A: 37, B: 19, J: 47, D: 33 } as const

export const allNumbers: readonly string[] = Object.entries(lists).flatMap(([list, length]) =>
  Array.from({ length }, (_, i) => `${list}${i + 1}`),
)

/** A number of the document, and the tests whose names begin with it. */
export interface Row {
  readonly number: string
  readonly tests: readonly EndedTest[]
}

/** A test shows the numbers that its name begins with: `A17 D9 a status write does not run …`. */
export function rowsOf({ tests }: TestRun, numbers: readonly string[] = allNumbers): readonly Row[] {
  return numbers.map((number) => ({ number, tests: tests.filter(({ name }) => numbersOf(name).includes(number)) }))
}

function numbersOf(name: string): readonly string[] {
  const [beginning = ''] = beginningOf.exec(`${name} `) ?? []
  return beginning.match(/[A-Z]\d+/g) ?? []
}

const beginningOf = /^([A-Z]\d+[ :,]+)+/

/** A number is shown by tests that all passed, at least one. */
export function isShown({ tests }: Row): boolean {
  return tests.length > 0 && tests.every(({ state }) => state === 'passed')
}

/** One line, or with `isLong` one more for each test. */
export function printRow({ number, tests }: Row, isLong: boolean): string {
  const verdict = tests.length === 0 ? 'MISSING' : isShown({ number, tests }) ? 'pass   ' : 'FAILED '
  const first = tests.find(({ state }) => state !== 'passed') ?? tests[0]
  const more = tests.length > 1 ? ` (and ${tests.length - 1} more)` : ''
  const line = `${number.padEnd(4)} ${verdict} ${first?.name.replace(beginningOf, '') ?? ''}${isLong ? '' : more}`
  return isLong ? [line, ...tests.map(printTest)].join('\n') : line
}

function printTest({ file, fullName, state }: EndedTest): string {
  return `     ${state} ${file} > ${fullName}`
}

/**
 * What keeps a run from being good, a line each: numbers that are not shown, and all else that failed, whether it bears
 * a number or not. Empty if and only if the run may be called passed.
 */
export function faultsOf(run: TestRun, numbers: readonly string[] = allNumbers): readonly string[] {
  const failed = run.tests.filter(({ state }) => state === 'failed')
  return [
    ...rowsOf(run, numbers)
      .filter((row) => !isShown(row))
      .map(({ number, tests }) => `${number} is not shown: ${tests.length === 0 ? 'no test' : 'a test did not pass'}`),
    ...failed.map(({ file, fullName }) => `failed: ${file} > ${fullName}`),
    ...run.troubles.map((trouble) => `failed: ${trouble}`),
  ]
}

/**
 * What keeps a run on a dead engine from being good: a number whose tests all pass there is shown by none of them,
 * unless it is about something without an engine. Those numbers must pass there, so that the run is known to have taken
 * place, and the list stays true.
 */
export function deadFaultsOf(
  run: TestRun,
  engineless: Readonly<Record<string, string>>,
  numbers: readonly string[] = allNumbers,
): readonly string[] {
  return rowsOf(run, numbers).flatMap((row) => {
    const { number, tests } = row
    if (tests.length === 0) return [`${number} has no test`]
    if (isShown(row) === number in engineless) return []
    return number in engineless
      ? [`${number} is listed as one that needs no engine, and a test of it does not pass without`]
      : [`${number} passes on a dead engine: ${tests.map(({ file, name }) => `${file} > ${name}`).join('; ')}`]
  })
}
