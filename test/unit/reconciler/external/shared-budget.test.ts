import type { Outside } from '../../../../shared/reconciler/context.ts'
import { describe, expect, it } from 'vitest'
import { OperatingError } from '../../../../shared/model/errors.ts'
import type { Allowances } from '../../../../shared/ports/allowances.ts'
import { CallFailed, createCalls, RateLimited, type Calls } from '../../../../shared/reconciler/external/calls.ts'
import { HttpError } from '../../../../shared/reconciler/external/http-error.ts'
import {
  createRateBudget,
  createRateBudgets,
  type BudgetLane,
} from '../../../../shared/reconciler/external/rate-budget.ts'
import { spacingUsOf } from '../../../../shared/model/reservations.ts'

let nowMs = 0

/** As test/contract/allowances.contract.ts says, in memory. */
function createAllowances(): Allowances {
  const ends = new Map<string, number>()
  return {
    take: async (account, rate) => {
      const spacingMs = spacingUsOf(rate) / 1_000
      const waitMs = (ends.get(account) ?? 0) - nowMs - (rate.burst - 1) * spacingMs
      if (waitMs > 0) return Math.ceil(waitMs)
      ends.set(account, Math.max(nowMs, ends.get(account) ?? 0) + spacingMs)
      return 0
    },
    close: async (account, rate, untilMs) =>
      void ends.set(account, untilMs + ((rate.burst - 1) * spacingUsOf(rate)) / 1_000),
  }
}

/** A process with budgets of its own; what is asked for goes to one account. */
function createProcess(allowances: Allowances, lane: BudgetLane = 'user', account = 'account'): Calls {
  const outside = { recordCall: () => {}, allowances } as unknown as Outside
  const budget = createRateBudgets({ perSecond: 10, burst: 10, userShare: 0.2 })(account)
  return createCalls({ ctx: { now: () => nowMs, outside }, budget, lane: () => lane })
}

async function waitOf(calls: Calls, call = async (): Promise<unknown> => 'answer'): Promise<number> {
  try {
    await calls.make('get', call)
    return 0
  } catch (error) {
    if (error instanceof RateLimited) return error.afterMs
    throw error
  }
}

async function waitsOf(calls: Calls, count: number): Promise<readonly number[]> {
  const waits: number[] = []
  for (let i = 0; i < count; i++) waits.push(await waitOf(calls))
  return waits
}

describe('a budget that processes share', () => {
  it('K29 after a 429 to one process no other calls the account before its time', async () => {
    nowMs = 1_000
    const allowances = createAllowances()
    const [one, other] = [createProcess(allowances), createProcess(allowances)]
    const refuse = async (): Promise<never> => {
      throw new HttpError(429, 'slow down', { retryAfterMs: 30_000 })
    }
    expect(await waitOf(one, refuse)).toBe(30_000)
    expect(await waitOf(other)).toBe(30_000)
    expect(await waitOf(createProcess(allowances, 'user', 'another'))).toBe(0)
    nowMs += 29_999
    expect(await waitOf(createProcess(allowances))).toBeGreaterThan(0)
    nowMs += 1
    expect(await waitOf(createProcess(allowances))).toBe(0)
  })

  it('K29 a process that has just begun does not even ask a closed account where it is', async () => {
    nowMs = 1_000
    const allowances = createAllowances()
    const [one, other] = [createProcess(allowances), createProcess(allowances)]
    const asked: string[] = []
    const askPlace = async (calls: Calls, name: string): Promise<void> => {
      const place = async (): Promise<number> => asked.push(name)
      await calls.make('get', place, { kept: true }).catch(() => asked.push(`${name} waits`))
    }
    await askPlace(one, 'one')
    await waitOf(one, () => Promise.reject(new HttpError(429, 'slow down', { retryAfterMs: 30_000 })))
    await askPlace(other, 'other')
    // It knows the answer, and calls nobody.
    await askPlace(one, 'one')
    expect(asked).toEqual(['one', 'other waits', 'one'])
  })

  it('K29 all of them together call no more than the account allows', async () => {
    nowMs = 1_000
    const allowances = createAllowances()
    const waits = (await Promise.all([1, 2, 3].map(() => waitsOf(createProcess(allowances), 8)))).flat()
    expect(waits.filter((wait) => wait === 0)).toHaveLength(10)
  })

  it('K29 D26 resyncs leave a share to users, and those who wait come one after the other', async () => {
    nowMs = 1_000
    const allowances = createAllowances()
    const syncs = await waitsOf(createProcess(allowances, 'sync'), 8)
    expect(syncs.filter((wait) => wait === 0)).toHaveLength(8)
    const more = await waitsOf(createProcess(allowances, 'sync'), 3)
    expect(more).toEqual([100, 200, 300])
    expect(await waitsOf(createProcess(allowances), 3)).toEqual([0, 0, 100])
  })

  it('is not called while nobody can say whether it is closed', async () => {
    nowMs = 1_000
    const away = (): Promise<never> => Promise.reject(new OperatingError('UNAVAILABLE', 'the table is away'))
    expect(await waitOf(createProcess({ take: away, close: away }))).toBe(1_000)
  })

  it('says of its own bugs what they are', async () => {
    const broken = (): Promise<never> => Promise.reject(new TypeError('a bug'))
    const failure = waitOf(createProcess({ take: broken, close: broken }))
    await expect(failure).rejects.toThrow('a bug')
    await expect(failure).rejects.not.toBeInstanceOf(CallFailed)
  })
})

