import { afterAll } from 'vitest'
import { startDynalite } from '../../shared/testing-aws/dynalite.ts'
import { openDynamodb } from '../support/dynamodb.ts'
import { objectStoreContract } from './object-store.contract.ts'

const dynalite = await startDynalite()
afterAll(dynalite.close)

objectStoreContract('DynamoDB on dynalite', async () => ({
  ...(await openDynamodb(dynalite.client)),
  close: () => {},
}))
