import { expect, it } from 'vitest'
import { again, done, retryAfter, stop, waiting, withReport } from '../../../shared/index.ts'
import { OperatingError } from '../../../shared/model/errors.ts'
import { combineReports, reportOf } from '../../../shared/reconciler/outcome.ts'
import { verdictOf } from '../../../shared/reconciler/verdict.ts'

const status = { size: 1 }

it.each([
  [done(), { kind: 'done' }],
  [done<typeof status>({ status, syncedAtMs: 5 }), { kind: 'done', status, syncedAtMs: 5 }],
  [done({ resyncAfter: '1m' }), { kind: 'done', resyncAfterMs: 60_000 }],
  [done({ resyncAfter: 0 }), { kind: 'done', resyncAfterMs: 0 }],
  [again('1m'), { kind: 'again', afterMs: 60_000 }],
  [
    again(5, { ready: waiting('Slow', 'it takes its time') }),
    { kind: 'again', afterMs: 5, ready: { reason: 'Slow', message: 'it takes its time' } },
  ],
])('an outcome is as it was said: %j', (outcome, is) => {
  expect(outcome).toStrictEqual(is)
})

it.each([
  [new Error('slow down'), 'slow down'],
  ['busy', 'busy'],
  [{ status: 429 }, '{"status":429}'],
])('a wait that the far side asked for says why: %s', (cause, message) => {
  expect(retryAfter('15s', cause)).toMatchObject({ name: 'RetryAfterError', afterMs: 15_000, message, cause })
})

it('what stops has its reason, and its cause', () => {
  const cause = new Error('why')
  expect(stop('NameTaken', 'it is taken', { cause })).toMatchObject({
    reason: 'NameTaken',
    message: 'it is taken',
    cause,
  })
})

it('an error says of the object what was put to it, and nothing else does', () => {
  const error = stop('Away', 'away')
  const reported = withReport(error, { retryWithin: '5s' })
  expect(reportOf(reported)).toEqual({ retryWithin: '5s' })
  expect(reportOf('text')).toBeUndefined()
  expect(reportOf({ message: error.message })).toBeUndefined()
  // Many runs may throw the same error: what is said of one object is said of no other.
  expect(reportOf(error)).toBeUndefined()
  expect(reportOf(withReport(error, { retryWithin: '9s' }))).toEqual({ retryWithin: '9s' })
  expect(reportOf(withReport(reported, {}))).toEqual({})
  expect(reportOf(reported)).toEqual({ retryWithin: '5s' })
})

it('an error is given no report whose time is none, and is told all the same', () => {
  const error = new Error('away')
  const report = (): Error => withReport(error, { retryWithin: 'soon' })
  expect(report).toThrow(new TypeError('away; retryWithin is no duration: soon', { cause: error }))
})

it.each([
  ['none', [{}, {}], {}],
  ['the first alone', [{ retryWithin: '5s' }, {}], { retryWithin: 5_000 }],
  ['a later one alone', [{}, { retryWithin: '5s' }], { retryWithin: 5_000 }],
  ['all', [{ retryWithin: '5s' }, { retryWithin: '3s' }, { retryWithin: '9s' }], { retryWithin: 3_000 }],
] as const)('of several reports the shortest time counts where %s has one', (_which, reports, combined) => {
  expect(combineReports(reports)).toStrictEqual(combined)
})

it.each([
  stop('Taken', 'taken', { cause: 'why' }),
  retryAfter('15s', new Error('busy')),
  new OperatingError('TOO_LARGE', 'no room'),
  new AggregateError([new TypeError('no')], 'many'),
  // Its getters ask what they are called on.
  new DOMException('late', 'TimeoutError'),
])('an error with a report reads as it did: %s', (error) => {
  const reported = withReport(error, {})
  expect(reported).toBeInstanceOf(error.constructor)
  expect(reported).toBeInstanceOf(Error)
  expect(String(reported)).toBe(String(error))
  expect(reported.stack).toBe(error.stack)
  expect(Object.entries(reported)).toEqual(Object.entries(error))
  expect({ ...verdictOf(reported), report: undefined }).toEqual({ ...verdictOf(error), report: undefined })
})

it.each<[string, () => unknown]>([
  ['again: not a duration: -5;', () => again(-5)],
  ['again: not a duration: undefined;', () => again(undefined as never)],
  ['done: resyncAfter: not a duration: "soon";', () => done({ resyncAfter: 'soon' })],
  ['retryAfter: not a duration: NaN;', () => retryAfter(Number('x'), 'busy')],
])('a time that is none says whose it is: %s', (why, say) => {
  expect(say).toThrow(why)
  expect(say).toThrow(expect.objectContaining({ code: 'BAD_REQUEST' }))
})
