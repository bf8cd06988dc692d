import { expect, it } from 'vitest'
import { AdmissionBudget, admissionCosts, costOf } from '../../../../shared/model/policy/admission-budget.ts'

const code = (spend: () => void): string | undefined => {
  try {
    spend()
    return undefined
  } catch (error) {
    return (error as { code: string }).code
  }
}

it('a request has 1.3 million steps, over all its tries', () => {
  const budget = new AdmissionBudget()
  budget.begin()
  expect(code(() => budget.spend(1_300_000))).toBeUndefined()
  expect(code(() => budget.refuseIfSpent())).toBeUndefined()
  expect(code(() => budget.spend(1))).toBe('TOO_LARGE')
  expect(code(() => budget.refuseIfSpent())).toBe('TOO_LARGE')
  budget.begin()
  expect(code(() => budget.spend(0))).toBe('VERSION_CONFLICT')
})

it('all webhooks have half a minute from the first question', () => {
  const budget = new AdmissionBudget()
  expect([budget.endFrom(1_000), budget.endFrom(9_000)]).toEqual([31_000, 31_000])
})

it.each([
  [0, 0, 0, 0],
  [1, 1, 1, 1],
  [8, 1, 4, 4],
  [9, 2, 5, 5],
])('%d characters cost %d steps sent, %d received, %d made', (length, sent, received, made) => {
  expect([costOf(length, 'sent'), costOf(length, 'received'), costOf(length, 'made')]).toEqual([sent, received, made])
})

it('a question costs more than a binding, and both have their price', () => {
  expect([admissionCosts.call, admissionCosts.binding]).toEqual([12_000, 500])
})
