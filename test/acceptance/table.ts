/**
 * `npm run acceptance`: runs the acceptance tests and prints what the source documents ask for, number by number, with the
 * tests that show it. Exits 1 if a number has no passing test, or one that fails.
 *
 * A test shows the numbers that its name begins with: `A17 D9 a status write does not run …`.
 *
 * `-- --aws` runs the same tests on the engine of AWS (test/aws/acceptance-engine.ts), says which do not apply there, and why, and adds
 * those that stand in their place (test/aws/acceptance.test.ts). It takes some minutes: each minute of virtual time is a tick of some
 * fifty requests.
 */
import { fileURLToPath } from 'node:url'
import { startVitest, type TestCase } from 'vitest/node'
import { applies, elsewhere } from '../aws/elsewhere.ts'
import { optionsOf } from '../support/command-line.ts'

/** How many lines each list of the acceptance document has. */
const lists = { K: 32, A: 37, B: 19, J: 47, D: 33 } as const

const root = fileURLToPath(new URL('../..', import.meta.url))

interface Shown {
  readonly passed: readonly string[]
  readonly failed: readonly string[]
}

/** The numbers a test's name begins with. */
function numbersOf(name: string): readonly string[] {
  const [beginning = ''] = /^([A-Z]\d+[ :,]+)+/.exec(`${name} `) ?? []
  return beginning.match(/[A-Z]\d+/g) ?? []
}

const { aws: isAws } = optionsOf('npm run acceptance --', {
  options: { aws: { type: 'boolean', default: false } },
}).values

async function runAcceptance(): Promise<readonly TestCase[]> {
  const vitest = await startVitest(['test/acceptance/', ...(isAws ? ['test/aws/acceptance'] : [])], {
    root,
    watch: false,
    configLoader: 'native',
    reporters: ['dot'],
    ...(isAws && {
      setupFiles: ['test/aws/acceptance-engine.ts'],
      testTimeout: 600_000,
      maxWorkers: 3,
      testNamePattern: applies(),
    }),
  })
  const tests = vitest.state.getTestModules().flatMap((module) => [...module.children.allTests()])
  await vitest.close()
  if (isAws)
    for (const { name } of tests)
      if (elsewhere(name) !== undefined) console.log(`does not apply: ${name}: ${elsewhere(name)}`)
  return isAws ? tests.filter(({ name }) => elsewhere(name) === undefined) : tests
}

function shownBy(tests: readonly TestCase[], number: string): Shown {
  const showing = tests.filter(({ name }) => numbersOf(name).includes(number))
  const named = (wanted: boolean): readonly string[] =>
    showing.filter((test) => (test.result().state === 'passed') === wanted).map(({ name }) => name)
  return { passed: named(true), failed: named(false) }
}

function row(number: string, { passed, failed }: Shown): string {
  const verdict = failed.length > 0 ? 'FAILED ' : passed.length > 0 ? 'pass   ' : 'MISSING'
  const [first = failed[0] ?? '', ...others] = passed
  const more = others.length > 0 ? ` (and ${others.length} more)` : ''
  return `${number.padEnd(4)} ${verdict} ${first.replace(/^([A-Z]\d+[ :,]+)+/, '')}${more}`
}

const tests = await runAcceptance()
const numbers = Object.entries(lists).flatMap(([list, length]) => Array.from({ length }, (_, i) => `${list}${i + 1}`))
const rows = numbers.map((number) => ({ number, shown: shownBy(tests, number) }))
for (const { number, shown } of rows) console.log(row(number, shown))
const isShown = ({ shown: { passed, failed } }: { readonly shown: Shown }): boolean =>
  passed.length > 0 && failed.length === 0
const open = rows.filter((one) => !isShown(one)).map(({ number }) => number)
console.log(
  `\n${numbers.length - open.length} of ${numbers.length}${open.length > 0 ? `; open: ${open.join(' ')}` : ''}`,
)
process.exit(open.length === 0 ? 0 : 1)
