import { describe, expect, it } from 'vitest'
import { findDifferences } from '../../../../shared/reconciler/external/differences.ts'
import {
  failureClass,
  MissingReferenceError,
  retryAfterMsOf,
} from '../../../../shared/reconciler/external/failure-class.ts'
import { HttpError, parseRetryAfter } from '../../../../shared/reconciler/external/http-error.ts'

describe('differences', () => {
  it.each([
    { declared: { a: 1 }, observed: { a: 1, b: 2 }, found: [], because: 'what is not declared is not ours' },
    { declared: { a: undefined, b: null }, observed: {}, found: [], because: 'null and absent are the same' },
    {
      declared: { b: { d: 1, c: 2 }, a: 1 },
      observed: { b: { c: 2 } },
      found: ['a', 'b.d'],
      because: 'paths, in order',
    },
    { declared: { l: [1, 2] }, observed: { l: [2, 1] }, found: ['l'], because: 'the order of a list says something' },
    { declared: { s: ['x', 'y'] }, observed: { s: ['y', 'x'] }, found: [], because: 'unless it does not' },
    { declared: { s: ['x'] }, observed: { s: ['x', 'x'] }, found: ['s'], because: 'its length does' },
    { declared: { a: { b: 1 } }, observed: { a: 'text' }, found: ['a.b'], because: 'another type is another value' },
    { declared: { s: ['x'] }, observed: { s: 'x' }, found: ['s'], because: 'a list is no text' },
    { declared: { s: 'x' }, observed: { s: ['x'] }, found: ['s'], because: 'a text is no list' },
    { declared: { a: { s: ['x', 'y'] } }, observed: { a: { s: ['y', 'x'] } }, found: ['a.s'], because: 'by its path' },
    { declared: { a: { b: 1 } }, observed: { a: { b: 1, c: 2 } }, found: [], because: 'nor is what is beside it' },
  ])('$because', ({ declared, observed, found }) => {
    expect(findDifferences(declared, observed, ['s'])).toEqual(found)
  })
})

describe('Retry-After', () => {
  const nowMs = Date.parse('2026-01-01T00:00:00Z')
  it.each([
    ['30', 30_000],
    [' 0 ', 0],
    ['Thu, 01 Jan 2026 00:01:00 GMT', 60_000],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
    ['86400', 86_400_000],
    ['1767225600', 86_400_000],
    ['9'.repeat(400), 86_400_000],
    ['Fri, 01 Jan 2027 00:00:00 GMT', 86_400_000],
    ['soon', undefined],
    ['-5', undefined],
    ['1.5', undefined],
    ['', undefined],
    [null, undefined],
  ])('%s', (header, ms) => {
    expect(parseRetryAfter(header, nowMs)).toBe(ms)
  })
})

describe('what happens next', () => {
  it.each([
    [new HttpError(400, ''), 'terminal'],
    [new HttpError(401, ''), 'terminal'],
    [new HttpError(403, ''), 'terminal'],
    [new HttpError(404, ''), 'absent'],
    [new HttpError(409, ''), 'conflict'],
    [new HttpError(422, ''), 'terminal'],
    [new HttpError(429, ''), 'rateLimited'],
    [new HttpError(399, ''), 'unknown'],
    [new HttpError(499, ''), 'terminal'],
    [new HttpError(410, ''), 'absent'],
    [new HttpError(408, ''), 'unknown'],
    [new HttpError(425, ''), 'unknown'],
    [new HttpError(502, '', { retryAfterMs: 1 }), 'unknown'],
    [new HttpError(500, ''), 'unknown'],
    [new HttpError(503, ''), 'unknown'],
    [new HttpError(503, '', { retryAfterMs: 1 }), 'rateLimited'],
    [new MissingReferenceError(400, ''), 'reference'],
    [new TypeError('fetch failed'), 'unknown'],
    ['thrown text', 'unknown'],
    [undefined, 'unknown'],
    [Object.assign(new Error('of some library'), { status: 404 }), 'unknown'],
  ])('%s: %s', (error, how) => {
    expect(failureClass(error)).toBe(how)
  })

  it('a far side that names no time is asked again after 15 s', () => {
    expect(retryAfterMsOf(new HttpError(429, ''))).toBe(15_000)
    expect(retryAfterMsOf(new HttpError(429, '', { retryAfterMs: 3_000 }))).toBe(3_000)
    expect(retryAfterMsOf(new HttpError(429, '', { retryAfterMs: 0 }))).toBe(1_000)
    for (const retryAfterMs of [Number.NaN, -1])
      expect(retryAfterMsOf(new HttpError(429, '', { retryAfterMs }))).toBe(15_000)
    expect(retryAfterMsOf(new HttpError(429, '', { retryAfterMs: 1e25 }))).toBe(86_400_000)
    expect(retryAfterMsOf(Object.assign(new Error('lost'), { retryAfterMs: 3 }))).toBe(15_000)
  })
})
