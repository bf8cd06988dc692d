import { ThrottlingException, type DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { expect, it } from 'vitest'
import { createDynamodbRequests } from '../../../../shared/adapters/aws/dynamodb/dynamodb-requests.ts'
import { expectCode } from '../../../support/expect-code.ts'

it.each([
  ['stays', 0],
  ['is put back by an hour', -3_600_000],
  ['is put forward by an hour', 3_600_000],
])('the patience for a request is five seconds, though the clock %s', async (_what, jumpMs) => {
  let steadyMs = 0
  let jumpedMs = 0
  const clock = {
    nowMs: () => 1_700_000_000_000 + steadyMs + jumpedMs,
    steadyMs: () => steadyMs,
    sleep: async (ms: number) => {
      steadyMs += ms
      jumpedMs = jumpMs
    },
  }
  const random = { next: () => 0.5, uuid: () => 'uuid' }
  const requests = createDynamodbRequests({ client: {} as DynamoDBClient, table: 't', clock, random })
  const throttled = new ThrottlingException({ $metadata: {}, message: 'too much' })
  await expectCode(
    requests.repeat('read it', () => Promise.reject(throttled)),
    'THROTTLED',
  )
  expect(steadyMs).toBeGreaterThan(3_000)
  expect(steadyMs).toBeLessThanOrEqual(5_000)
})
