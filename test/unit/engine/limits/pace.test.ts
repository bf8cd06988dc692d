import { expect, it } from 'vitest'
import { createPace } from '../../../../shared/engine/limits/pace.ts'
import { createVirtualClock } from '../../../support/virtual-clock.ts'

const limit = { perSecond: 10, burst: 3 }

it('allows the burst, and then waits for as long as a key takes', async () => {
  const clock = createVirtualClock(0)
  const pace = createPace(limit, clock)
  const { signal } = new AbortController()
  expect(await pace.awaitAllowance(signal)).toBe(3)
  pace.spend(3)
  let allowed: number | undefined
  void pace.awaitAllowance(signal).then((keys) => (allowed = keys))
  await clock.advance(99)
  expect(allowed).toBeUndefined()
  await clock.advance(1)
  expect(allowed).toBe(1)
})

it('spends as many as were taken', async () => {
  const pace = createPace(limit, createVirtualClock(0))
  const { signal } = new AbortController()
  pace.spend(2)
  expect(await pace.awaitAllowance(signal)).toBe(1)
})

it('allows nothing to who gives up, and waits no longer', async () => {
  const clock = createVirtualClock(0)
  const pace = createPace(limit, clock)
  pace.spend(3)
  expect(await pace.awaitAllowance(AbortSignal.abort())).toBe(0)
  expect(clock.nextDueMs()).toBeUndefined()
})
