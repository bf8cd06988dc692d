import { afterAll } from 'vitest'
import { startDynalite } from '../../shared/testing-aws/dynalite.ts'
import { openDynamodb } from '../support/dynamodb.ts'
import { quotasContract } from './quotas.contract.ts'

const dynalite = await startDynalite()
afterAll(dynalite.close)

quotasContract('DynamoDB on dynalite', async () => ({ ...(await openDynamodb(dynalite.client)), close: () => {} }))
