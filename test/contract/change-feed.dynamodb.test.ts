import { afterAll } from 'vitest'
import { startDynalite } from '../support/dynalite.ts'
import { openDynamodb } from '../support/dynamodb.ts'
import { changeFeedContract } from './change-feed.contract.ts'

const dynalite = await startDynalite()
afterAll(dynalite.close)

changeFeedContract('DynamoDB on dynalite', async () => ({
  ...(await openDynamodb(dynalite.client)),
  close: () => {},
}))
