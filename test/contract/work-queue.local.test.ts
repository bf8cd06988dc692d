import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { createLocalWorkQueue, type LocalWorkQueue } from '../../shared/adapters/local/queue/local-work-queue.ts'
import type { Delivery, WakeUp } from '../../shared/ports/work-queue.ts'
import { createSeededRandom } from '../../shared/testing/seeded-random.ts'
import { createVirtualClock, type VirtualClock } from '../support/virtual-clock.ts'
import { workQueueContract } from './work-queue.contract.ts'
import { share } from '../support/strength.ts'

const visibilityMs = 30_000
const random = createSeededRandom(1)

workQueueContract('in this process', () => {
  const clock = createVirtualClock()
  const queue = createLocalWorkQueue({ clock, random, visibilityMs })
  return { queue, visibilityMs, latencyMs: 0, pass: clock.advance }
})

describe('the queue in this process', () => {
  let clock: VirtualClock
  let queue: LocalWorkQueue
  let ids = 0

  beforeEach(() => {
    clock = createVirtualClock()
    queue = createLocalWorkQueue({ clock, random, visibilityMs })
  })

  const wakeUp = (name: string, more: Partial<WakeUp> = {}): WakeUp => {
    const key = { group: 'example.com', kind: 'Widget', namespace: 'default', name }
    return { key, origin: 'change', dedupId: `id-${ids++}`, lane: 'urgent', reason: 'test', ...more }
  }
  const timer = (name: string, inMs: number): WakeUp =>
    wakeUp(name, { origin: 'timer', lane: 'background', notBeforeMs: clock.nowMs() + inMs })

  const receive = async (max = 10): Promise<readonly Delivery[]> => {
    const patience = new AbortController()
    const received = queue.receive(max, patience.signal)
    await clock.advance(0)
    patience.abort()
    return received
  }
  const namesOf = (deliveries: readonly Delivery[]): readonly string[] =>
    deliveries.map(({ wakeUp: { key } }) => key.name)
  const receiveNames = async (max = 10): Promise<readonly string[]> => namesOf(await receive(max))

  it('hands out nothing that is taken after the process stood still, and then after as long as before', async () => {
    await queue.send([wakeUp('a')])
    expect(await receiveNames()).toEqual(['a'])
    await clock.advance(1_000)
    const next = queue.receive(10, new AbortController().signal)
    // As after SIGSTOP: no timer has run meanwhile.
    clock.moveTo(clock.nowMs() + 10 * visibilityMs)
    let names: readonly string[] = []
    void next.then((deliveries) => (names = namesOf(deliveries)))
    await clock.advance(visibilityMs / 2)
    expect(names).toEqual([])
    await clock.advance(visibilityMs / 2)
    expect(names).toEqual(['a'])
  })

  it('lets the event loop turn while it hands out a long line, though nobody who takes from it ever waits', async () => {
    await queue.send(Array.from({ length: 1_000 }, (_, i) => wakeUp(`k${i}`)))
    const { signal } = new AbortController()
    let turns = 0
    let isOver = false
    const count = (): void => {
      turns++
      if (!isOver) setImmediate(count)
    }
    setImmediate(count)
    for (let taken = 0; taken < 1_000;) {
      const deliveries = await queue.receive(10, signal)
      taken += deliveries.length
      await queue.settle(deliveries)
    }
    isOver = true
    expect(turns).toBeGreaterThan(15)
  })

  describe('lanes', () => {
    it('hands out urgent keys first, each lane in the order of arrival', async () => {
      await queue.send([
        wakeUp('b1', { lane: 'background' }),
        wakeUp('u1'),
        wakeUp('b2', { lane: 'background' }),
        wakeUp('u2'),
      ])
      expect(await receiveNames()).toEqual(['u1', 'u2', 'b1', 'b2'])
    })

    it('moves a key ahead when something urgent comes for it, and never back', async () => {
      await queue.send([wakeUp('b1', { lane: 'background' }), wakeUp('b2', { lane: 'background' })])
      await queue.send([wakeUp('b2'), wakeUp('b2', { lane: 'background' })])
      expect(await receiveNames()).toEqual(['b2', 'b1'])
    })

    it('gives one in ten to the background, however many are urgent', async () => {
      await queue.send(Array.from({ length: 100 }, (_, i) => wakeUp(`u${i}`)))
      await queue.send(Array.from({ length: 100 }, (_, i) => wakeUp(`b${i}`, { lane: 'background' })))
      const names: string[] = []
      for (let i = 0; i < 10; i++) names.push(...(await receiveNames(10)))
      expect(names.filter((name) => name.startsWith('b'))).toEqual(Array.from({ length: 10 }, (_, i) => `b${i}`))
    })

    it('hands out no more of the background than the receiver has room for, and waits for urgent ones if it has none', async () => {
      await queue.send(Array.from({ length: 5 }, (_, i) => wakeUp(`b${i}`, { lane: 'background' })))
      await queue.send([wakeUp('u0')])
      const { signal } = new AbortController()
      expect(namesOf(await queue.receive(10, signal, 2))).toEqual(['u0', 'b0', 'b1'])
      const waiting = queue.receive(10, signal, 0)
      await queue.settle(await queue.receive(1, signal))
      await queue.send([wakeUp('b5', { lane: 'background' })])
      await queue.send([wakeUp('u1')])
      expect(namesOf(await waiting)).toEqual(['u1'])
      const leaving = new AbortController()
      const ended = queue.receive(10, leaving.signal, 0)
      leaving.abort('over')
      expect(await ended).toEqual([])
      expect(await receiveNames()).toEqual(['b3', 'b4', 'b5'])
    })

    it('puts what comes back from a hold behind what is fresh', async () => {
      await queue.send([wakeUp('retry')])
      await queue.hold(await receive(), 1_000)
      await queue.send([wakeUp('b', { lane: 'background' })])
      await clock.advance(1_000)
      await queue.send([wakeUp('u')])
      expect(await receiveNames()).toEqual(['u', 'b', 'retry'])
    })

    it('puts it ahead again when a user changes the object', async () => {
      await queue.send([wakeUp('retry')])
      const [taken] = (await receive()) as [Delivery]
      await queue.hold([taken], 1_000)
      await queue.send([wakeUp('b', { lane: 'background' })])
      await queue.wake(taken.handle)
      await queue.send([wakeUp('retry')])
      expect(await receiveNames()).toEqual(['retry', 'b'])
    })
  })

  describe('a delivery that is taken or held', () => {
    it('is wanted once a change has come for its key', async () => {
      await queue.send([wakeUp('a'), wakeUp('b')])
      const taken = await receive()
      expect(await queue.isWanted(taken)).toBe(false)
      await queue.send([wakeUp('a')])
      expect(await queue.isWanted(taken)).toBe(true)
      await queue.hold(taken, 1_000)
      expect(await queue.isWanted(taken)).toBe(true)
      await queue.settle(taken)
      expect(await queue.isWanted(taken)).toBe(false)
    })

    it('is not wanted by timers', async () => {
      await queue.send([wakeUp('a')])
      const taken = await receive()
      await queue.send([timer('a', 1_000), timer('a', -1_000)])
      expect(await queue.isWanted(taken)).toBe(false)
    })
  })

  describe('a wake-up with a time ahead', () => {
    it('waits for it', async () => {
      await queue.send([timer('a', 2_000)])
      await clock.advance(1_999)
      expect(await receiveNames()).toEqual([])
      await clock.advance(1)
      expect(await receiveNames()).toEqual(['a'])
    })

    it('wakes a receiver that waits already, even for a later one', async () => {
      await queue.send([timer('late', 5_000)])
      const received = queue.receive(10, new AbortController().signal)
      await clock.advance(1_000)
      await queue.send([timer('soon', 1_000)])
      await clock.advance(1_000)
      expect(namesOf(await received)).toEqual(['soon'])
    })

    it('comes at once when something without a time comes for the key', async () => {
      await queue.send([timer('a', 2_000), wakeUp('a')])
      const [taken] = (await receive()) as [Delivery]
      expect(taken.wakeUp).not.toHaveProperty('notBeforeMs')
      expect(taken.wakeUp.lane).toBe('urgent')
      await queue.settle([taken])
      await clock.advance(2_000)
      expect(await receiveNames()).toEqual([])
    })

    it('takes the earliest of several times', async () => {
      await queue.send([timer('a', 2_000), timer('a', 1_000), timer('a', 3_000)])
      await clock.advance(1_000)
      const [taken] = (await receive()) as [Delivery]
      expect(taken.wakeUp.notBeforeMs).toBe(clock.nowMs())
    })

    it('waits for it after the run it came in', async () => {
      await queue.send([wakeUp('a')])
      const taken = await receive()
      await queue.send([timer('a', 2_000)])
      await queue.settle(taken)
      expect(await receiveNames()).toEqual([])
      await clock.advance(2_000)
      expect(await receiveNames()).toEqual(['a'])
    })

    it('is not waited for when its time is past', async () => {
      await queue.send([timer('a', -1)])
      expect(await receiveNames()).toEqual(['a'])
    })
  })

  describe('merging', () => {
    it('gives one delivery per key, however often it was sent', async () => {
      for (let i = 0; i < 1_000; i++) await queue.send([wakeUp('a', { reason: `reason ${i}` })])
      const [taken, ...others] = (await receive()) as [Delivery]
      expect(others).toEqual([])
      expect(taken.wakeUp.reason.length).toBeLessThanOrEqual(320)
    })

    it('says a reason once', async () => {
      await queue.send([wakeUp('a'), wakeUp('a', { reason: 'other' }), wakeUp('a'), wakeUp('a', { reason: 'other' })])
      expect((await receive())[0]?.wakeUp.reason).toBe('test; other')
    })
  })

  describe('dedup ids', () => {
    it('are forgotten after five minutes', async () => {
      await queue.send([wakeUp('a', { dedupId: 'same' })])
      await queue.settle(await receive())
      await clock.advance(299_999)
      await queue.send([wakeUp('a', { dedupId: 'same' })])
      expect(await receiveNames()).toEqual([])
      await clock.advance(1)
      await queue.send([wakeUp('a', { dedupId: 'same' })])
      expect(await receiveNames()).toEqual(['a'])
    })

    it('are remembered for at least ten thousand wake-ups', async () => {
      await queue.send([wakeUp('a', { dedupId: 'same' })])
      await queue.settle(await receive())
      await queue.send(Array.from({ length: 9_999 }, () => wakeUp('b')))
      await queue.send([wakeUp('a', { dedupId: 'same' })])
      expect(await receiveNames()).toEqual(['b'])
    })
  })

  it('counts the keys that could be handed out now', async () => {
    await queue.send([wakeUp('a'), wakeUp('a'), wakeUp('b'), timer('c', 1_000)])
    expect(queue.depth()).toBe(2)
    const taken = await receive(1)
    expect(queue.depth()).toBe(1)
    await queue.hold(taken, 0)
    expect(queue.depth()).toBe(2)
  })

  describe('waiting', () => {
    let waits: number[]
    beforeEach(() => {
      waits = []
      queue = createLocalWorkQueue({ clock, random, visibilityMs, onHandOut: (waitedMs) => waits.push(waitedMs) })
    })

    it('is told of each key that is handed out, from when it could have been', async () => {
      await queue.send([wakeUp('a')])
      await clock.advance(2_000)
      await queue.send([timer('b', 3_000)])
      await receiveNames()
      await clock.advance(4_000)
      await receiveNames()
      expect(waits).toEqual([2_000, 0])
    })

    it('does not begin anew when more comes for the key', async () => {
      await queue.send([wakeUp('a', { lane: 'background' })])
      await clock.advance(1_000)
      await queue.send([wakeUp('a'), wakeUp('a')])
      await clock.advance(1_000)
      await receiveNames()
      expect(waits).toEqual([2_000])
    })

    it('does not count the time that a key is held', async () => {
      await queue.send([wakeUp('a')])
      await queue.hold(await receive(), 5_000)
      await clock.advance(5_000)
      await receiveNames()
      expect(waits).toEqual([0, 0])
    })

    it('is known of the key that waits longest, in whatever lane', async () => {
      expect(queue.longestWaitMs()).toBe(0)
      await queue.send([wakeUp('a', { lane: 'background' }), wakeUp('b')])
      await clock.advance(1_000)
      await queue.send([wakeUp('c')])
      await clock.advance(1_000)
      expect(queue.longestWaitMs()).toBe(2_000)
      expect(await receiveNames(1)).toEqual(['b'])
      expect(queue.longestWaitMs()).toBe(2_000)
      await queue.send([wakeUp('a')])
      expect(queue.longestWaitMs()).toBe(2_000)
      await receiveNames()
      expect(queue.longestWaitMs()).toBe(0)
    })
  })

  it('gives handles that no queue before or after it knows', async () => {
    const other = createLocalWorkQueue({ clock, random, visibilityMs })
    await queue.send([wakeUp('a')])
    await other.send([wakeUp('a')])
    const signal = new AbortController().signal
    const [[mine], [theirs]] = (await Promise.all([queue.receive(1, signal), other.receive(1, signal)])) as [
      [Delivery],
      [Delivery],
    ]
    await queue.hold([mine], 1_000)
    await queue.wake(theirs.handle)
    expect(await receiveNames()).toEqual([])
  })

  it('does not take a settle or a hold for a receipt that has expired, though nobody has received since', async () => {
    await queue.send([wakeUp('a'), wakeUp('b')])
    const [a, b] = (await receive()) as [Delivery, Delivery]
    await clock.advance(visibilityMs)
    await queue.settle([a])
    await queue.hold([b], 10_000)
    expect(await receiveNames()).toEqual(['a', 'b'])
  })

  it('has one timer for all keys, and none when nobody receives', async () => {
    await queue.send(Array.from({ length: 100 }, (_, i) => wakeUp(`k${i}`)))
    for (let i = 0; i < 10; i++) await queue.hold(await receive(), 60_000 + i)
    // While keys are taken, and not held, the time is looked at now and then.
    await clock.advance(5_000)
    expect(clock.nextDueMs()).toBeUndefined()
    const patience = new AbortController()
    const received = queue.receive(1, patience.signal)
    expect(clock.nextDueMs()).toBe(clock.nowMs() + 55_000)
    patience.abort()
    expect(await received).toEqual([])
    expect(clock.nextDueMs()).toBeUndefined()
  })

  it('loses no key and gives none to two, whatever the order of acts', async () => {
    const act = fc.record({
      name: fc.constantFrom('a', 'b', 'c'),
      act: fc.constantFrom('send', 'take', 'settle', 'hold', 'wake', 'release', 'pass'),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 40, size: 'max' }), async (acts) => {
        clock = createVirtualClock()
        queue = createLocalWorkQueue({ clock, random, visibilityMs })
        const model = createModel(clock)
        for (const { act: does, name } of acts) {
          const mine = model.receiptOf(name)
          if (does === 'send') await queue.send([model.sent(wakeUp(name))])
          else if (does === 'take') for (const delivery of await receive(1)) model.taken(delivery)
          else if (does === 'pass') await clock.advance(visibilityMs / 2)
          else if (mine !== undefined) await model.act(queue, does, mine)
        }
        await clock.advance(2 * visibilityMs)
        expect((await receiveNames()).toSorted()).toEqual(model.owed())
      }),
      { numRuns: share(300) },
    )
  })
})

