import { expect, it } from 'vitest'
import { createFanOut, spread } from '../../../../shared/engine/wake/fan-out.ts'
import type { Turn } from '../../../../shared/engine/state/turn.ts'
import { OperatingError } from '../../../../shared/model/errors.ts'
import type { StoredObject } from '../../../../shared/model/stored-object.ts'
import type { ObjectStore } from '../../../../shared/ports/object-store.ts'

const key = { group: 'example.dev', kind: 'Gadget', namespace: 'default', name: 'busy' }
const stored = { object: { metadata: {} }, engine: {} } as StoredObject

it('leaves an object that is written again and again to the queue, and does not settle', async () => {
  let tries = 0
  let isSettled = false
  const store = {
    get: async () => stored,
    replace: async () => {
      tries++
      throw new OperatingError('VERSION_CONFLICT', 'another write came first')
    },
  } as unknown as ObjectStore
  const turn = {
    key,
    wakeUps: [{ key, origin: 'change', dedupId: '1', lane: 'background', reason: '', timerAtMs: 1_000 }],
    settle: async () => {
      isSettled = true
    },
  } as unknown as Turn
  await expect(createFanOut(store)(turn, new AbortController().signal)).rejects.toThrow('another write came first')
  expect({ tries, isSettled }).toEqual({ tries: 10, isSettled: false })
})

it.each([
  ['is due, and may be under way', 900, 899],
  ['is yet to come, and may be under way for another reason', 5_000, 1_000],
  ['is for the same moment', 1_000, 999],
])('leaves another wish than the one of a run that %s, and never a later one', async (_, wakeAtMs, wish) => {
  const written: StoredObject[] = []
  let settled = 0
  const store = {
    get: async () => ({ ...stored, engine: { wakeAtMs } }),
    replace: async (next: StoredObject) => void written.push(next),
  } as unknown as ObjectStore
  const wakeUp = { key, origin: 'change', dedupId: '1', lane: 'background', reason: '', timerAtMs: 1_000 }
  const turn = { key, wakeUps: [wakeUp], settle: async () => void settled++ } as unknown as Turn
  await createFanOut(store)(turn, new AbortController().signal)
  const [atMs = Infinity] = written.map(({ engine }) => engine.wakeAtMs ?? Infinity)
  expect([atMs, settled]).toEqual([wish, 1])
})

it('comes no faster than the controller may run', () => {
  const wakeUp = { key, origin: 'change', dedupId: '1', lane: 'background', reason: '' } as const
  const timesMs = (...limit: Parameters<typeof spread>[2][]): unknown =>
    spread([wakeUp, wakeUp, wakeUp], 1_000, ...limit).map(({ timerAtMs }) => timerAtMs)
  expect(timesMs()).toEqual([1_010, 1_020, 1_030])
  expect(timesMs({ perSecond: 2, burst: 5 })).toEqual([1_500, 2_000, 2_500])
  expect(timesMs({ perSecond: 1_000, burst: 1 })).toEqual([1_010, 1_020, 1_030])
})
