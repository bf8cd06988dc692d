import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from '../support/control-plane-process.ts'
import { runProgram } from '../support/program.ts'
import { longOnly } from '../support/strength.ts'

const demo = (...args: readonly string[]) => runProgram(process.execPath, [join(root, 'test/demo/main.ts'), ...args])

it('the demonstration heals all that it disturbs, and says so', longOnly, async () => {
  const { code, stdout, stderr } = await demo('--quick', '--limit', '300')
  expect([stderr, stdout.match(/.*\bNOT\b.*/g), code]).toEqual(['', null, 0])
  expect(stdout.match(/healed after/g)).toHaveLength(8)
  expect(stdout).toMatch(/All of it was healed, \d+\.\d s in all\.\n$/)
})

it('the demonstration fails when something is not healed in time, and names it', longOnly, async () => {
  // What is deleted in Konnect right after it was made counts as not shown yet, for half a minute.
  const { code, stdout } = await demo('--limit', '1')
  expect(code).toBe(1)
  expect(stdout).toMatch(/NOT healed: .*somebody deletes the route in Konnect's pages/)
})
