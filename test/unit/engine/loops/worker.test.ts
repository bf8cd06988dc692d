import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import type { Pace } from '../../../../shared/engine/limits/pace.ts'
import type { TurnRunner } from '../../../../shared/engine/state/turn.ts'
import { OverrunError } from '../../../../shared/engine/turn/commit.ts'
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

  it('whose function goes on, and whose end could not be written, is left as it is', async () => {
    const goesOn: TurnRunner = async () => {
      throw new OverrunError('its function still runs')
    }
    const { calls, lines, options, signal } = await worked([deliveryOf('w')], goesOn)
    expect([calls, lines]).toEqual([[], []])
    expect(await processBatch([deliveryOf('w')], options, signal)).toEqual([])
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

  it('of a batch that is given up is given back, and nothing is said', async () => {
    const { options, signal, lines } = await worked([], failing, { isAbandoned: true })
    const left = await processBatch([deliveryOf('a'), deliveryOf('b')], options, signal)
    expect([left.map(({ handle }) => handle), lines]).toEqual([['a', 'b'], []])
  })
})

describe('a worker', () => {
  const settled = async (): Promise<void> => {
    for (let i = 0; i < 3; i++) await new Promise(setImmediate)
  }

  /** A worker whose queue gives what it is told to, and whose runs end when they are told to. */
  function startWorker({
    concurrency = 4,
    pace,
  }: { readonly concurrency?: number; readonly pace?: (stop: AbortController) => Pace } = {}) {
    const [stop, abandon] = [new AbortController(), new AbortController()]
    const asked: { readonly max: number; readonly signal: AbortSignal; readonly free: number | undefined }[] = []
    const begun: string[] = []
    const ends = new Map<string, () => void>()
    let give = (_some: readonly Delivery[]): void => {}
    const queue = {
      receive: (max: number, signal: AbortSignal, free?: number) => {
        asked.push({ max, signal, free })
        return new Promise<readonly Delivery[]>((resolve) => {
          give = resolve
          signal.addEventListener('abort', () => resolve([]))
          if (signal.aborted) resolve([])
        })
      },
    } as unknown as WorkQueue
    const run: TurnRunner = ({ key: { name } }) => {
      begun.push(name)
      return new Promise((resolve) => ends.set(name, () => resolve()))
    }
    let hasEnded = false
    const options = { queue, run, logger, concurrency, ...(pace && { pace: pace(stop) }) }
    void work(options, { stop: stop.signal, abandon: abandon.signal }).then(() => (hasEnded = true))
    const deliveryOf = (name: string, lane: string): Delivery => {
      const key = { group: 'test.setpoint.dev', kind: 'Widget', namespace: 'default', name }
      return { wakeUp: { key, dedupId: name, lane }, handle: name, receiveCount: 1 } as unknown as Delivery
    }
    return {
      stop,
      asked,
      begun,
      hasEnded: () => hasEnded,
      give: async (lane: string, ...names: string[]) => {
        await settled()
        give(names.map((name) => deliveryOf(name, lane)))
        await settled()
      },
      end: async (name: string) => {
        ends.get(name)?.()
        await settled()
      },
      shares: () => asked.map(({ max, free }) => `${max} ${String(free)}`),
    }
  }

  it('takes more while it has slots, and then when one is free', async () => {
    const worker = startWorker()
    await worker.give('urgent', 'a')
    await worker.give('urgent', 'b', 'c', 'd')
    expect(worker.begun).toEqual(['a', 'b', 'c', 'd'])
    expect(worker.shares()).toEqual(['4 3', '3 3'])
    await worker.end('b')
    expect(worker.shares()).toEqual(['4 3', '3 3', '1 3'])
    worker.stop.abort('over')
    await worker.end('a')
    await worker.end('c')
    expect(worker.hasEnded()).toBe(false)
    await worker.end('d')
    expect(worker.hasEnded()).toBe(true)
  })

  it('asks for urgent work alone while background work has its slots, and anew when one is free', async () => {
    const worker = startWorker()
    await worker.give('background', 'a', 'b', 'c')
    expect(worker.shares()).toEqual(['4 3', '1 0'])
    expect(getEventListeners(worker.stop.signal, 'abort')).toHaveLength(2)
    await worker.end('b')
    expect(worker.asked[1]?.signal.aborted).toBe(true)
    expect(worker.shares()).toEqual(['4 3', '1 0', '2 1'])
    // What waited for urgent work listens no more.
    expect(getEventListeners(worker.stop.signal, 'abort')).toHaveLength(2)
    await worker.give('background', 'd')
    await worker.give('urgent', 'e')
    expect(worker.begun).toEqual(['a', 'b', 'c', 'd', 'e'])
    worker.stop.abort('over')
    for (const name of ['a', 'c', 'd', 'e']) await worker.end(name)
    expect(worker.hasEnded()).toBe(true)
  })

  it('that waits for urgent work stops when it is told to', async () => {
    const worker = startWorker()
    await worker.give('background', 'a', 'b', 'c')
    worker.stop.abort('over')
    expect(worker.asked[1]?.signal.aborted).toBe(true)
    for (const name of ['a', 'b', 'c']) await worker.end(name)
    expect(worker.hasEnded()).toBe(true)
  })

  it('that is told to stop while it waits for its allowance takes nothing any more', async () => {
    let calls = 0
    const pace = (stop: AbortController): Pace => ({
      awaitAllowance: async () => {
        calls++
        if (calls === 2) stop.abort('over')
        return 4
      },
      spend: () => {},
    })
    const worker = startWorker({ pace })
    await worker.give('background', 'a', 'b', 'c')
    expect(worker.asked[1]?.signal.aborted).toBe(true)
    for (const name of ['a', 'b', 'c']) await worker.end(name)
    expect(worker.hasEnded()).toBe(true)
  })

  it('that is allowed nothing asks for nothing', async () => {
    const spent: number[] = []
    const pace = (stop: AbortController): Pace => ({
      awaitAllowance: async () => {
        stop.abort('over')
        return 0
      },
      spend: (keys) => void spent.push(keys),
    })
    const worker = startWorker({ pace })
    await settled()
    expect([worker.asked.length, spent, worker.hasEnded()]).toEqual([0, [0], true])
  })

  it.each([
    ['with its stack', new Error('away'), /^Error: away\n +at /],
    ['without one', Object.assign(new Error('away'), { stack: undefined }), /^away$/],
    ['that is none', Object.setPrototypeOf(new Error('x'), { toString: () => 'away' }) as Error, /^away$/],
  ])('tells of an error %s', async (_what, thrown, text) => {
    const lines: { readonly error: string }[] = []
    const told = {
      ...logger,
      error: (_line: string, fields: object = {}) => void lines.push(fields as { error: string }),
    }
    const queue = { settle: async () => {} } as unknown as WorkQueue
    const run: TurnRunner = async () => {
      throw thrown
    }
    const key = { group: 'g', kind: 'K', namespace: 'n', name: 'w' }
    const delivery = { wakeUp: { key, lane: 'urgent' }, handle: 'h', receiveCount: 1 } as unknown as Delivery
    await processBatch([delivery], { queue, run, logger: told, concurrency: 1 }, new AbortController().signal)
    expect(lines.map(({ error }) => text.test(error))).toEqual([true])
  })
})
