import { expect, it } from 'vitest'
import { proceed } from '../../../shared/model/eventual.ts'

it('goes on at once with a value that is at hand, and waits for one that comes', async () => {
  const twice = (value: number): number => value * 2
  expect(proceed(2, twice)).toBe(4)
  const coming = proceed(Promise.resolve(2), twice)
  expect(coming).toBeInstanceOf(Promise)
  expect(await coming).toBe(4)
  await expect(proceed(Promise.reject(new Error('no')), twice)).rejects.toThrow('no')
})
