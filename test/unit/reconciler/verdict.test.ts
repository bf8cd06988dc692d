import { describe, expect, it } from 'vitest'
import { OperatingError, retryAfter, stop, withReport } from '../../../shared/index.ts'
import { InvariantError, type ErrorCode } from '../../../shared/model/errors.ts'
import { observes, retryWithinMs, verdictOf, type Verdict } from '../../../shared/reconciler/verdict.ts'

const failed = { kind: 'failed', reason: 'ReconcileFailed', quiet: false }
const coded = (code: ErrorCode): OperatingError => new OperatingError(code, 'why')
const round: Record<string, unknown> = {}
round['round'] = round
const bare = Object.assign(Object.create(null) as object, { round })

const unanswered = (cause?: unknown): Error => new TypeError('fetch failed', { cause })
const withMessage = (message: unknown): Error => Object.assign(new Error('away'), { message })

describe('what a run threw', () => {
  it.each<[string, unknown, object]>([
    ['an Error', new Error('away'), { ...failed, message: 'away' }],
    ['an Error without a message', new Error(''), { ...failed, message: 'Error' }],
    ['a fetch without an answer', unanswered({ code: 'ECONNREFUSED' }), { message: 'fetch failed: ECONNREFUSED' }],
    ['a fetch that does not say why', unanswered(), { message: 'fetch failed' }],
    ['a fetch with a code that is none', unanswered({ code: 5 }), { message: 'fetch failed' }],
    ['several errors', new AggregateError([new Error('a'), 'b', new Error('a')]), { ...failed, message: 'a; b' }],
    ['all of several', new AggregateError([new Error('a')], 'All promises were rejected'), { message: 'a' }],
    ['several with a word for all', new AggregateError([new Error('a')], 'none came'), { message: 'none came' }],
    ['several that are none', new AggregateError([]), { message: 'AggregateError' }],
    ['a text', 'away', { ...failed, message: 'away' }],
    ['a number', 5, { ...failed, message: '5' }],
    ['nothing', undefined, { ...failed, message: 'undefined was thrown' }],
    ['null', null, { ...failed, message: 'null was thrown' }],
    ['an object with a message', { message: 'away' }, { ...failed, message: 'away' }],
    ['an object with an empty message', { message: '' }, { ...failed, message: '' }],
    ['an object with a message that is none', { message: 5 }, { ...failed, message: '{"message":5}' }],
    ['an object', { a: 1 }, { ...failed, message: '{"a":1}' }],
    ['an object that is no JSON', round, { ...failed, message: '[object Object]' }],
    ['an object that has no text either', bare, { ...failed, message: '[object Object]' }],
    ['an object with no JSON of its own', { toJSON: () => {} }, { ...failed, message: '[object Object]' }],
    ['an Error with another message than a text', withMessage({ a: 1 }), { ...failed, message: '{"a":1}' }],
    ['an Error whose message is null', withMessage(null), { ...failed, message: 'null' }],
    ['what says its reason', Object.assign(new Error('x'), { reason: 'Broken1' }), { ...failed, reason: 'Broken1' }],
    ['what says a reason that is none', Object.assign(new Error('x'), { reason: 'not so' }), failed],
    ['what says no text for a reason', Object.assign(new Error('x'), { reason: 5 }), failed],
    ['what stops', stop('NameTaken', 'taken'), { kind: 'stopped', reason: 'NameTaken', message: 'taken' }],
    ['what waits', retryAfter('5s', 'busy'), { kind: 'retryAfter', afterMs: 5_000, message: 'busy' }],
    ['INVALID', coded('INVALID'), { kind: 'stopped', reason: 'Refused', message: 'why' }],
    ['BAD_REQUEST', coded('BAD_REQUEST'), { kind: 'stopped', reason: 'Refused' }],
    ['TOO_LARGE', coded('TOO_LARGE'), { kind: 'stopped', reason: 'Refused' }],
    ['VERSION_CONFLICT', coded('VERSION_CONFLICT'), { kind: 'failed', reason: 'Conflict', quiet: true }],
    ['UNAVAILABLE', coded('UNAVAILABLE'), failed],
    ['FORBIDDEN', coded('FORBIDDEN'), failed],
  ])('%s', (_what, error, verdict) => {
    expect(verdictOf(error)).toMatchObject(verdict)
    expect(verdictOf(error)).not.toHaveProperty('report')
  })

  it.each<readonly [unknown, boolean]>([
    [new TypeError('slip'), true],
    [new ReferenceError('slip'), true],
    [new RangeError('slip'), true],
    [new Error('meant'), false],
    [Object.assign(new TypeError('slip'), { stack: undefined }), false],
    ['text', false],
  ])('is shown where it was made if it is a slip: %s', (error, is) => {
    expect('stack' in verdictOf(error)).toBe(is)
  })

  it.each([
    [4_096, 4_096],
    [4_097, 4_097],
    [10_000, 4_097],
  ])('is cut if it is long: of %d letters %d are left', (length, left) => {
    const { message } = verdictOf('x'.repeat(length)) as { readonly message: string }
    expect(message).toHaveLength(left)
    expect(message.endsWith('…')).toBe(length > 4_096)
  })

  it('says nothing that is to be hidden, cut or not', () => {
    const conceal = (text: string): string => text.replaceAll('secret', '***')
    expect(verdictOf(new Error('a secret'), conceal)).toMatchObject({ message: 'a ***' })
    const long = verdictOf(`${'x'.repeat(4_093)}secret`, conceal) as { readonly message: string }
    expect(long.message).toBe(`${'x'.repeat(4_093)}***`)
  })

  it('says of the object what was put to it', () => {
    const error = withReport(new Error('away'), { retryWithin: '5s' })
    expect(verdictOf(error)).toMatchObject({ ...failed, report: { retryWithin: '5s' } })
  })

  it('is thrown on if it is a broken invariant', () => {
    const broken = new InvariantError('impossible')
    expect(() => verdictOf(broken)).toThrow(broken)
  })
})

it.each([
  ['none', undefined, Infinity],
  ['a report without a time', {}, Infinity],
  ['a report with one', { retryWithin: '5s' }, 5_000],
])('a failure with %s is tried again in time', (_what, report, ms) => {
  expect(retryWithinMs({ kind: 'stopped', reason: 'Away', message: 'away', ...(report && { report }) })).toBe(ms)
})

it.each([
  ['done', true],
  ['again', true],
  ['stopped', true],
  ['failed', false],
  ['retryAfter', false],
])('a run that ended with %s has seen the desired state through: %j', (kind, is) => {
  expect(observes({ kind } as Verdict)).toBe(is)
})
