import { expect, it } from 'vitest'
import {
  absentIfNotFound,
  DamagedObjectError,
  errorCatalogue,
  hasCode,
  OperatingError,
  type ErrorCode,
} from '../../../shared/model/errors.ts'

/** What clients and dashboards count on: no code is renamed, and none says something else. */
it('each code has its status, its reason and what the engine does next', () => {
  const said = Object.entries(errorCatalogue).map(
    ([code, { status, reason, disposition }]) => `${code}: ${status} ${reason}, ${disposition}`,
  )
  expect(said).toEqual([
    'BAD_REQUEST: 400 BadRequest, stop',
    'UNDECODABLE: 400 BadRequest, stop',
    'UNAUTHORIZED: 401 Unauthorized, stop',
    'FORBIDDEN: 403 Forbidden, stop',
    'NOT_FOUND: 404 NotFound, drop',
    'METHOD_NOT_ALLOWED: 405 MethodNotAllowed, stop',
    'NOT_ACCEPTABLE: 406 NotAcceptable, stop',
    'ALREADY_EXISTS: 409 AlreadyExists, stop',
    'VERSION_CONFLICT: 409 Conflict, retry',
    'APPLY_CONFLICT: 409 Conflict, stop',
    'EXPIRED: 410 Expired, retry',
    'TOO_LARGE: 413 RequestEntityTooLarge, stop',
    'UNSUPPORTED_MEDIA_TYPE: 415 UnsupportedMediaType, stop',
    'INVALID: 422 Invalid, stop',
    'THROTTLED: 429 TooManyRequests, retry',
    'DAMAGED: 500 InternalError, retry',
    'CONVERSION_FAILED: 500 InternalError, stop',
    'HOOK_FAILED: 500 InternalError, retry',
    'INTERNAL: 500 InternalError, retry',
    'WRITE_UNKNOWN: 500 InternalError, retry',
    'UNAVAILABLE: 503 ServiceUnavailable, retry',
    'VERSION_TOO_NEW: 504 Timeout, retry',
    'DEADLINE_EXCEEDED: 504 Timeout, retry',
  ])
})

it.each<[unknown, readonly ErrorCode[], boolean]>([
  [new OperatingError('NOT_FOUND', 'x'), ['NOT_FOUND'], true],
  [new OperatingError('NOT_FOUND', 'x'), ['INVALID', 'NOT_FOUND'], true],
  [new OperatingError('NOT_FOUND', 'x'), ['INVALID'], false],
  [new OperatingError('NOT_FOUND', 'x'), [], false],
  [new DamagedObjectError('x', { uid: 'u', resourceVersion: '1' }), ['DAMAGED'], true],
  [{ code: 'NOT_FOUND' }, ['NOT_FOUND'], false],
  [undefined, ['NOT_FOUND'], false],
])('%s has one of the codes %j: %s', (error, codes, has) => {
  expect(hasCode(error, ...codes)).toBe(has)
})

it('what is not found is absent, and other failures are failures', async () => {
  expect(await absentIfNotFound(Promise.resolve(5))).toBe(5)
  expect(await absentIfNotFound(Promise.reject(new OperatingError('NOT_FOUND', 'x')))).toBeUndefined()
  await expect(absentIfNotFound(Promise.reject(new OperatingError('EXPIRED', 'old')))).rejects.toThrow('old')
})

it('an error has its cause and its details', () => {
  const cause = new Error('why')
  const error = new OperatingError('INVALID', 'x', { cause, details: { name: 'n' } })
  expect([error.cause, error.details, error.message]).toEqual([cause, { name: 'n' }, 'x'])
  expect(new OperatingError('INVALID', 'x').details).toEqual({})
})
