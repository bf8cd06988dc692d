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
    { perSecond: Infinity, burst: 1 },
    { perSecond: 1, burst: Infinity },
    { perSecond: 1, burst: 1, userShare: -0.1 },
    { perSecond: 1, burst: 1, userShare: 1 },
  ])('is refused if nothing could ever be called by it: %o', (options) => {
    expect(() => createRateBudget(options)).toThrow('a rate budget needs')
  })

  it.each([
    { perSecond: 1, burst: 1 },
    { perSecond: 0.1, burst: 1, userShare: 0 },
    { perSecond: 1, burst: 1, userShare: 0.99 },
  ])('may be as small as that: %o', (options) => {
    expect(createRateBudget(options).take('user', 0)).toBe(0)
  })

  it('says how it stands, and counts what was taken and what came since', () => {
    const budget = createRateBudget({ perSecond: 2, burst: 3 })
    expect(budget.read?.(1_000)).toEqual({ perSecond: 2, burst: 3, left: 3 })
    for (let i = 0; i < 3; i++) budget.take('user', 1_000)
    expect(budget.read?.(1_000)).toEqual({ perSecond: 2, burst: 3, left: 0 })
    expect([budget.read?.(1_499)?.left, budget.read?.(1_500)?.left, budget.read?.(9_000)?.left]).toEqual([0, 1, 3])
    // A clock that was put back fills nothing, and takes nothing away.
    expect(budget.read?.(2_000)?.left).toBe(3)
  })

  it('goes on by a clock that was ahead for a moment and is put back', () => {
    const aheadMs = 3_600_000
    const budget = createRateBudget({ perSecond: 2, burst: 1, userShare: 0 })
    expect(budget.take('user', aheadMs)).toBe(0)
    expect(budget.take('user', aheadMs)).toBe(500)
    // The time that was given away stays given away, and the next call comes a moment later.
    expect(budget.take('user', 1_000)).toBe(1_000)
    expect(budget.take('user', 1_500)).toBe(0)

    budget.noteLimit(aheadMs + 2_000, aheadMs)
    expect(budget.read?.(5_000)).toMatchObject({ closedUntilMs: 7_000 })
    expect(budget.perSecond(5_000)).toBe(1)
    expect(budget.perSecond(65_000)).toBe(2)
    expect(budget.take('user', 10_000)).toBe(0)
  })

  it('after a 429 has nothing left, half its burst and half its rate, and both grow back', () => {
    const budget = createRateBudget({ perSecond: 4, burst: 8 })
    budget.noteLimit(3_000, 1_000)
    expect(budget.read?.(1_000)).toEqual({ perSecond: 2, burst: 4, left: 0, closedUntilMs: 3_000 })
    expect(budget.read?.(2_999)).toMatchObject({ closedUntilMs: 3_000 })
    expect(budget.read?.(3_000)).not.toHaveProperty('closedUntilMs')
    expect(budget.read?.(16_000)).toEqual({ perSecond: 3, burst: 6, left: 6 })
    expect(budget.read?.(31_000)).toEqual({ perSecond: 4, burst: 8, left: 8 })
  })

  it('falls again by a 429 a second later, and not sooner', () => {
    const budget = createRateBudget({ perSecond: 16, burst: 1 })
    budget.noteLimit(0, 1_000)
    budget.noteLimit(0, 1_999)
    expect(budget.perSecond(1_000)).toBe(8)
    budget.noteLimit(0, 2_000)
    expect(budget.perSecond(2_000)).toBeCloseTo((8 + 16 / 60) / 2)
  })

  it('falls to a thirty-second at the least', () => {
    const budget = createRateBudget({ perSecond: 32, burst: 1 })
    for (let s = 1; s <= 100; s++) budget.noteLimit(0, s * 1_000)
    expect(budget.perSecond(100_000)).toBeGreaterThanOrEqual(1)
    expect(budget.perSecond(100_000)).toBeLessThan(1.2)
    const slow = createRateBudget({ perSecond: 0.032, burst: 1 })
    for (let s = 1; s <= 20; s++) slow.noteLimit(0, s * 1_000)
    expect(slow.perSecond(20_000)).toBeGreaterThanOrEqual(0.001)
    expect(slow.perSecond(20_000)).toBeLessThan(0.002)
  })

  it('keeps no sooner time than one that was named before', () => {
    const budget = createRateBudget({ perSecond: 1_000, burst: 1 })
    budget.noteLimit(9_000, 1_000)
    budget.noteLimit(5_000, 1_000)
    expect(budget.take('user', 8_999)).toBeGreaterThan(0)
    expect(budget.take('user', 9_000)).toBe(0)
  })

  it.each([
    ['what is missing', 1_000, 0, 500],
    ['the time that was named, and what is missing', 1_000, 1_000, 2_000],
  ])('has those wait who ask too soon: %s', (_what, nowMs, closedMs, waitMs) => {
    const budget = createRateBudget({ perSecond: 2, burst: 1, userShare: 0 })
    if (closedMs > 0) budget.noteLimit(nowMs + closedMs, nowMs)
    else budget.take('user', nowMs)
    expect(budget.take('user', nowMs)).toBe(waitMs)
  })

  it('has nobody wait for longer than it takes, though that is a millisecond', () => {
    const budget = createRateBudget({ perSecond: 1_000, burst: 1, userShare: 0 })
    expect([0, 0, 0].map((nowMs) => budget.take('user', nowMs))).toEqual([0, 1, 2])
  })

  it('keeps a time of its own for each lane', () => {
    const budget = createRateBudget({ perSecond: 10, burst: 1, userShare: 0 })
    budget.take('user', 1_000)
    expect((['sync', 'sync', 'user', 'user'] as const).map((lane) => budget.take(lane, 1_000))).toEqual([
      100, 200, 100, 200,
    ])
  })

  it.each([
    ['user', 10],
    ['sync', 8],
  ] as const)('lets all processes of an account take together of the lane of %ss: %d at once', (lane, burst) => {
    const budget = createRateBudget({ perSecond: 5, burst: 10, userShare: 0.2 }, 'a')
    expect(budget.counted?.rateOf(lane)).toEqual({ perSecond: 5, burst })
    expect(budget.counted?.account).toBe('a')
    expect(createRateBudget({ perSecond: 5, burst: 1 }, 'a').counted?.rateOf(lane).burst).toBe(1)
    expect(createRateBudget({ perSecond: 5, burst: 1 })).not.toHaveProperty('counted')
  })

  it('keeps a fifth of its burst for users, unless it was told otherwise', () => {
    const budget = createRateBudget({ perSecond: 1, burst: 10 })
    const takes = Array.from({ length: 10 }, () => budget.take('sync', 0)).filter((wait) => wait === 0)
    expect(takes).toHaveLength(8)
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
    for (let i = 0; i < 999; i++) budgets(`other ${i}`)
    expect(budgets('a')).toBe(first)
    for (let i = 0; i < 1_000; i++) budgets(`another ${i}`)
    expect(budgets('a')).not.toBe(first)
  })
})
