import { expect, it } from 'vitest'
import { bytesFromBase64, bytesToBase64, toBase64 } from '../../../shared/model/base64.ts'
import { digest } from '../../../shared/model/digest.ts'

/** Digests are stored: those of old texts stay what they were. */
it.each([
  ['', 'cbf29ce4811c9dc5'],
  ['a', '97b3bfabe40c292c'],
  ['setpoint', '3cd6ff859df4b18b'],
  ['Setpoint', '0cb138aa97c609ab'],
  ['ü€😀', 'e69bc3c9676f0948'],
])('the digest of %j is %s', (text, is) => {
  expect(digest(text)).toBe(is)
})

it.each([
  ['', ''],
  ['a', 'YQ=='],
  ['ü€😀', 'w7zigqzwn5iA'],
])('the text %j is %j in base64', (text, encoded) => {
  expect(toBase64(text)).toBe(encoded)
  expect(new TextDecoder().decode(bytesFromBase64(encoded))).toBe(text)
  expect(bytesToBase64(bytesFromBase64(encoded))).toBe(encoded)
})
