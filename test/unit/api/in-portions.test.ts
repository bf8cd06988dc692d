import { expect, it } from 'vitest'
import { inPortions } from '../../../shared/api/watch/in-portions.ts'
import { createVirtualClock } from '../../support/virtual-clock.ts'

it.each(['resolves', 'rejects'] as const)('a promise that %s late is waited for in portions', async (how) => {
  const clock = createVirtualClock()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const wait = inPortions(promise, clock)
  const first = wait(5)
  await clock.advance(5)
  expect(await first).toBe(false)
  const second = wait(1_000_000)
  if (how === 'resolves') resolve()
  else reject(new Error('no'))
  expect(await second).toBe(true)
  expect([await wait(1_000_000), clock.nextDueMs()]).toEqual([true, undefined])
})

it('a promise that has settled is not waited for', async () => {
  const clock = createVirtualClock()
  const wait = inPortions(Promise.resolve(), clock)
  await Promise.resolve()
  expect([await wait(5), clock.nextDueMs()]).toEqual([true, undefined])
})
