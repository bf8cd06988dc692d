import { describe, expect, it } from 'vitest'
import type { Pace } from '../../../../shared/engine/limits/pace.ts'
import type { TurnRunner } from '../../../../shared/engine/state/turn.ts'
import { processBatch, work } from '../../../../shared/engine/loops/worker.ts'
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

describe('a turn', () => {
  const key = { group: 'test.setpoint.dev', kind: 'Widget', namespace: 'default', name: 'w' }
  const deliveryOf = (name: string, receiveCount = 1): Delivery =>
    ({
      wakeUp: { key: { ...key, name }, dedupId: name, lane: 'urgent' },
      handle: name,
      receiveCount,
    }) as unknown as Delivery

  /** What a worker does with these, until it is told to stop. */
  async function worked(
    deliveries: readonly Delivery[],
    run: TurnRunner,
    { holdFails = false, isAbandoned = false, pace }: { holdFails?: boolean; isAbandoned?: boolean; pace?: Pace } = {},
  ) {
    const calls: string[] = []
    const lines: unknown[] = []
    const asked: number[] = []
    const [stop, abandon] = [new AbortController(), new AbortController()]
    if (isAbandoned) abandon.abort('over')
    const left = [deliveries]
    const queue = {
      receive: async (max: number) => {
        asked.push(max)
        const some = left.shift()
        if (some === undefined) stop.abort('over')
        return some ?? []
      },
      settle: async () => void calls.push('settle'),
      hold: async ([one]: readonly Delivery[], ms: number) => {
        calls.push(`hold ${one?.handle} ${ms}`)
        if (holdFails) throw new Error('no queue')
      },
    } as unknown as WorkQueue
    const told = { ...logger, error: (...line: unknown[]) => void lines.push(line) }
    const options = { queue, run, logger: told, concurrency: 20, ...(pace && { pace }) }
    await work(options, { stop: stop.signal, abandon: abandon.signal })
    return { calls, lines, asked, options, signal: abandon.signal }
  }
  const failing: TurnRunner = async () => {
    throw new Error('the store is away')
  }

  it.each([
    [1, 1_000],
    [2, 2_000],
    [4, 8_000],
    [9, 10_000],
  ])('that cannot be ended for the %d. time comes again after %d ms, and says so', async (receiveCount, ms) => {
    const { calls, lines } = await worked([deliveryOf('w', receiveCount)], failing)
    expect(calls).toEqual([`hold w ${ms}`])
    expect(lines).toMatchObject([['turn not ended', { kind: 'Widget', namespace: 'default', name: 'w', receiveCount }]])
  })

  it('whose message cannot be hidden either is left to the queue', async () => {
    const { lines } = await worked([deliveryOf('w')], failing, { holdFails: true })
    expect(lines).toHaveLength(2)
  })

  it('that is given up is left as it is', async () => {
    const { calls, lines } = await worked([deliveryOf('w')], failing, { isAbandoned: true })
    expect([calls, lines]).toEqual([[], []])
  })

  it('that ends is left to what it said', async () => {
    const { calls, lines } = await worked([deliveryOf('w')], (turn) => turn.settle())
    expect([calls, lines]).toEqual([['settle'], []])
  })

  it('is waited for when the worker stops', async () => {
    let isEnded = false
    await worked([deliveryOf('w')], async () => {
      await new Promise(setImmediate)
      isEnded = true
    })
    expect(isEnded).toBe(true)
  })

  it('is taken at the pace that is allowed, ten at once at most', async () => {
    const spent: number[] = []
    const pace: Pace = { awaitAllowance: async () => 3, spend: (keys) => void spent.push(keys) }
    const run: TurnRunner = (turn) => turn.settle()
    const { asked } = await worked([deliveryOf('a'), deliveryOf('b')], run, { pace })
    expect([asked[0], spent[0]]).toEqual([3, 2])
    expect((await worked([deliveryOf('a')], run)).asked[0]).toBe(10)
  })

  it('of a batch that could not be ended is given back', async () => {
    const { options, signal } = await worked([], async (turn) => {
      if (turn.key.name === 'bad') throw new Error('the store is away')
    })
    const left = await processBatch(
      ['a', 'bad', 'c'].map((name) => deliveryOf(name)),
      options,
      signal,
    )
    expect(left.map(({ handle }) => handle)).toEqual(['bad'])
  })
})
