import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from '../architecture/source.ts'
import { runProgram } from '../support/program.ts'

/**
 * Others each day. Some three of four mutants are killed today (REPORT.md), and `npm run mutants` itself asks for 95 of
 * 100. Here a sample fails that is hardly by chance where three of four are killed: fewer than two of six.
 */
it('the tests kill at least two of six mutants', { timeout: 3_600_000 }, async () => {
  const program = join(root, 'test/mutants/main.ts')
  const { stdout } = await runProgram(process.execPath, [program, '--sample', '6'], { cwd: root })
  console.log(stdout)
  expect(stdout).toMatch(/^[2-6] of 6 killed/m)
})