describe('one call of a budget', () => {
  const rates = { perSecond: 10, burst: 1, userShare: 0 }
  const refuse = (): Promise<never> => Promise.reject(new HttpError(429, 'slow down', { retryAfterMs: 30_000 }))

  /** Who was asked, of a process with this budget. */
  function ask(account?: string, close: Allowances['close'] = async () => {}, perSecond = 10) {
    const asked: string[] = []
    const allowances: Allowances = {
      take: async () => {
        asked.push('take')
        return 0
      },
      close: async (...given) => {
        asked.push('close')
        return close(...given)
      },
    }
    const outside = { recordCall: () => {}, allowances } as unknown as Outside
    const budget = createRateBudget({ ...rates, perSecond }, account)
    return { asked, calls: createCalls({ ctx: { now: () => nowMs, outside }, budget, lane: () => 'user' as const }) }
  }

  it('asks all processes only if this one allows it', async () => {
    nowMs = 1_000
    const { asked, calls } = ask('a')
    expect([await waitOf(calls), await waitOf(calls)]).toEqual([0, 100])
    expect(asked).toEqual(['take'])
    nowMs += 99
    expect(await waitOf(calls)).toBe(101)
    expect(asked).toEqual(['take'])
  })

  it('asks nobody else, though the wait is a millisecond', async () => {
    nowMs = 1_000
    const { asked, calls } = ask('a', async () => {}, 1_000)
    expect([await waitOf(calls), await waitOf(calls)]).toEqual([0, 1])
    expect(asked).toEqual(['take'])
  })

  it('without an account is counted here alone', async () => {
    nowMs = 1_000
    const { asked, calls } = ask()
    expect([await waitOf(calls), await waitOf(calls)]).toEqual([0, 100])
    nowMs += 1_000
    expect(await waitOf(calls, refuse)).toBe(30_000)
    expect(asked).toEqual([])
  })

  it('that is refused closes the account for all, if they can be told', async () => {
    nowMs = 1_000
    const away = ask('a', () => Promise.reject(new OperatingError('UNAVAILABLE', 'the table is away')))
    expect(await waitOf(away.calls, refuse)).toBe(30_000)
    expect(away.asked).toEqual(['take', 'close'])
    nowMs += 30_000
    const broken = ask('a', () => Promise.reject(new TypeError('a bug')))
    await expect(waitOf(broken.calls, refuse)).rejects.toThrow('a bug')
  })
})
