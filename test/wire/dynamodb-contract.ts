import { afterAll, describe } from 'vitest'
import { createDynamodbClient } from '../../shared/adapters/aws/dynamodb/dynamodb-client.ts'
import { createDynamodbReservations } from '../../shared/adapters/aws/dynamodb/dynamodb-reservations.ts'
import { systemRandom } from '../../shared/adapters/node/system-random.ts'
import type { Clock } from '../../shared/ports/clock.ts'
import type { Reserve } from '../../shared/ports/reservations.ts'
import { changeFeedContract } from '../contract/change-feed.contract.ts'
import { objectIndexContract } from '../contract/object-index.contract.ts'
import { objectStoreContract } from '../contract/object-store.contract.ts'
import { reservationsContract } from '../contract/reservations.contract.ts'
import type { Differences } from '../contract/work-queue.contract.ts'
import { testCredentials } from '../../shared/testing-aws/dynalite.ts'
import { openDynamodb, type OpenDynamodb } from '../support/dynamodb.ts'
import { onPeer } from './endpoints.ts'
import type { Peer } from './peer.ts'

/** The contracts of the ports, over the wire, each test on a table of its own. */
export function dynamodbContract(peer: Peer, differences: Differences): void {
  const { endpoint, ...options } = onPeer(peer)
  describe('over the wire', options, () => {
    const client = createDynamodbClient({
      endpoint,
      region: 'us-east-1',
      credentials: testCredentials,
      // Some tests send a thousand requests at once, and an emulator takes one after the other.
      requestHandler: { requestTimeout: 60_000, connectionTimeout: 60_000, throwOnRequestTimeout: true },
    })
    afterAll(() => client.destroy())
    const open = async (): Promise<OpenDynamodb & { close(): void; caughtUp(): Promise<void> }> => ({
      ...(await openDynamodb(client, { lookBackMs: 5_000 })),
      caughtUp: async () => {},
      close: () => {},
    })
    objectStoreContract(`DynamoDB (${peer.name})`, open, differences)
    objectIndexContract(`DynamoDB (${peer.name})`, open)
    changeFeedContract(`DynamoDB (${peer.name})`, open)
    reservationsContract(`DynamoDB (${peer.name})`, async () => {
      const { table } = await openDynamodb(client)
      const process = (clock: Clock): Reserve =>
        createDynamodbReservations({ client, table, clock, random: systemRandom })
      return { process, close: () => {} }
    })
  })
}
