import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from '../support/control-plane-process.ts'
import { runProgram } from '../support/program.ts'

it('the demonstration heals all that it disturbs, and says so', { timeout: 180_000 }, async () => {
  const { code, stdout, stderr } = await runProgram(process.execPath, [join(root, 'test/demo/main.ts'), '--quick'])
  expect([stderr, stdout.match(/.*\bNOT\b.*/g), code]).toEqual(['', null, 0])
  expect(stdout.match(/healed after/g)).toHaveLength(8)
  expect(stdout).toMatch(/All of it was healed, \d+\.\d s in all\.\n$/)
})
