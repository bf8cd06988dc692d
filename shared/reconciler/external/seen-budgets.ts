import type { RateBudget } from './rate-budget.ts'

/** A budget that a run of this process has called by, in the order in which they came. */
export interface SeenBudget {
  readonly order: number
  readonly budget: RateBudget
}

export interface SeenBudgets {
  note(budget: RateBudget): RateBudget
  list(): readonly SeenBudget[]
}

/** So many are remembered: those of accounts that were left long ago make room. */
const budgetsMax = 100

/** Remembers which budgets runs have used, for people. */
export function createSeenBudgets(): SeenBudgets {
  const seen = new Map<RateBudget, number>()
  let last = 0
  return {
    note: (budget) => {
      const order = seen.get(budget) ?? ++last
      // The one used last stands last.
      seen.delete(budget)
      seen.set(budget, order)
      const [oldest] = seen.keys()
      if (seen.size > budgetsMax && oldest !== undefined) seen.delete(oldest)
      return budget
    },
    list: () => [...seen].map(([budget, order]) => ({ order, budget })).toSorted((a, b) => a.order - b.order),
  }
}
