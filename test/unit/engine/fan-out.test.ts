import { expect, it } from 'vitest'
import { createFanOut } from '../../../shared/engine/fan-out.ts'
import type { Turn } from '../../../shared/engine/turn.ts'
import { OperatingError } from '../../../shared/model/errors.ts'
import type { StoredObject } from '../../../shared/model/stored-object.ts'
import type { ObjectStore } from '../../../shared/ports/object-store.ts'

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
