import { expect, it } from 'vitest'

it('K1 is shown by another test, and fails here', () => {
  expect('what is').toBe('what is to be')
})
