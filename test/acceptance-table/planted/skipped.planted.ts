import { expect, it } from 'vitest'

it('K5 is skipped here', ({ skip }) => {
  skip('planted')
  expect(true).toBe(true)
})
