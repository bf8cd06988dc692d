import { expect, it } from 'vitest'
import { createRateBudget } from '../../../../shared/index.ts'
import { createSeenBudgets } from '../../../../shared/reconciler/external/seen-budgets.ts'

const make = () => createRateBudget({ perSecond: 1, burst: 1 })

it('budgets are told in the order in which they were first seen', () => {
  const seen = createSeenBudgets()
  const [one, two] = [make(), make()]
  expect([seen.note(one), seen.note(two), seen.note(one)]).toEqual([one, two, one])
  expect(seen.list()).toEqual([
    { order: 1, budget: one },
    { order: 2, budget: two },
  ])
})

it('a hundred are remembered: the one that was not used for the longest time makes room', () => {
  const seen = createSeenBudgets()
  const all = Array.from({ length: 100 }, make)
  for (const budget of all) seen.note(budget)
  seen.note(all[0] as never)
  expect(seen.list()).toHaveLength(100)
  seen.note(make())
  const left = seen.list()
  expect([left.length, left[0]?.order, left[1]?.order, left.at(-1)?.order]).toEqual([100, 1, 3, 101])
})
