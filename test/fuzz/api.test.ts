import fc from 'fast-check'
import { expect, it } from 'vitest'
import { share } from '../support/strength.ts'
import { apiRequest } from './api-requests.ts'
import { createApiRunner } from './api-runner.ts'
import { isTooNew } from './too-new.ts'

it('no request is answered with a failure of the control plane', async () => {
  const runner = createApiRunner()
  await fc.assert(
    fc.asyncProperty(apiRequest(), async (one) => {
      expect(await runner.send(one)).toBeUndefined()
    }),
    { numRuns: share(5_000), seed: 15 },
  )
  runner.close()
  expect([...runner.counts.keys()]).toEqual(expect.arrayContaining([200, 201, 400, 404, 405, 409, 415, 422]))
})

const tooLarge = 'ResourceVersionTooLarge … Too large resource version: 9, current: 5'
const answers = [
  { what: 'a list of a version to come', line: 'GET /api/v1/secrets?resourceVersion=9', body: tooLarge, isFine: true },
  { what: 'the head of one', line: 'HEAD /api/v1/secrets?resourceVersion=9', body: tooLarge, isFine: true },
  {
    what: 'a list of one behind a selector with spaces',
    line: 'GET /api/v1/secrets?labelSelector=a in (b,c)&resourceVersion=9',
    body: tooLarge,
    isFine: true,
  },
  { what: 'another version', line: 'GET /api/v1/secrets?resourceVersion=8', body: tooLarge, isFine: false },
  { what: 'no version', line: 'GET /api/v1/secrets', body: tooLarge, isFine: false },
  { what: 'a write', line: 'DELETE /api/v1/secrets?resourceVersion=9', body: tooLarge, isFine: false },
  { what: 'another reason', line: 'GET /api/v1/secrets?resourceVersion=9', body: 'Timeout', isFine: false },
  {
    what: 'a version that there was',
    line: 'GET /api/v1/secrets?resourceVersion=9',
    body: tooLarge.replace('5', '10'),
    isFine: false,
  },
] as const

it.each(answers)('504 for $what is fine: $isFine', ({ line, body, isFine }) => {
  expect(isTooNew(line, body)).toBe(isFine)
})
