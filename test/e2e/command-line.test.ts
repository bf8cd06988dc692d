import { expect, it } from 'vitest'
import { runProgram } from '../support/program.ts'

it.each([
  ['simulation', '--seeds', 'x', '--seeds: "x" is no whole number from 0 on'],
  ['simulation', '--seeds', '5..1', '--seeds: "5..1" has no seed in it'],
  ['simulation', '--seed', 'abc', '--seed: "abc" is no whole number from 0 on'],
  ['simulation', '--sed', '1', "Unknown option '--sed'\noptions: --seed, --seeds, "],
  ['cost', '--objects', 'abc', '--objects: "abc" is no number from 0 on'],
  ['cost', '--resync', 'soon', '--resync: "soon" is no duration, such as 10h'],
  ['chaos', '--rounds', 'abc', '--rounds: "abc" is no whole number from 1 on'],
  ['demo', '--limit', 'abc', '--limit: "abc" is no whole number from 1 on'],
])('%s %s %s is refused in a line: nothing to do is not all well', async (program, option, value, says) => {
  const { code, stderr } = await runProgram(process.execPath, [`test/${program}/main.ts`, option, value])
  expect(code).toBe(1)
  expect(stderr.startsWith(says)).toBe(true)
  expect(stderr).not.toContain('    at ')
})
