import { expect, it } from 'vitest'
import { cut } from '../../../shared/api/watch/text-pieces.ts'

it.each([
  [0, [0]],
  [16_384, [16_384]],
  [16_385, [16_384, 1]],
  [32_768, [16_384, 16_384]],
  [32_769, [16_384, 16_384, 1]],
])('a text of %i bytes is sent in pieces of %j', (length, lengths) => {
  const text = Array.from({ length }, (_, i) => i % 10).join('')
  const pieces = cut(text)
  expect(pieces.map((piece) => piece.length)).toEqual(lengths)
  expect(Buffer.concat(pieces).toString()).toBe(text)
})

it('no piece keeps the memory of the others', () => {
  const [piece] = cut('ü'.repeat(20_000))
  expect(piece?.buffer.byteLength).toBe(16_384)
})
