import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRateBudget, createRateBudgets } from '../../../../shared/reconciler/external/rate-budget.ts'

describe('a rate budget', () => {
  it('allows its burst, and then its rate', () => {
    const budget = createRateBudget({ perSecond: 2, burst: 3, userShare: 0 })
    const taken = Array.from({ length: 8 }, (_, i) => budget.take('user', i * 250))
    expect(taken.map((wait) => wait === 0)).toEqual([true, true, true, true, true, false, true, false])
  })

  it('keeps a share of the burst from resyncs', () => {
    const budget = createRateBudget({ perSecond: 1, burst: 10, userShare: 0.3 })
    const sync = Array.from({ length: 10 }, () => budget.take('sync', 0)).filter((wait) => wait === 0)
    const user = Array.from({ length: 10 }, () => budget.take('user', 0)).filter((wait) => wait === 0)
    expect([sync.length, user.length]).toEqual([7, 3])
  })

  it('tells those who wait different times', () => {
    const budget = createRateBudget({ perSecond: 10, burst: 1 })
    budget.take('sync', 2_000)
    const waits = Array.from({ length: 5 }, () => budget.take('sync', 2_000))
    expect(waits).toEqual([100, 200, 300, 400, 500])
  })

  it.each([
    { perSecond: 0, burst: 1 },
    { perSecond: Number.NaN, burst: 1 },
    { perSecond: 1, burst: 0.5 },
    { perSecond: 1, burst: 1, userShare: -0.1 },
    { perSecond: 1, burst: 1, userShare: 1 },
  ])('is refused if nothing could ever be called by it: %o', (options) => {
    expect(() => createRateBudget(options)).toThrow('a rate budget needs')
  })

  it('falls by half on a 429, once for those on their way together, and is whole again after a minute', () => {
    const budget = createRateBudget({ perSecond: 16, burst: 1 })
    for (let i = 0; i < 5; i++) budget.noteLimit(5_000, 1_000 + i)
    expect(budget.perSecond(1_000)).toBe(8)
    expect(budget.perSecond(31_000)).toBe(16)
    for (let s = 0; s < 30; s++) budget.noteLimit(0, 100_000 + s * 1_001)
    expect(budget.perSecond(130_000)).toBeLessThan(2)
    expect(budget.perSecond(130_000)).toBeGreaterThan(0.5)
    expect(budget.perSecond(190_000)).toBe(16)
  })

  it('never lets a call through before the time that the far side named, nor more than burst and rate allow', () => {
    const ask = fc.record({
      afterMs: fc.integer({ min: 0, max: 2_000 }),
      lane: fc.constantFrom('user' as const, 'sync' as const),
      limitedForMs: fc.option(fc.integer({ min: 0, max: 20_000 }), { freq: 8, nil: undefined }),
    })
    fc.assert(
      fc.property(fc.array(ask, { maxLength: 200 }), (asks) => {
        const budget = createRateBudget({ perSecond: 2, burst: 5 })
        let nowMs = 0
        let closedUntilMs = 0
        const calls: number[] = []
        for (const { afterMs, lane, limitedForMs } of asks) {
          nowMs += afterMs
          if (limitedForMs !== undefined) {
            budget.noteLimit(nowMs + limitedForMs, nowMs)
            closedUntilMs = Math.max(closedUntilMs, nowMs + limitedForMs)
          }
          const waitMs = budget.take(lane, nowMs)
          if (waitMs > 0) continue
          expect(nowMs).toBeGreaterThanOrEqual(closedUntilMs)
          calls.push(nowMs)
          const within = (ms: number): number => calls.filter((at) => at > nowMs - ms).length
          expect(within(10_000)).toBeLessThanOrEqual(5 + 20)
        }
      }),
    )
  })

  it('is one per account, and old accounts make room', () => {
    const budgets = createRateBudgets({ perSecond: 1, burst: 1 })
    expect(budgets('a')).toBe(budgets('a'))
    expect(budgets('a')).not.toBe(budgets('b'))
    const first = budgets('a')
    for (let i = 0; i < 1_001; i++) budgets(`other ${i}`)
    expect(budgets('a')).not.toBe(first)
  })
})
