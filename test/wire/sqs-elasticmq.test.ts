import { elasticmq } from './elasticmq.ts'
import { sqsContract } from './sqs-contract.ts'

sqsContract(elasticmq, { latencyMs: 1_000, differences: {} })
