import { afterAll } from 'vitest'
import { startDynalite } from '../../shared/testing-aws/dynalite.ts'
import { openDynamodb } from '../support/dynamodb.ts'
import { objectIndexContract } from './object-index.contract.ts'

const dynalite = await startDynalite()
afterAll(dynalite.close)

objectIndexContract('DynamoDB on dynalite', async () => ({
  ...(await openDynamodb(dynalite.client)),
  caughtUp: async () => {},
  close: () => {},
}))
