import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from '../architecture/source.ts'
import { runProgram } from '../support/program.ts'
import { seedOfDay } from './gate.ts'

/**
 * Others each day, judged by the unit tests of their own rooms: with all tests that come by them, half as many took
 * twice as long. `npm run mutants` itself says whether so few of the sample were killed that this is hardly by chance
 * where 95 of 100 are. That happens in six of a thousand samples, and so a second one may speak for the first.
 */
it('unit tests kill as many mutants of a sample as of all', { timeout: 7_200_000 }, async () => {
  const seed = seedOfDay(Date.now())
  const isKilled = (await areKilled(seed)) || (await areKilled(seed + 1_000_000))
  expect(isKilled).toBe(true)
})

/** Whether enough of 24 mutants are killed. */
async function areKilled(seed: number): Promise<boolean> {
  const args = [join(root, 'test/mutants/main.ts'), '--near', '--sample', '24', '--seed', String(seed)]
  const { code, stdout, stderr } = await runProgram(process.execPath, args, { cwd: root })
  console.log(stdout)
  if (!/^\d+ of 24 killed/m.test(stdout)) throw new Error(`no mutant was judged: ${stderr}`)
  return code === 0
}
