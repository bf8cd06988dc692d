import { beforeEach, expect, it } from 'vitest'
import type { Turn } from '../../../../shared/engine/state/turn.ts'
import type { Delivery, WakeUp, WorkQueue } from '../../../../shared/ports/work-queue.ts'
import { createProgress, type Progress } from '../../../../shared/engine/wake/progress.ts'

const key = { group: 'example.com', kind: 'Widget', namespace: 'default', name: 'w' }
const wakeUp = (resourceVersion: string): WakeUp => ({
  key,
  origin: 'change',
  dedupId: resourceVersion,
  resourceVersion,
  lane: 'urgent',
  reason: 'spec changed',
})
const turn = { key, wakeUps: [] as readonly WakeUp[] } as Turn
const unused = async (): Promise<readonly Delivery[]> => []
const queue = { send: async () => {}, receive: unused } as unknown as WorkQueue

let progress: Progress
let noting: WorkQueue
beforeEach(() => {
  progress = createProgress({ from: 3n, positionOf: ({ resourceVersion = '0' }) => BigInt(resourceVersion) })
  noting = progress.noteSends('widget', queue)
})

const run = (): Promise<void> => progress.noteEnds('widget', async () => {})(turn, AbortSignal.abort())

it('is safe up to what was sent and has been run to its end', async () => {
  await noting.send([wakeUp('5')])
  progress.notePassed(5n)
  expect(progress.safe()).toBeLessThan(5n)
  await run()
  expect(progress.safe()).toBe(5n)
})

it('goes back to before a change that was told with a later state than it made', async () => {
  // The change is at 5; the state that was there when it was told, at 10.
  await noting.send([wakeUp('10')])
  progress.notePassed(28n)
  expect(progress.safe()).toBeLessThan(5n)
  await run()
  expect(progress.safe()).toBe(28n)
})

it('keeps what failed', async () => {
  await noting.send([wakeUp('5')])
  progress.notePassed(5n)
  const failing = progress.noteEnds('widget', () => Promise.reject(new Error('away')))
  await expect(failing(turn, AbortSignal.abort())).rejects.toThrow('away')
  expect(progress.safe()).toBeLessThan(5n)
})

it('takes what a failed look sends once more for what it is, and a newer state for a change of its own', async () => {
  await noting.send([wakeUp('5')])
  await run()
  await noting.send([wakeUp('5')])
  progress.notePassed(5n)
  expect(progress.safe()).toBe(5n)
  await noting.send([wakeUp('6')])
  progress.notePassed(6n)
  expect(progress.safe()).toBe(5n)
})

it('keeps a run that begins in the moment in which the one before it is settled', async () => {
  const first = Promise.withResolvers<void>()
  const second = Promise.withResolvers<void>()
  const runUntil = (until: Promise<void>): Promise<void> =>
    progress.noteEnds('widget', () => until)({ ...turn }, AbortSignal.abort())
  await noting.send([wakeUp('5')])
  const runs = [runUntil(first.promise)]
  await noting.send([wakeUp('6')])
  progress.notePassed(6n)
  // The queue hands the key out again before the first run has come to its end.
  runs.push(runUntil(second.promise))
  first.resolve()
  await runs[0]
  expect(progress.safe()).toBeLessThan(6n)
  expect(progress.countPending('widget')).toBe(1)
  second.resolve()
  await Promise.all(runs)
  expect(progress.safe()).toBe(6n)
})
