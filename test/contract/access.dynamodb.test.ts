import { afterAll } from 'vitest'
import { createDynamodbCheckpoint } from '../../shared/adapters/aws/dynamodb/dynamodb-checkpoint.ts'
import { systemClock } from '../../shared/adapters/node/system-clock.ts'
import { systemRandom } from '../../shared/adapters/node/system-random.ts'
import { createStoredAccess } from '../../shared/resources/stored-access.ts'
import { startDynalite } from '../../shared/testing-aws/dynalite.ts'
import { openDynamodb } from '../support/dynamodb.ts'
import { accessContract } from './access.contract.ts'

const dynalite = await startDynalite()
afterAll(dynalite.close)

accessContract('DynamoDB on dynalite, three processes', async () => {
  const { store, table } = await openDynamodb(dynalite.client)
  const options = { client: dynalite.client, table, clock: systemClock, random: systemRandom }
  return Array.from({ length: 3 }, () => {
    const checkpoint = createDynamodbCheckpoint({ ...options, name: 'access' })
    const version = { checkpoint, newText: () => systemRandom.uuid() }
    const access = createStoredAccess({ store, clock: systemClock, maxAgeMs: 60_000, version })
    return { access, store: access.follow(store) }
  })
})
