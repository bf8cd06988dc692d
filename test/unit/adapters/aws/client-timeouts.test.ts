import { expect, it } from 'vitest'
import { clientTimeouts } from '../../../../shared/adapters/aws/client/client-timeouts.ts'

it('a client that nothing answers fails, and does not only say so', () => {
  expect(clientTimeouts({ connectMs: 1, answerMs: 2 })).toEqual({
    connectionTimeout: 1,
    requestTimeout: 2,
    throwOnRequestTimeout: true,
    socketTimeout: 2,
  })
})
