import fc from 'fast-check'
import { expect, it } from 'vitest'
import { share } from '../support/strength.ts'
import { apiRequest } from './api-requests.ts'
import { createApiRunner } from './api-runner.ts'

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
