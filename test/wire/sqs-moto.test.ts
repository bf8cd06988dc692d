import { motoOfQueues } from './moto.ts'
import { sqsContract } from './sqs-contract.ts'

const staleHandles = 'moto takes a handle of an earlier receipt; SQS FIFO refuses it (decision 12)'

sqsContract(motoOfQueues, {
  latencyMs: 1_000,
  differences: {
    'does nothing with a handle that is stale or was never one': staleHandles,
    'does not end the turn of the next holder for one that comes too late': staleHandles,
    'is sent once within five minutes, even if the first is settled':
      'moto forgets the dedup ids of deleted messages; SQS remembers them for five minutes (decision 12)',
  },
})
