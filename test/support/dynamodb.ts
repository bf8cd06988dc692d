import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { randomUUID } from 'node:crypto'
import { createDynamodbChangeFeed } from '../../shared/adapters/aws/dynamodb/dynamodb-change-feed.ts'
import { createDynamodbIndex } from '../../shared/adapters/aws/dynamodb/dynamodb-index.ts'
import { createDynamodbStore } from '../../shared/adapters/aws/dynamodb/dynamodb-store.ts'
import type { DynamodbOptions } from '../../shared/adapters/aws/dynamodb/dynamodb-requests.ts'
import { systemClock } from '../../shared/adapters/node/system-clock.ts'
import { systemRandom } from '../../shared/adapters/node/system-random.ts'
import type { ChangeFeed } from '../../shared/ports/change-feed.ts'
import type { Clock } from '../../shared/ports/clock.ts'
import type { KindName, ObjectIndex } from '../../shared/ports/object-index.ts'
import type { ObjectStore } from '../../shared/ports/object-store.ts'
import { createRecordings } from '../../shared/adapters/aws/dynamodb/dynamodb-recordings.ts'
import { createTestTable } from '../../shared/testing-aws/dynalite.ts'
import { widgetKind } from './stored-object.ts'

/** All that one table gives. */
export interface OpenDynamodb {
  readonly table: string
  readonly store: ObjectStore
  readonly feed: ChangeFeed
  readonly index: ObjectIndex
  /** Passes the time that a reader of the feed looks back. */
  settled(): Promise<void>
}

interface OpenOptions {
  readonly clock?: Clock
  readonly lookBackMs?: number
  /** Whether somebody has watched the kinds for a while, so that the index has all that is written. Default: yes. */
  readonly isRecorded?: boolean
}

/** As if somebody had watched these kinds an hour ago. */
export async function recordLongSince(options: DynamodbOptions, kinds: readonly KindName[]): Promise<void> {
  const { clock } = options
  const recordings = createRecordings({ ...options, clock: { ...clock, nowMs: () => clock.nowMs() - 3_600_000 } })
  for (const kind of kinds) await recordings.record(kind)
}

/** A new table on an emulator; its feed looks often. */
export async function openDynamodb(
  client: DynamoDBClient,
  { clock = systemClock, lookBackMs = 2_000, isRecorded = true }: OpenOptions = {},
): Promise<OpenDynamodb> {
  const table = `setpoint-${randomUUID()}`
  await createTestTable(client, table)
  const options = { client, table, clock, random: systemRandom }
  const followed = [widgetKind, { ...widgetKind, kind: 'Gadget' }]
  const kinds = () => Promise.resolve(followed)
  if (isRecorded) await recordLongSince(options, followed)
  return {
    table,
    store: createDynamodbStore(options),
    feed: createDynamodbChangeFeed({ ...options, kinds, pollMs: 5, lookBackMs }),
    index: createDynamodbIndex(options),
    settled: () => clock.sleep(lookBackMs + 1),
  }
}
