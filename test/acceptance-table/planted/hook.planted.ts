import { afterAll, describe, expect, it } from 'vitest'

describe('a suite with a hook that throws', () => {
  afterAll(() => {
    throw new Error('planted: this hook throws')
  })

  it('K4 passes', () => {
    expect(true).toBe(true)
  })
})
