import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from '../architecture/source.ts'
import { runProgram } from '../support/program.ts'
import { seedOfDay } from './gate.ts'

const size = 6

/**
 * Others each day. Some three of four mutants are killed today (REPORT.md), and `npm run mutants` itself asks for 95 of
 * 100. Here a sample fails that is hardly by chance where three of four are killed: fewer than three of six, and with
 * six more fewer than five of twelve. That happens in two of a thousand samples.
 */
it('the tests kill at least three of six mutants, or five of twelve', { timeout: 7_200_000 }, async () => {
  const seed = seedOfDay(Date.now())
  const killed = await countKilled(seed)
  if (killed >= 3) return
  expect(killed + (await countKilled(seed + 1_000_000))).toBeGreaterThanOrEqual(5)
})

async function countKilled(seed: number): Promise<number> {
  const program = join(root, 'test/mutants/main.ts')
  const args = [program, '--sample', String(size), '--seed', String(seed)]
  const { stdout, stderr } = await runProgram(process.execPath, args, { cwd: root })
  console.log(stdout)
  const [, killed] = new RegExp(`^(\\d+) of ${size} killed`, 'm').exec(stdout) ?? []
  if (killed === undefined) throw new Error(`no mutant was judged: ${stderr}`)
  return Number(killed)
}
