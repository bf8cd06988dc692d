import { expect, it } from 'vitest'
import { json, withHeader, withWarnings } from '../../../shared/api/reply.ts'

const warningOf = (texts: readonly string[], others?: string) => {
  const response = json(200, {})
  return withWarnings(others === undefined ? response : withHeader(response, 'warning', others), texts).headers[
    'warning'
  ]
}

it.each<[readonly string[], string | undefined]>([
  [['a'], '299 - "a"'],
  [['a', 'b'], '299 - "a", 299 - "b"'],
  [['say "no" \\ or\nü'], '299 - "say \\"no\\" \\\\ or  "'],
  [['x'.repeat(501)], `299 - "${'x'.repeat(500)}"`],
  [Array.from({ length: 21 }, () => 'a'), Array.from({ length: 20 }, () => '299 - "a"').join(', ')],
  [[], undefined],
])('warnings %j are a header', (texts, header) => {
  expect(warningOf(texts)).toBe(header)
})

it('warnings stand ahead of those that are there', () => {
  expect(warningOf(['a'], '299 - "b"')).toBe('299 - "a", 299 - "b"')
  expect(warningOf([], '299 - "b"')).toBe('299 - "b"')
})

it('warnings that are very long are cut, and left out where they have no room', () => {
  const twenty = Array.from({ length: 20 }, () => '"'.repeat(500))
  const cut = `299 - "${'\\"'.repeat(256)}"`
  const header = warningOf(twenty) ?? ''
  expect(header).toBe(Array.from({ length: 7 }, () => cut).join(', '))
  expect(warningOf(['a'], header)).toBe(`299 - "a", ${header}`)
  expect(warningOf(['b'.repeat(500), 'b'.repeat(500)], header)).toBe(`299 - "${'b'.repeat(256)}", ${header}`)
})
