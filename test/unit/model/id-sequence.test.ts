import { expect, it } from 'vitest'
import { createIdSequence } from '../../../shared/model/id-sequence.ts'

it('ids of a sequence are UUIDs in form, and differ', () => {
  const next = createIdSequence('0a1b2c3d-0000-4000-8000-ffffffffffff')
  const ids = Array.from({ length: 300 }, next)
  expect(ids[0]).toBe('0a1b2c3d-0000-4000-8000-000000000001')
  expect(ids[255]).toBe('0a1b2c3d-0000-4000-8000-000000000100')
  expect(ids[254]).toBe('0a1b2c3d-0000-4000-8000-0000000000ff')
  expect(new Set(ids).size).toBe(300)
})
