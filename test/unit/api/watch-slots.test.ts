import { expect, it } from 'vitest'
import { createWatchSlots } from '../../../shared/api/watch/slots.ts'
import { endOf } from './end-of.ts'

const full = 'THROTTLED: 2 watches are open, no more are served; try again later'

it('a slot is held until it is given back, or until its client leaves', () => {
  const slots = createWatchSlots(2)
  const client = new AbortController()
  const take = (signal = new AbortController().signal) => endOf(() => slots.take(signal))
  const release = take() as () => void
  const leave = take(client.signal) as () => void
  expect(take()).toBe(full)
  release()
  release()
  expect([take(), take()]).toEqual([expect.any(Function), full])
  client.abort()
  expect([take(), take()]).toEqual([expect.any(Function), full])
  leave()
  expect(take()).toBe(full)
})

it('who has left by then takes no slot', () => {
  const slots = createWatchSlots(1)
  slots.take(AbortSignal.abort())
  expect(endOf(() => slots.take(AbortSignal.abort()))).toBeTypeOf('function')
})
