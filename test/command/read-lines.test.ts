import { once } from 'node:events'
import { Readable } from 'node:stream'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { readLines } from '../../functions/command/read-lines.ts'

async function linesOf(pieces: readonly Buffer[]): Promise<readonly string[]> {
  const lines: string[] = []
  const from = Readable.from(pieces, { objectMode: false })
  readLines(from, (line) => lines.push(line))
  await once(from, 'end')
  return lines
}

it('a line of a log is one, whatever its text holds', async () => {
  const line = JSON.stringify({ error: 'one\u2028two\u2029three\rfour' })
  expect(await linesOf([Buffer.from(`${line}\n${line}`)])).toEqual([line, line])
})

it('lines are the same however they are cut', async () => {
  const text = fc.string({ unit: fc.constantFrom('a', '\n', '\r', 'ä', '\u2028', '€') })
  await fc.assert(
    fc.asyncProperty(text, fc.integer({ min: 1, max: 5 }), async (said, length) => {
      const bytes = Buffer.from(said)
      const pieces = Array.from({ length: Math.ceil(bytes.length / length) }, (_, i) =>
        bytes.subarray(i * length, (i + 1) * length),
      )
      const expected = said.split('\n')
      if (expected.at(-1) === '') expected.pop()
      expect(await linesOf(pieces)).toEqual(expected)
    }),
    { numRuns: 100 },
  )
})
