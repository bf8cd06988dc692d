import { afterEach, describe, expect, it } from 'vitest'
import {
  again,
  attempts,
  defineReconciler,
  done,
  retryAfter,
  stop,
  type Context,
  type FailedAttempt,
  type Outcome,
  type ReconcilerOptions,
  type StatusOf,
} from '../../shared/index.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'
import { Widget } from './support/primary.ts'

/**
 * What the linked pages promise around a reconciler: error handlers, retries that end, rate limits, the longest
 * interval.
 */

let env: TestEnv
afterEach(() => env.close())

type Status = StatusOf<Widget>
type OnError = (failure: FailedAttempt<Widget>) => Promise<Outcome<Status> | void>

async function start(options: Omit<ReconcilerOptions<Widget>, 'onRemoved'>, tickMs = 5_000): Promise<void> {
  env = await createTestEnv({ reconcilers: [defineReconciler(Widget, options)], tickMs })
  await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
  await env.settle()
}

const statusOf = async () => (await env.get(Widget, 'w'))?.status
let touches = 0
const touch = (name = 'w') => env.patch(Widget, name, { metadata: { annotations: { touched: String(++touches) } } })

/** Runs that all fail, in milliseconds from the first, and what the handler was told. */
async function failing({ max, onError = async () => {} }: { readonly max?: number; readonly onError?: OnError } = {}) {
  const timesMs: number[] = []
  const told: { readonly attempt: number; readonly isLast: boolean }[] = []
  await start({
    reconcile: attempts<Widget, Status>(
      {
        ...(max !== undefined && { max }),
        onError: async (failure) => {
          told.push({ attempt: failure.ctx.attempt, isLast: failure.ctx.isLastAttempt })
          return onError(failure)
        },
      },
      async (_, ctx) => {
        timesMs.push(ctx.now())
        throw new Error('no luck')
      },
    ),
  })
  return { timesMs, told }
}

describe('an error handler', () => {
  it('J42 is told of every failed attempt, the first of which is attempt 0', async () => {
    const { timesMs, told } = await failing()
    await env.advance('10s')
    expect(told.map(({ attempt }) => attempt)).toEqual(timesMs.map((_, i) => i))
    expect(told.length).toBeGreaterThan(3)
  })

  it('J42 may write a status of its own, and the retries go on', async () => {
    const { timesMs } = await failing({
      onError: async ({ ctx, error }) => {
        const message = `${ctx.attempt}: ${(error as Error).message}`
        await ctx.patch(Widget, 'w', { status: { message } }, { subresource: 'status' })
      },
    })
    await env.advance('1s')
    expect(await statusOf()).toMatchObject({ message: '1: no luck', reconcile: { waiting: 'Backoff', attempt: 2 } })
    expect(timesMs).toHaveLength(2)
  })

  it('J42 ends the retries by stop', async () => {
    const { timesMs } = await failing({
      onError: async ({ error }) => {
        throw stop('GivenUp', 'no use', { cause: error })
      },
    })
    await env.advance('1h')
    expect(timesMs).toHaveLength(1)
    expect(await statusOf()).toMatchObject({
      reconcile: { waiting: 'Stopped' },
      conditions: [{ reason: 'GivenUp' }, {}],
    })
  })

  it('J42 sets a time of its own by again, in the place of the backoff', async () => {
    const { timesMs } = await failing({ onError: async () => again('20s', { status: { phase: 'Failed' } }) })
    await env.advance('1m')
    expect(timesMs.map((ms) => ms - (timesMs[0] ?? 0))).toEqual([0, 20_000, 40_000, 60_000])
    expect(await statusOf()).toMatchObject({ phase: 'Failed' })
  })

  it('J42 is not told of what is no failure', async () => {
    let told = 0
    let runs = 0
    await start({
      reconcile: attempts<Widget, Status>({ max: 1, onError: async () => void told++ }, async () => {
        if (++runs < 3) throw retryAfter('5s', 'busy')
        return done()
      }),
    })
    await env.advance('1m')
    expect([told, runs]).toEqual([0, 3])
  })
})

