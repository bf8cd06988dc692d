import { localstack } from './localstack.ts'
import { sqsContract } from './sqs-contract.ts'

const staleHandles =
  'LocalStack changes the visibility by a handle of an earlier receipt; SQS FIFO refuses it (decision 12)'

sqsContract(localstack, {
  // Once a second it looks which messages are to be visible again.
  latencyMs: 2_000,
  differences: {
    'does nothing with a handle that is stale or was never one': staleHandles,
    'does not end the turn of the next holder for one that comes too late': staleHandles,
  },
})
