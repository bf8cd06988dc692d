import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { root } from '../architecture/source.ts'

/** Others each day. Fewer than four killed of six are hardly by chance where 95 of 100 are killed. */
it('the tests kill at least four of six mutants', { timeout: 3_600_000 }, async () => {
  const program = join(root, 'test/mutants/main.ts')
  const { stdout } = await promisify(execFile)(process.execPath, [program, '--sample', '6'], { cwd: root })
  expect(stdout).toMatch(/\d of 6 killed; at least 4 have to be/)
})
