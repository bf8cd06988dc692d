import { describe, expect, it } from 'vitest'
import { createBatchQueue } from '../../../../shared/engine/loops/batch-queue.ts'
import type { Delivery, WorkQueue } from '../../../../shared/ports/work-queue.ts'
import { createVirtualClock } from '../../../support/virtual-clock.ts'

const delivery = (handle: string): Delivery => ({ wakeUp: {}, handle, receiveCount: 1 }) as unknown as Delivery
const [a, b, c] = [delivery('a'), delivery('b'), delivery('c')]

/** The queue of one invocation, and what it asks of the real one. */
function batchOf({ fails = false } = {}) {
  const calls: string[] = []
  const lines: unknown[] = []
  const clock = createVirtualClock(0)
  const note = (what: string) => async (deliveries: readonly Delivery[], ms?: number) => {
    calls.push([what, ...deliveries.map(({ handle }) => handle), ...(ms === undefined ? [] : [ms])].join(' '))
    if (fails) throw new Error('no queue')
  }
  const queue = { settle: note('settle'), hold: note('hold') } as unknown as WorkQueue
  const logger = {
    debug: () => {},
    info: () => {},
    warn: (...line: unknown[]) => void lines.push(line),
    error: () => {},
    with: () => logger,
  }
  return { batch: createBatchQueue({ queue, clock, logger }), calls, clock, lines }
}

describe('the queue of one invocation', () => {
  it('settles without a call, and deletes early what waits for a second', async () => {
    const { batch, calls, clock } = batchOf()
    await batch.settle([a])
    await batch.settle([b])
    expect([batch.isSettled(a), batch.isSettled(c), calls]).toEqual([true, false, []])
    await clock.advance(999)
    expect(calls).toEqual([])
    await clock.advance(1)
    expect(calls).toEqual(['settle a b'])
    await clock.advance(5_000)
    expect(calls).toEqual(['settle a b'])
    await batch.settle([c])
    await clock.advance(1_000)
    expect(calls).toEqual(['settle a b', 'settle c'])
  })

  it('goes on where an early deletion fails: the mapping deletes them at the end', async () => {
    const { batch, clock, lines } = batchOf({ fails: true })
    await batch.settle([a])
    await clock.advance(1_000)
    expect([lines.length, batch.isSettled(a)]).toEqual([1, true])
  })

  it('holds by a call', async () => {
    const { batch, calls } = batchOf()
    await batch.hold([a], 5_000)
    expect([calls, batch.isSettled(a), batch.receivesMax, batch.keepsApart]).toEqual([['hold a 5000'], false, 7, true])
  })

  it('says nothing any more when the invocation is over, and leaves no timer', async () => {
    const { batch, calls, clock } = batchOf()
    await batch.settle([a])
    batch.close()
    await batch.settle([b])
    await batch.hold([c], 5)
    await clock.advance(2_000)
    expect([batch.isSettled(a), batch.isSettled(b), calls, clock.nextDueMs()]).toEqual([true, false, [], undefined])
  })

  it('waits until it is said what becomes of all messages', async () => {
    const { batch, clock } = batchOf()
    let ended: boolean | undefined
    void batch.awaitEnd([a, b], 60_000).then((is) => (ended = is))
    await batch.settle([a])
    await clock.advance(10)
    expect(ended).toBeUndefined()
    await batch.hold([b], 5)
    await clock.advance(0)
    expect(ended).toBe(true)
    batch.close()
    await clock.advance(0)
    expect(clock.nextDueMs()).toBeUndefined()
  })

  it('waits no longer than it may, and not at all for what is said already', async () => {
    const { batch, clock } = batchOf()
    let ended: boolean | undefined
    void batch.awaitEnd([a], 5_000).then((is) => (ended = is))
    await clock.advance(4_999)
    expect(ended).toBeUndefined()
    await clock.advance(1)
    expect(ended).toBe(false)
    await batch.settle([a])
    expect(await batch.awaitEnd([a], 5_000)).toBe(true)
  })
})
