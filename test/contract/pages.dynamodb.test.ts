import { afterAll } from 'vitest'
import { startDynalite } from '../../shared/testing-aws/dynalite.ts'
import { openDynamodb } from '../support/dynamodb.ts'
import { pagesContract } from './pages.contract.ts'

const dynalite = await startDynalite()
afterAll(dynalite.close)

pagesContract(
  'DynamoDB on dynalite',
  async () => ({ ...(await openDynamodb(dynalite.client)), close: () => {} }),
  false,
)
