import { createDynamodbAllowances } from '../../adapters/aws/dynamodb/dynamodb-allowances.ts'
import { createDynamodbChangeFeed } from '../../adapters/aws/dynamodb/dynamodb-change-feed.ts'
import { createDynamodbCheckpoint } from '../../adapters/aws/dynamodb/dynamodb-checkpoint.ts'
import { createDynamodbClient } from '../../adapters/aws/dynamodb/dynamodb-client.ts'
import { createDynamodbIndex } from '../../adapters/aws/dynamodb/dynamodb-index.ts'
import { wholeShare, type Share } from '../../adapters/aws/dynamodb/dynamodb-keys.ts'
import { createDynamodbNetted } from '../../adapters/aws/dynamodb/dynamodb-netted.ts'
import { createDynamodbReservations } from '../../adapters/aws/dynamodb/dynamodb-reservations.ts'
import { createDynamodbStore } from '../../adapters/aws/dynamodb/dynamodb-store.ts'
import type { AwsBoundary } from './boundary.ts'
import { tableNameOf } from './environment.ts'
import type { TablePorts } from './services.ts'

/**
 * What is kept in the table. A request that is throttled, or gets no answer, is tried again for `patienceMs`. Timers
 * and wheel may be those of a share of the objects.
 */
export function openAwsTable(
  { environment, dynamodb, clock, random }: AwsBoundary,
  patienceMs: number,
  share: Share = wholeShare,
): TablePorts {
  const options = { client: createDynamodbClient(dynamodb), table: tableNameOf(environment), clock, random, patienceMs }
  return {
    store: createDynamodbStore(options),
    index: createDynamodbIndex({ ...options, share }),
    feed: createDynamodbChangeFeed(options),
    listNetted: createDynamodbNetted({ ...options, share }),
    reserve: createDynamodbReservations(options),
    allowances: createDynamodbAllowances(options),
    checkpoint: (name) => createDynamodbCheckpoint({ ...options, name }),
  }
}
