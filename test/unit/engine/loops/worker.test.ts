import { expect, it } from 'vitest'
import { work } from '../../../../shared/engine/loops/worker.ts'
import type { Delivery, WorkQueue } from '../../../../shared/ports/work-queue.ts'

const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, with: () => logger }

/** How many runs of background work are under way at once, of as many as the queue has. */
async function backgroundAtOnce(concurrency: number): Promise<number> {
  let made = 0
  let begun = 0
  const deliver = (): Delivery => {
    const name = `w${made++}`
    const key = { group: 'test.setpoint.dev', kind: 'Widget', namespace: 'default', name }
    return { wakeUp: { key, dedupId: name, lane: 'background' }, handle: name, receiveCount: 1 } as unknown as Delivery
  }
  const ended = Promise.withResolvers<void>()
  const stop = new AbortController()
  const full = Promise.withResolvers<void>()
  const queue = {
    receive: async (max: number, signal: AbortSignal, free: number) => {
      if (free > 0) return Array.from({ length: Math.min(max, free) }, deliver)
      full.resolve()
      return new Promise<readonly Delivery[]>((resolve) => {
        signal.addEventListener('abort', () => resolve([]))
      })
    },
  } as unknown as WorkQueue
  const run = async (): Promise<void> => {
    if (++begun === concurrency) full.resolve()
    await ended.promise
  }
  const working = work(
    { queue, run, logger, concurrency },
    { stop: stop.signal, abandon: new AbortController().signal },
  )
  await full.promise
  const atOnce = begun
  stop.abort()
  ended.resolve()
  await working
  return atOnce
}

it.each([
  [1, 1],
  [3, 3],
  [4, 3],
  [10, 9],
  [11, 9],
  [20, 18],
  [21, 18],
])('of %i slots background work takes %i, and leaves the rest to users', async (concurrency, atOnce) => {
  expect(await backgroundAtOnce(concurrency)).toBe(atOnce)
})
