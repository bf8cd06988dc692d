import { expect, it } from 'vitest'
import { createWatchSlots } from '../../../shared/api/watch/slots.ts'
import { endOf } from './end-of.ts'

const administrator = { name: 'admin', groups: ['system:masters'] }
const userNamed = (name: string) => ({ name, groups: ['system:authenticated'] })

const full = 'THROTTLED: 2 watches are open, no more are served; try again later'

it('a slot is held until it is given back, or until its client leaves', () => {
  const slots = createWatchSlots(2)
  const client = new AbortController()
  const take = (signal = new AbortController().signal) => endOf(() => slots.take(administrator, signal))
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
  slots.take(administrator, AbortSignal.abort())
  expect(endOf(() => slots.take(administrator, AbortSignal.abort()))).toBeTypeOf('function')
})

it('one user leaves as many to others as they have, an administrator none', () => {
  const slots = createWatchSlots(8)
  const held: (() => void)[] = []
  const take = (user: ReturnType<typeof userNamed>, count: number): string => {
    for (let i = 0; i < count; i++) held.push(slots.take(user, new AbortController().signal))
    return endOf(() => slots.take(user, new AbortController().signal)) as string
  }
  const refused = (all: number, own: number): string =>
    `THROTTLED: ${all} of 8 watches are open, ${own} of them by this user, and the others are left for others; try again later`
  expect(take(userNamed('alice'), 4)).toBe(refused(4, 4))
  expect(take(userNamed('bob'), 2)).toBe(refused(6, 2))
  expect(take(userNamed('carol'), 1)).toBe(refused(7, 1))
  expect(take(userNamed('alice'), 0)).toBe(refused(7, 4))
  expect(take(administrator, 1)).toBe('THROTTLED: 8 watches are open, no more are served; try again later')
  for (const release of held) release()
  expect(take(administrator, 7)).toBeTypeOf('function')
})
