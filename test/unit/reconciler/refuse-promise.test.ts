import { expect, it } from 'vitest'
import { refusePromise } from '../../../shared/reconciler/refuse-promise.ts'

it.each<[string, unknown]>([
  ['nothing', undefined],
  ['null', null],
  ['a text', 'then'],
  ['an object', {}],
  ['an object with another then', JSON.parse('{"then":5}')],
  ['a function', () => {}],
])('%s is no promise', (_what, given) => {
  expect(() => refusePromise(given, 'it tells')).not.toThrow()
})

it.each([
  ['kept', () => Promise.resolve(1)],
  ['broken', () => Promise.reject(new Error('away'))],
])('a promise that is %s is refused by the rule', (_what, give) => {
  expect(() => refusePromise(give(), 'it tells')).toThrow(new TypeError('it tells, and not as a promise'))
})