interface Receipt {
  readonly delivery: Delivery
  endsMs: number
  isHeld: boolean
}

/** What a queue owes: a key is owed from when it is sent until a receipt that came after is settled. */
function createModel(clock: VirtualClock) {
  const sends = new Map<string, number>()
  const covered = new Map<string, number>()
  const receipts = new Map<string, Receipt & { readonly covers: number }>()
  const live = (name: string): (Receipt & { readonly covers: number }) | undefined => {
    const receipt = receipts.get(name)
    return receipt !== undefined && receipt.endsMs > clock.nowMs() ? receipt : undefined
  }
  return {
    receiptOf: live,
    sent: (wakeUp: WakeUp): WakeUp => {
      sends.set(wakeUp.key.name, (sends.get(wakeUp.key.name) ?? 0) + 1)
      return wakeUp
    },
    taken: (delivery: Delivery): void => {
      const { name } = delivery.wakeUp.key
      expect(live(name)).toBeUndefined()
      receipts.set(name, {
        delivery,
        endsMs: clock.nowMs() + visibilityMs,
        isHeld: false,
        covers: sends.get(name) ?? 0,
      })
    },
    act: async (
      queue: LocalWorkQueue,
      does: 'settle' | 'hold' | 'wake' | 'release',
      receipt: Receipt & { readonly covers: number },
    ): Promise<void> => {
      const { name } = receipt.delivery.wakeUp.key
      if (does === 'settle') {
        await queue.settle([receipt.delivery])
        covered.set(name, receipt.covers)
        receipts.delete(name)
      } else if (does === 'hold') {
        await queue.hold([receipt.delivery], visibilityMs / 3)
        receipt.endsMs = clock.nowMs() + visibilityMs / 3
        receipt.isHeld = true
      } else if (does === 'release') {
        await queue.hold([receipt.delivery], 0)
        receipts.delete(name)
      } else {
        await queue.wake(receipt.delivery.handle)
        if (receipt.isHeld) receipts.delete(name)
      }
    },
    owed: (): readonly string[] =>
      [...sends]
        .filter(([name, count]) => (covered.get(name) ?? 0) < count)
        .map(([name]) => name)
        .toSorted(),
  }
}
