import { expect, it } from 'vitest'
import { parseRetryBudget } from '../../../shared/runtime/retry-setting.ts'

it.each([
  [undefined, { perSecond: 10, burst: 100 }],
  ['', { perSecond: 10, burst: 100 }],
  ['5/20', { perSecond: 5, burst: 20 }],
  ['0.5/1', { perSecond: 0.5, burst: 1 }],
  ['none', undefined],
])('the setting %j is %j', (text, budget) => {
  expect(parseRetryBudget(text)).toEqual(budget)
})

it.each(['10', '10/0', '0/10', '-1/5', '10/5.5', 'a/b', '10/100 '])('refuses %j, by its name', (text) => {
  expect(() => parseRetryBudget(text)).toThrow(/^SETPOINT_RETRY_BUDGET: .*such as 10\/100, or none$/)
})
