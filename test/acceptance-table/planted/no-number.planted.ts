import { expect, it } from 'vitest'

it('has no number, and fails', () => {
  expect('what is').toBe('what is to be')
})
