import { describe, expect, it } from 'vitest'
import {
  createRetryBudget,
  createSharedRetryBudget,
  reserveRetry,
} from '../../../../shared/engine/limits/retry-budget.ts'
import { createTokenBucket } from '../../../../shared/engine/limits/token-bucket.ts'
import { OperatingError } from '../../../../shared/model/errors.ts'
import type { EngineState } from '../../../../shared/model/engine-state.ts'
import type { Verdict } from '../../../../shared/reconciler/verdict.ts'
import { createVirtualClock } from '../../../support/virtual-clock.ts'

const clock = createVirtualClock(1_000_000)
const failure = { attempt: 1, error: 'no luck' }
const retryAt = (atMs: number, generation = 1): EngineState => ({
  wait: { kind: 'Backoff', generation, atMs, failure },
})

describe('a retry', () => {
  const failed: Verdict = { kind: 'failed', reason: 'R', message: 'no luck', quiet: false }
  const stopped: Verdict = { kind: 'stopped', reason: 'R', message: 'taken' }
  const within = (verdict: Verdict): Verdict => ({ ...verdict, report: { retryWithin: '30s' } }) as Verdict
  const stoppedUntil = (atMs: number): EngineState => ({ wait: { kind: 'Stopped', generation: 1, atMs, failure } })
  const putOff = (retryAtMs?: number): EngineState => ({
    wait: { kind: 'RateLimited', generation: 1, atMs: 1_000_000, failure, ...(retryAtMs && { retryAtMs }) },
  })

  interface Row {
    readonly what: string
    readonly engine: EngineState
    readonly verdict?: Verdict
    readonly taken: number
  }
  const rows: readonly Row[] = [
    { what: 'after the first failure', engine: {}, taken: 1 },
    { what: 'after a retry that was due', engine: retryAt(1_000_000), taken: 1 },
    { what: 'of an object that has one ahead', engine: retryAt(1_000_001), taken: 0 },
    { what: 'of an object that has one ahead for an older generation', engine: retryAt(1_000_001, 0), taken: 0 },
    {
      what: 'after a run that had asked for a timer',
      engine: { wait: { kind: 'Requeue', generation: 1, atMs: 2_000_000 } },
      taken: 1,
    },
    {
      what: 'after a wait that the far side asked for',
      engine: { wait: { kind: 'RetryAfter', generation: 1, atMs: 2_000_000, failure } },
      taken: 1,
    },
    { what: 'of an object that a limit has put off, and has one ahead,', engine: putOff(1_000_001), taken: 0 },
    { what: 'of an object that a limit has put off until it was due', engine: putOff(1_000_000), taken: 1 },
    { what: 'of an object that a limit has put off, and has none,', engine: putOff(), taken: 1 },
    { what: 'of an object whose retry a clock that was ahead has set', engine: retryAt(87_400_001), taken: 1 },
    { what: 'that is to come sooner', engine: retryAt(1_030_001), verdict: within(failed), taken: 1 },
    { what: 'that comes soon enough', engine: retryAt(1_030_000), verdict: within(failed), taken: 0 },
    { what: 'of one that stopped and is to be tried again', engine: {}, verdict: within(stopped), taken: 1 },
    { what: 'of one that waits for such a try', engine: stoppedUntil(1_030_000), verdict: within(stopped), taken: 0 },
    { what: 'of one that stopped for good, which has none,', engine: {}, verdict: stopped, taken: 0 },
    { what: 'of one that went well, which has none,', engine: {}, verdict: { kind: 'done' }, taken: 0 },
    {
      what: 'whose time the far side tells',
      engine: {},
      verdict: { kind: 'retryAfter', afterMs: 1, message: '429' },
      taken: 0,
    },
  ]
  it.each(rows)('$what takes $taken of the budget', async ({ engine, verdict = failed, taken }) => {
    let reserved = 0
    const wait = await reserveRetry({ clock, retryBudget: () => ++reserved }, engine, verdict)
    expect([reserved, wait]).toEqual([taken, taken === 1 ? 1 : undefined])
  })

  it('is free without a budget', async () => {
    expect(await reserveRetry({ clock }, {}, failed)).toBeUndefined()
  })
})

describe('a budget', () => {
  it('gives its burst at once, and then one after the other', () => {
    const budget = createRetryBudget(createTokenBucket({ perSecond: 10, burst: 3 }))
    expect(Array.from({ length: 6 }, () => budget(0))).toEqual([0, 0, 0, 100, 200, 300])
  })

  it('of many processes is one line of reservations', async () => {
    const lines: unknown[] = []
    const budget = createSharedRetryBudget({ perSecond: 10, burst: 3 }, async (...asked) => {
      lines.push(asked)
      return [1_250]
    })
    expect(await budget(1_000)).toBe(250)
    expect(await budget(1_300)).toBe(0)
    expect(lines[0]).toEqual(['all retries', 1, { perSecond: 10, burst: 3 }])
  })

  it('that cannot be asked leaves the wait to the backoff', async () => {
    const away = async (): Promise<never> => {
      throw new OperatingError('THROTTLED', 'slow down')
    }
    expect(await createSharedRetryBudget({ perSecond: 10, burst: 3 }, away)(1_000)).toBe(0)
    const broken = async (): Promise<never> => {
      throw new RangeError('a bug')
    }
    await expect(createSharedRetryBudget({ perSecond: 10, burst: 3 }, broken)(1_000)).rejects.toThrow('a bug')
  })
})
