import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { BodyPieces } from '../../../../../shared/adapters/local/https/body-pieces.ts'

/** What has come of a body. */

function piecesOf(...texts: readonly string[]): BodyPieces {
  const pieces = new BodyPieces()
  for (const text of texts) pieces.add(Buffer.from(text))
  return pieces
}

it.each([
  ['nothing', []],
  ['one piece', ['abc']],
  ['several, one of them empty', ['ab', '', 'c']],
  ['very many', Array.from({ length: 1_000 }, (_, i) => String(i % 10))],
])('%s is joined, and its bytes are counted', (_what, texts) => {
  const pieces = piecesOf(...texts)
  expect([Buffer.from(pieces.join()).toString(), pieces.length]).toEqual([texts.join(''), texts.join('').length])
})

it('one piece is not copied', () => {
  const piece = Buffer.from('abc')
  const pieces = new BodyPieces()
  pieces.add(piece)
  expect(pieces.join()).toBe(piece)
})

it('a body in bytes takes little more memory than one in a piece', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const used = (): number => {
    collect()
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  }
  const before = used()
  const pieces = new BodyPieces()
  for (let i = 0; i < 500_000; i++) pieces.add(Buffer.alloc(1, 97))
  expect(used() - before).toBeLessThan(5_000_000)
  expect(pieces.length).toBe(500_000)
})
