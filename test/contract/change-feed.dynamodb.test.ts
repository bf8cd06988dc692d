import { afterAll } from 'vitest'
import { startDynalite } from '../../shared/testing-aws/dynalite.ts'
import { openDynamodb } from '../support/dynamodb.ts'
import { longOnly } from '../support/strength.ts'
import { changeFeedContract, type OpenFeed } from './change-feed.contract.ts'

const dynalite = await startDynalite()
afterAll(dynalite.close)

const open = async (): Promise<OpenFeed> => ({ ...(await openDynamodb(dynalite.client)), close: () => {} })

changeFeedContract('DynamoDB on dynalite', open, longOnly)

const openUnrecorded = async (): Promise<OpenFeed> => ({
  ...(await openDynamodb(dynalite.client, { isRecorded: false })),
  close: () => {},
})

changeFeedContract('DynamoDB, of kinds that nobody has watched for a day', openUnrecorded, longOnly)
