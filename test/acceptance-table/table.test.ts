import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runProgram } from '../support/program.ts'
import { longOnly } from '../support/strength.ts'
import { allNumbers } from './rows.ts'

/** The program itself, with failures planted in what it runs. */
const table = (...args: readonly string[]) =>
  runProgram(process.execPath, ['test/acceptance-table/main.ts', ...args], { env: { NO_COLOR: '1' } })

const include = (name: string): readonly string[] => [
  '--include',
  `test/acceptance-table/planted/{all-numbers,${name}}.planted.ts`,
]

describe('npm run acceptance', () => {
  it('ends with 0 when every number is shown and nothing failed, and says what each number rests on', async () => {
    const { code, stdout } = await table(...include('nothing-else'), '--tests')
    expect(stdout).toContain(`${allNumbers.length} of ${allNumbers.length}\n`)
    expect(stdout).toContain(
      'K1   pass    holds, without an engine\n     passed test/acceptance-table/planted/all-numbers.planted.ts > K1 holds',
    )
    expect(code).toBe(0)
  })

  const planted = {
    'no-number': 'failed: test/acceptance-table/planted/no-number.planted.ts > has no number, and fails',
    'a-number': 'K1 is not shown: a test did not pass',
    unloaded: 'failed: test/acceptance-table/planted/unloaded.planted.ts: planted: this file does not load',
    uncaught: 'failed: outside any test: planted: nobody catches this',
    hook: 'failed: a suite with a hook that throws: planted: this hook throws',
    skipped: 'K5 is not shown: a test did not pass',
  }

  it.each(Object.entries(planted))('ends with 1 and a line for what is planted: %s', longOnly, async (name, line) => {
    const { code, stdout } = await table(...include(name))
    expect(stdout.split('\n')).toContain(line)
    expect(code).toBe(1)
  })

  it('has a test for everything that is planted', () => {
    const files = readdirSync(join(import.meta.dirname, 'planted')).flatMap(
      (file) => /^(.*)\.planted\.ts$/.exec(file)?.[1] ?? [],
    )
    expect(files.toSorted()).toEqual(['all-numbers', ...Object.keys(planted)].toSorted())
  })

  it('ends with 1 when a number has no test, or nothing is run at all', async () => {
    const { code, stdout } = await table('--include', 'test/acceptance-table/planted/a-number.planted.ts')
    expect([code, stdout.includes('D33 is not shown: no test')]).toEqual([1, true])
    const nothing = await table('--include', 'test/acceptance-table/planted/none')
    expect([nothing.code, nothing.stdout.includes('failed: no test was found')]).toEqual([1, true])
  })

  it('on a dead engine ends with 1 where the tests of a number pass all the same', longOnly, async () => {
    const { code, stdout } = await table('--dead-engine', ...include('nothing-else'))
    expect(stdout).toContain('K1 passes on a dead engine: test/acceptance-table/planted/all-numbers.planted.ts > K1 ')
    expect(stdout).toContain('D19  needs no engine: ')
    expect(stdout).not.toContain('D19 passes on a dead engine')
    expect(code).toBe(1)
  })
})

it('on a dead engine no number of the acceptance document is shown', longOnly, async () => {
  const { code, stdout } = await table('--dead-engine')
  expect(stdout).toMatch(/^\d+ of \d+ tests pass on a dead engine\n$/m)
  expect([stdout.match(/.*(passes on a dead engine|does not pass without|has no test).*/g), code]).toEqual([null, 0])
})
