import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Delivery, WakeUp, WorkQueue } from '../../shared/ports/work-queue.ts'

/** An empty queue, its time, and how to let it go. */
export interface OpenQueue {
  readonly queue: WorkQueue
  readonly visibilityMs: number
  /** Lets time pass for the queue. */
  pass(ms: number): Promise<void>
  /** How late a message may be: on its way, or after it should be visible again. */
  readonly latencyMs: number
  close?(): PromiseLike<void> | void
}

/** Tests that an emulator cannot pass, by name, and what it does otherwise than AWS. */
export type Differences = Readonly<Record<string, string>>

/**
 * What every WorkQueue promises. A run of the queue takes wake-ups of one key in one batch or merged into one; both
 * pass here.
 */
export function workQueueContract(
  adapter: string,
  open: () => Promise<OpenQueue> | OpenQueue,
  differences: Differences = {},
): void {
  describe(`WorkQueue: ${adapter}`, () => {
    const known = new Set<string>()
    beforeEach(({ task: { name }, skip }) => {
      known.add(name)
      skip(differences[name] !== undefined, differences[name])
    })
    afterAll(() => expect([...known]).toEqual(expect.arrayContaining(Object.keys(differences))))

    let opened: OpenQueue
    let queue: WorkQueue
    let ids = 0

    beforeEach(async () => {
      opened = await open()
      queue = opened.queue
    })
    afterEach(async () => opened.close?.())

    const wakeUp = (name: string, more: Partial<WakeUp> = {}): WakeUp => {
      const key = { group: 'example.com', kind: 'Widget', namespace: 'default', name }
      return { key, origin: 'change', dedupId: `id-${ids++}`, lane: 'urgent', reason: 'test', ...more }
    }

    /** What can be had now. */
    const receive = async (max = 10): Promise<readonly Delivery[]> => {
      const patience = new AbortController()
      const received = queue.receive(max, patience.signal)
      await Promise.race([received, opened.pass(opened.latencyMs)])
      patience.abort()
      return received
    }

    /** Whole seconds, in which nobody takes a late message for one that is on time. */
    const units = (count: number): number => count * Math.max(1, Math.ceil((2 * opened.latencyMs) / 1_000)) * 1_000

    const names = (deliveries: readonly Delivery[]): readonly string[] =>
      [...new Set(deliveries.map(({ wakeUp: { key } }) => key.name))].toSorted()

    const receiveAll = async (): Promise<readonly Delivery[]> => {
      const all: Delivery[] = []
      for (let batch = await receive(); batch.length > 0; batch = await receive()) all.push(...batch)
      return all
    }

    describe('sending and receiving', () => {
      it('hands out what was sent', async () => {
        const sent = wakeUp('a', { resourceVersion: '7', reason: 'spec changed' })
        await queue.send([sent])
        const [delivery] = await receive()
        expect(delivery).toMatchObject({ wakeUp: sent, receiveCount: 1 })
        expect(delivery?.handle).not.toBe('')
      })

      it('hands out all that a wake-up says', async () => {
        const sent = wakeUp('a', {
          key: { group: '', kind: 'ConfigMap', namespace: '', name: 'ä b#c' },
          origin: 'timer',
          lane: 'background',
          resourceVersion: '9007199254740993',
          reason: 'its wait is over; "quoted" ü',
          timerAtMs: 1_800_000_000_123,
          ticket: 'a-ticket',
        })
        await queue.send([sent])
        const { dedupId: _, ...rest } = sent
        expect(await receive()).toMatchObject([{ wakeUp: rest, receiveCount: 1 }])
      })

      it('gives nothing when there is nothing, once the receiver gives up', async () => {
        expect(await receive()).toEqual([])
      })

      it('gives nothing to a receiver that has given up before', async () => {
        await queue.send([wakeUp('a')])
        expect(await queue.receive(10, AbortSignal.abort())).toEqual([])
        expect(names(await receive())).toEqual(['a'])
      })

      it('hands out to a receiver that waits already', async () => {
        const received = queue.receive(10, new AbortController().signal)
        await opened.pass(opened.latencyMs)
        await queue.send([wakeUp('a')])
        await opened.pass(opened.latencyMs)
        expect(names(await received)).toEqual(['a'])
      })

      it('hands out each key to one of several receivers', async () => {
        const stop = new AbortController()
        const receivers = [1, 2, 3].map(() => queue.receive(1, stop.signal))
        await queue.send([wakeUp('a'), wakeUp('b')])
        await opened.pass(opened.latencyMs)
        stop.abort()
        const received = await Promise.all(receivers)
        expect(received.flatMap(names).toSorted()).toEqual(['a', 'b'])
        expect(received.filter(({ length }) => length === 0)).toHaveLength(1)
      })

      it('gives no more than asked for', async () => {
        await queue.send(['a', 'b', 'c', 'd', 'e'].map((name) => wakeUp(name)))
        expect(await receive(2)).toHaveLength(2)
        expect(names(await receiveAll())).toHaveLength(3)
      })

      it('hands out every key of a long list', async () => {
        const sent = Array.from({ length: 137 }, (_, i) => `k${i}`)
        await queue.send(sent.map((name) => wakeUp(name)))
        const received: Delivery[] = []
        for (let batch = await receive(); batch.length > 0; batch = await receive()) {
          received.push(...batch)
          await queue.settle(batch)
        }
        expect(names(received)).toEqual(sent.toSorted())
      })

      it('takes an empty list', async () => {
        await queue.send([])
        expect(await receive()).toEqual([])
      })
    })

    describe('one holder', () => {
      it('hands out no other wake-up of a key that is taken', async () => {
        await queue.send([wakeUp('a')])
        await receive()
        await queue.send([wakeUp('a'), wakeUp('b')])
        expect(names(await receive())).toEqual(['b'])
      })

      it('tells keys apart by every part', async () => {
        const { key } = wakeUp('a')
        await queue.send([wakeUp('a')])
        await receive()
        const others = [{ group: '' }, { kind: 'Gadget' }, { namespace: '' }, { name: 'A' }]
        await queue.send(others.map((other) => wakeUp('a', { key: { ...key, ...other } })))
        expect(await receiveAll()).toHaveLength(4)
      })
    })

    describe('no lost wake-up', () => {
      it('hands out after a run what was sent during it', async () => {
        await queue.send([wakeUp('a')])
        const taken = await receive()
        await queue.send([wakeUp('a', { reason: 'during' })])
        await queue.settle(taken)
        const [next] = await receive()
        expect(next).toMatchObject({ wakeUp: { reason: 'during' }, receiveCount: 1 })
      })

      it('hands out after a hold what was sent during it', async () => {
        await queue.send([wakeUp('a')])
        await queue.hold(await receive(), units(1))
        await queue.send([wakeUp('a', { reason: 'during' })])
        expect(await receive()).toEqual([])
        await opened.pass(units(1))
        const again = await receive()
        expect(names(again)).toEqual(['a'])
        await queue.settle(again)
        const rest = await receiveAll()
        expect([...again, ...rest].some(({ wakeUp: { reason } }) => reason.includes('during'))).toBe(true)
      })

      it('forgets what is settled', async () => {
        await queue.send([wakeUp('a'), wakeUp('a'), wakeUp('b')])
        for (const delivery of Map.groupBy(await receiveAll(), ({ wakeUp: { key } }) => key.name).values())
          await queue.settle(delivery)
        await opened.pass(2 * opened.visibilityMs)
        expect(await receive()).toEqual([])
      })
    })

    describe('coalescing', () => {
      it('brings the wake-ups that wait for a key together', async () => {
        await queue.send([wakeUp('a'), wakeUp('b'), wakeUp('a'), wakeUp('a')])
        const taken = await receiveAll()
        await queue.settle(taken.filter(({ wakeUp: { key } }) => key.name === 'a'))
        expect(await receive()).toEqual([])
      })

      it('brings the latest resourceVersion and each reason', async () => {
        await queue.send([
          wakeUp('a', { resourceVersion: '9', reason: 'first' }),
          wakeUp('a', { resourceVersion: '10', reason: 'second' }),
          wakeUp('a', { reason: 'third' }),
        ])
        const taken = await receive()
        expect(Math.max(...taken.map(({ wakeUp: { resourceVersion = 0 } }) => Number(resourceVersion)))).toBe(10)
        const reasons = taken.map(({ wakeUp: { reason } }) => reason).join()
        for (const reason of ['first', 'second', 'third']) expect(reasons).toContain(reason)
      })
    })

    describe('at least once', () => {
      it('hands out again what was not settled in time, and counts', async () => {
        await queue.send([wakeUp('a')])
        const [first] = await receive()
        await opened.pass(opened.visibilityMs)
        const [second] = await receive()
        expect(second).toMatchObject({ wakeUp: { key: first?.wakeUp.key }, receiveCount: 2 })
        expect(second?.handle).not.toBe(first?.handle)
      })

      it('does not end the turn of the next holder for one that comes too late', async () => {
        await queue.send([wakeUp('a')])
        const late = await receive()
        await opened.pass(opened.visibilityMs)
        const current = await receive()
        expect(current).toHaveLength(1)
        await Promise.allSettled([queue.settle(late), queue.hold(late, 0)])
        await queue.send([wakeUp('a')])
        expect(await receive()).toEqual([])
        await opened.pass(opened.visibilityMs)
        expect(names(await receive())).toEqual(['a'])
      })
    })

    describe('hold', () => {
      it('hands out again after the wait, not before, and counts', async () => {
        await queue.send([wakeUp('a')])
        await queue.hold(await receive(), units(2))
        await opened.pass(units(1))
        expect(await receive()).toEqual([])
        await opened.pass(units(1))
        expect(await receive()).toMatchObject([{ receiveCount: 2 }])
      })

      it('wakes a receiver that waits already', async () => {
        await queue.send([wakeUp('a')])
        const taken = await receive()
        const received = queue.receive(10, new AbortController().signal)
        await queue.hold(taken, units(1))
        await opened.pass(units(1) + opened.latencyMs)
        expect(names(await received)).toEqual(['a'])
      })

      it('may be longer than the visibility timeout', async () => {
        await queue.send([wakeUp('a')])
        await queue.hold(await receive(), opened.visibilityMs + units(2))
        await opened.pass(opened.visibilityMs + units(1))
        expect(await receive()).toEqual([])
        await opened.pass(units(1))
        expect(names(await receive())).toEqual(['a'])
      })

      it('hands out at once after a hold of 0', async () => {
        await queue.send([wakeUp('a')])
        await queue.hold(await receive(), 0)
        expect(await receive()).toMatchObject([{ receiveCount: 2 }])
      })

      it('ends with a settle', async () => {
        await queue.send([wakeUp('a')])
        const taken = await receive()
        await queue.hold(taken, units(1))
        await queue.settle(taken)
        await opened.pass(opened.visibilityMs + units(1))
        expect(await receive()).toEqual([])
      })
    })

    describe('wake', () => {
      it('ends a hold by its handle', async () => {
        await queue.send([wakeUp('a')])
        const [taken] = (await receive()) as [Delivery]
        await queue.hold([taken], 2 * opened.visibilityMs)
        await queue.wake(taken.handle)
        expect(await receive()).toMatchObject([{ receiveCount: 2 }])
      })

      it('lets what was sent during the hold come with it', async () => {
        await queue.send([wakeUp('a')])
        const [taken] = (await receive()) as [Delivery]
        await queue.hold([taken], 2 * opened.visibilityMs)
        await queue.wake(taken.handle)
        await queue.send([wakeUp('a', { reason: 'spec changed' })])
        const woken = await receive()
        await queue.settle(woken)
        const rest = await receiveAll()
        expect([...woken, ...rest].some(({ wakeUp: { reason } }) => reason.includes('spec changed'))).toBe(true)
      })

      it('does nothing with a handle that is stale or was never one', async () => {
        await queue.send([wakeUp('a')])
        const [first] = (await receive()) as [Delivery]
        await queue.hold([first], 0)
        const [second] = (await receive()) as [Delivery]
        await queue.hold([second], units(1))
        await queue.wake(first.handle)
        await queue.wake('no handle')
        expect(await receive()).toEqual([])
        await opened.pass(units(1))
        expect(names(await receive())).toEqual(['a'])
      })
    })

    describe('the same dedup id', () => {
      it('is sent once within five minutes, even if the first is settled', async () => {
        await queue.send([wakeUp('a', { dedupId: 'same' })])
        await queue.settle(await receive())
        await queue.send([wakeUp('a', { dedupId: 'same' })])
        expect(await receive()).toEqual([])
      })

      it('is sent for each key', async () => {
        await queue.send([wakeUp('a', { dedupId: 'same' }), wakeUp('b', { dedupId: 'same' })])
        expect(names(await receiveAll())).toEqual(['a', 'b'])
      })
    })
  })
}
