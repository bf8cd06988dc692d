import { describe, expect, it } from 'vitest'
import {
  errorFields,
  failure,
  failureStatus,
  isOurs,
  noSuchResource,
  noSuchSubresource,
  notThere,
  toOperatingError,
} from '../../../shared/api/failure.ts'
import { OperatingError, type ErrorCode, type ErrorDetails } from '../../../shared/model/errors.ts'
import type { JsonObject } from '../../../shared/model/json.ts'
import { plainKind } from './called.ts'

const errorOf = (code: ErrorCode, details: ErrorDetails = {}) => new OperatingError(code, 'why', { details })
const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message: 'why' }

describe('the Status of a failure', () => {
  it.each<[ErrorCode, ErrorDetails, JsonObject]>([
    ['NOT_FOUND', {}, { reason: 'NotFound', details: {}, code: 404 }],
    ['NOT_FOUND', { name: 'a' }, { reason: 'NotFound', details: { name: 'a' }, code: 404 }],
    ['THROTTLED', {}, { reason: 'TooManyRequests', details: { retryAfterSeconds: 1 }, code: 429 }],
    ['UNAVAILABLE', {}, { reason: 'ServiceUnavailable', details: { retryAfterSeconds: 1 }, code: 503 }],
    ['UNAVAILABLE', { retryAfterSeconds: 5 }, { details: { retryAfterSeconds: 5 }, code: 503 }],
    ['FORBIDDEN', { answer: { status: 418, reason: 'Teapot' } }, { reason: 'Teapot', details: {}, code: 418 }],
    [
      'INVALID',
      { causes: [{ reason: 'R', message: 'm', field: 'f' }] },
      { details: { causes: [{ reason: 'R', message: 'm', field: 'f' }] }, code: 422 },
    ],
    ['INVALID', { causes: [{ reason: '', message: 'm' }] }, { details: { causes: [{ message: 'm' }] }, code: 422 }],
  ])('%s with %j', (code, details, parts) => {
    const { reason, ...rest } = failureStatus(errorOf(code, details))
    expect({ reason, ...rest }).toMatchObject({ ...status, ...parts })
    expect(rest['details']).toStrictEqual(parts['details'])
  })

  it('has no reason where there is none', () => {
    expect(failureStatus(errorOf('FORBIDDEN', { answer: { status: 403, reason: '' } }))).toStrictEqual({
      ...status,
      details: {},
      code: 403,
    })
  })
})

describe('the answer to a failure', () => {
  it.each<[ErrorCode, ErrorDetails, number, Readonly<Record<string, string>>]>([
    ['NOT_FOUND', {}, 404, {}],
    ['UNAUTHORIZED', {}, 401, { 'www-authenticate': 'Bearer' }],
    ['THROTTLED', {}, 429, { 'retry-after': '1' }],
    ['UNAVAILABLE', { retryAfterSeconds: 7 }, 503, { 'retry-after': '7' }],
    ['BAD_REQUEST', { answer: { status: 426, reason: 'x' } }, 426, { 'sec-websocket-version': '13' }],
    ['INTERNAL', {}, 500, {}],
  ])('%s with %j is a %i with %j', (code, details, answered, headers) => {
    const response = failure(errorOf(code, details))
    expect(response).toMatchObject({ status: answered })
    expect(response.headers).toStrictEqual({ 'content-type': 'application/json', ...headers })
  })
})

describe('what was thrown', () => {
  it.each<[string, unknown, string]>([
    ['a failure', errorOf('NOT_FOUND'), 'NOT_FOUND: why'],
    ['an error', new Error('inside'), 'INTERNAL: Internal error occurred: see the log of the control plane'],
    ['another range', new RangeError('inside'), 'INTERNAL: Internal error occurred: see the log of the control plane'],
    ['a text', 'inside', 'INTERNAL: Internal error occurred: see the log of the control plane'],
    [
      'a text that is too long',
      new RangeError('Invalid string length'),
      'TOO_LARGE: it would be longer than any text can be, 512 MiB: ask for pages of a list (limit), or for less',
    ],
    [
      'what says so and is none',
      new Error('Invalid string length'),
      'INTERNAL: Internal error occurred: see the log of the control plane',
    ],
  ])('%s', (_what, error, told) => {
    const { code, message } = toOperatingError(error)
    expect(`${code}: ${message}`).toBe(told)
  })

  it('that is expected stays what it is', () => {
    const error = errorOf('NOT_FOUND')
    expect(toOperatingError(error)).toBe(error)
  })

  it.each<[ErrorCode, boolean]>([
    ['NOT_FOUND', false],
    ['THROTTLED', false],
    ['INTERNAL', true],
    ['UNAVAILABLE', true],
    ['DEADLINE_EXCEEDED', true],
    ['VERSION_TOO_NEW', false],
  ])('%s is ours: %s', (code, is) => {
    expect(isOurs(errorOf(code))).toBe(is)
  })

  it('is logged with what it was caused by', () => {
    const cause = Object.assign(new Error('inner'), { stack: 'inner stack' })
    const error = Object.assign(new Error('outer', { cause }), { stack: 'outer stack' })
    expect(errorFields(error)).toStrictEqual({ error: 'outer stack', cause: { error: 'inner stack' } })
    expect(errorFields(cause)).toStrictEqual({ error: 'inner stack' })
    const bare = new Error('bare', { cause: 'because' })
    Reflect.deleteProperty(bare, 'stack')
    expect(errorFields(bare)).toStrictEqual({ error: 'bare', cause: { error: 'because' } })
  })
})

it('what is not there is named', () => {
  const info = { isResource: true, verb: 'get', version: 'v1', namespace: '', name: 'a' } as const
  const asked = { ...info, resource: 'ks', subresource: 'scale' }
  const no = 'the server could not find the requested resource'
  expect(noSuchResource({ ...asked, group: '' }).message).toBe(`${no}: v1 has no resource "ks"`)
  expect(noSuchResource({ ...asked, group: 'g.dev' }).message).toBe(`${no}: g.dev/v1 has no resource "ks"`)
  expect(noSuchSubresource({ ...asked, group: '' }).message).toBe(`${no}: ks have no subresource "scale"`)
  expect(noSuchSubresource({ ...asked, group: 'g.dev' }).message).toBe(`${no}: ks.g.dev have no subresource "scale"`)
  expect(notThere(plainKind).message).toBe(`${no}: ks are in namespaces`)
  expect(notThere({ ...plainKind, namespaced: false }).message).toBe(`${no}: ks are in no namespace`)
})
