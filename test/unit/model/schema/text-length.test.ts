import { expect, it } from 'vitest'
import { textLengthOf } from '../../../../shared/model/schema/text-length.ts'

it.each([
  ['', 0],
  ['abc', 3],
  ['é', 1],
  ['\u{10000}', 1],
  ['\u{10ffff}\u{1F600}a', 3],
  ['\ud800', 1],
  ['\udc00', 1],
  ['a\udc00', 2],
  ['\ud800a', 2],
  ['\udc00\ud800', 2],
  ['\udc00\udc00', 2],
  ['\ud800\ud800', 2],
  ['\ud800\ue000', 2],
  ['\ud7ff\udc00', 2],
])('%j has so many characters: %d', (text, length) => {
  expect(textLengthOf(text)).toBe(length)
  expect(Array.from(text)).toHaveLength(length)
})
