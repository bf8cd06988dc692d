import { beforeEach, describe, expect, it } from 'vitest'
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

it('keeps what is delayed, from where it was, until a run of it ends', async () => {
  const delaying = progress.noteEnds('widget', (taken) => taken.delay(1_000))
  let waitedMs = 0
  const delay: Turn['delay'] = async (ms) => {
    // By then it is noted: the queue may hand the key out again at once.
    expect(progress.countPending('widget')).toBeGreaterThan(0)
    waitedMs += ms
  }
  await noting.send([wakeUp('5')])
  progress.notePassed(5n)
  for (const soFarMs of [1_000, 2_000]) {
    await delaying({ ...turn, delay }, AbortSignal.abort())
    expect([waitedMs, progress.safe(), progress.countPending('widget')]).toEqual([soFarMs, 3n, 1])
  }
  await run()
  expect([progress.safe(), progress.countPending('widget')]).toEqual([5n, 0])
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

describe('of several keys', () => {
  const keyNamed = (name: string) => ({ ...key, name })
  const sendTo = (name: string, version: string) => noting.send([{ ...wakeUp(version), key: keyNamed(name) }])
  const runOf = (name: string, until: Promise<void> = Promise.resolve()): Promise<void> =>
    progress.noteEnds('widget', () => until)({ ...turn, key: keyNamed(name) }, AbortSignal.abort())
  const pending = (): number => progress.countPending('widget')

  it.each([
    ['in order', ['5', '9']],
    ['the other way round', ['9', '5']],
  ])('the earliest counts that waits or runs, whichever was sent first: %s', async (_what, versions) => {
    const end = Promise.withResolvers<void>()
    for (const version of versions) await sendTo(version, version)
    progress.notePassed(20n)
    // Each was told ahead of what was passed by then.
    expect([progress.safe(), pending()]).toEqual([3n, 2])
    progress.notePassed(20n)
    const runs = versions.map((version) => runOf(version, end.promise))
    expect([progress.safe(), pending()]).toEqual([3n, 2])
    end.resolve()
    await Promise.all(runs)
    expect([progress.safe(), pending()]).toEqual([20n, 0])
  })

  it('what comes from behind what was passed holds back from there, waiting and running', async () => {
    progress.notePassed(10n)
    const end = Promise.withResolvers<void>()
    for (const [name, version] of [
      ['a', '10'],
      ['b', '5'],
      ['c', '8'],
    ] as const)
      await sendTo(name, version)
    const runs: Promise<void>[] = []
    expect(progress.safe()).toBe(4n)
    runs.push(runOf('b', end.promise), runOf('c', end.promise))
    expect(progress.safe()).toBe(4n)
    await runOf('a')
    expect(progress.safe()).toBe(4n)
    end.resolve()
    await Promise.all(runs)
    expect(progress.safe()).toBe(10n)
  })

  it.each(['waits', 'runs'])('what %s at the very end is not safe', async (how) => {
    progress.notePassed(10n)
    await sendTo('a', '10')
    const running = how === 'runs' ? runOf('a', new Promise(() => {})) : undefined
    expect([progress.safe(), running === undefined]).toEqual([9n, how === 'waits'])
  })

  it('wake-ups from another source are nothing to it', async () => {
    const other = createProgress({ from: 3n, positionOf: () => {} })
    await other.noteSends('widget', queue).send([wakeUp('5')])
    expect([other.countPending('widget'), other.safe()]).toEqual([0, 3n])
  })

  it('a turn that nobody sent is run, and counts for nothing', async () => {
    await sendTo('a', '5')
    await runOf('b')
    expect(pending()).toBe(1)
    const end = Promise.withResolvers<void>()
    const first = runOf('a', end.promise)
    await sendTo('b', '6')
    // The queue hands the key out again, which was sent once.
    await runOf('a')
    expect(pending()).toBe(2)
    end.resolve()
    await first
    expect(pending()).toBe(1)
  })

  it('a key that is sent twice waits once, from the first time on', async () => {
    progress.notePassed(10n)
    await sendTo('a', '5')
    await sendTo('a', '6')
    expect([pending(), progress.safe()]).toEqual([1, 4n])
  })

  it('a run that fails waits once more, from where it was', async () => {
    progress.notePassed(10n)
    await sendTo('a', '5')
    const end = Promise.withResolvers<void>()
    const failing = Promise.allSettled([runOf('a', end.promise)])
    await sendTo('a', '7')
    end.reject(new Error('away'))
    await failing
    expect([pending(), progress.safe()]).toEqual([1, 4n])
  })

  it('keeps a key that waits, or was run ahead of what is safe, and forgets it when that says all', async () => {
    await sendTo('a', '5')
    progress.safe()
    await runOf('a')
    expect(pending()).toBe(0)
    progress.safe()
    await sendTo('a', '5')
    expect(pending()).toBe(0)
    progress.notePassed(5n)
    progress.safe()
    // It is remembered no more, and so it is for once more what it was.
    await sendTo('a', '5')
    expect(pending()).toBe(1)
  })
})