describe('the last attempt', () => {
  it('J43 is told to be the last', async () => {
    const { told } = await failing({ max: 3 })
    await env.advance('1h')
    expect(told).toEqual([
      { attempt: 0, isLast: false },
      { attempt: 1, isLast: false },
      { attempt: 2, isLast: true },
    ])
    expect(await statusOf()).toMatchObject({
      reconcile: { waiting: 'Stopped' },
      conditions: [{ type: 'Ready', reason: 'RetriesExhausted', message: 'no luck' }, { type: 'Stalled' }],
    })
  })

  it('J43 there is none to have if none is allowed', () => {
    expect(() => attempts({ max: 0 }, async () => done())).toThrow(TypeError)
  })

  it('J44 after it, a new event still runs the object, with a full number of attempts', async () => {
    const { told } = await failing({ max: 2 })
    await env.advance('1h')
    expect(told).toHaveLength(2)
    await touch()
    await env.advance('1h')
    expect(told.slice(2).map(({ attempt }) => attempt)).toEqual([0, 1])
  })

  it('J44 after it, the resync runs the object too: nothing is forgotten', async () => {
    const { told } = await failing({ max: 1 })
    await env.advance('10h')
    expect(told).toHaveLength(2)
  })
})

describe('a rate limit', () => {
  it('J45 of two in three seconds postpones the third, drops nothing, and leaves others alone', async () => {
    const runs: { readonly name: string; readonly atMs: number; readonly touched: string | undefined }[] = []
    await start({
      rateLimit: { object: { runs: 2, within: '3s' } },
      reconcile: async ({ metadata }, ctx) => {
        runs.push({ name: metadata.name, atMs: ctx.now(), touched: metadata.annotations?.['touched'] })
        return done()
      },
    })
    const startMs = env.nowMs()
    for (let i = 0; i < 4; i++) {
      await touch()
      await env.settle()
    }
    await env.apply(Widget, { metadata: { name: 'other' }, spec: {} })
    await env.settle()
    expect(runs.map(({ name }) => name)).toEqual(['w', 'w', 'other'])
    expect(await statusOf()).toMatchObject({ reconcile: { waiting: 'RateLimited' } })
    await env.advance('1m')
    const own = runs.filter(({ name }) => name === 'w')
    expect(own.map(({ atMs }) => atMs - startMs)).toEqual([0, 0, 3_000])
    expect(own.at(-1)?.touched).toBe(String(touches))
  })
})

describe('the interval', () => {
  it('J46 between two runs is ten hours at most, however the last one ended', async () => {
    const ends: readonly (() => Promise<Outcome<Status>>)[] = [
      async () => done(),
      async () => again('30h'),
      async () => {
        throw stop('Broken', 'nothing helps')
      },
    ]
    for (const end of ends) {
      const timesMs: number[] = []
      const reconcile = async (_: Widget, ctx: Context): Promise<Outcome<Status>> => {
        timesMs.push(ctx.now())
        return end()
      }
      // Ticks that are rare make up for what they missed.
      await start({ reconcile }, 300_000)
      await env.advance('31h')
      const gaps = timesMs.slice(1).map((ms, i) => ms - (timesMs[i] ?? 0))
      expect(gaps.length).toBeGreaterThanOrEqual(3)
      expect(Math.max(...gaps)).toBeLessThanOrEqual(10 * 3_600_000 + 10_000)
      await env.close()
    }
    env = await createTestEnv()
  })

  it('J47 of again is "at the latest": an earlier run that succeeds replaces it', async () => {
    const timesMs: number[] = []
    await start({
      reconcile: async (_, ctx) => {
        timesMs.push(ctx.now())
        return timesMs.length === 1 ? again('30s') : done()
      },
    })
    await env.advance('10s')
    await touch()
    await env.advance('9h')
    const startMs = timesMs[0] ?? 0
    expect(timesMs.map((ms) => ms - startMs).filter((ms) => ms < 60_000)).toEqual([0, 10_000])
  })

  it('J47 an earlier run that asks again begins the time anew', async () => {
    const timesMs: number[] = []
    await start({
      reconcile: async (_, ctx) => {
        timesMs.push(ctx.now())
        return again('30s')
      },
    })
    await env.advance('10s')
    await touch()
    await env.advance('31s')
    expect(timesMs.map((ms) => ms - (timesMs[0] ?? 0))).toEqual([0, 10_000, 40_000])
  })
})
