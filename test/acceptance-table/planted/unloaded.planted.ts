import { expect, it } from 'vitest'

it('K2 is never run: its file does not load', () => {
  expect(true).toBe(true)
})

throw new Error('planted: this file does not load')
