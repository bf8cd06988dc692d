import { SQSClient } from '@aws-sdk/client-sqs'
import { describe } from 'vitest'
import { workQueueContract } from '../contract/work-queue.contract.ts'
import { openInRealTime } from './sqs-contract.ts'

/**
 * The real thing, for a person with an account: `SETPOINT_WIRE_AWS=eu-central-1 npm test -- test/wire/sqs-aws`, with
 * credentials where the SDK finds them. Makes a queue for each test and deletes it; a few thousand requests in all.
 * What decision 12 rests on and no emulator can say is the test of stale handles.
 */
const region = process.env['SETPOINT_WIRE_AWS'] ?? ''

describe(
  'in an account',
  { skip: region === '', meta: { skipped: 'needs an AWS account: SETPOINT_WIRE_AWS=<region>' } },
  () => {
    workQueueContract('SQS FIFO (AWS)', () => openInRealTime(new SQSClient({ region }), 2_000))
  },
)
