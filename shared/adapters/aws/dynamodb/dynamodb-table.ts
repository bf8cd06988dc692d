import type { CreateTableCommandInput, KeySchemaElement } from '@aws-sdk/client-dynamodb'

/**
 * The table, as data for CreateTable; what stands in it is told in docs/decisions/0016-dynamodb-layout.md. Indexes hold
 * keys: a write pays for an index by the entry, and the object is read by its own key anyway.
 * - `feed` follows the resourceVersion, for watches, in buckets of its own, and holds the kinds that are recorded; with
 *   the timer of the safety net.
 * - `wheel` is written when an object comes and goes, and never between.
 * - `due` holds objects with a timer.
 */
export const tableDefinition: Omit<CreateTableCommandInput, 'TableName'> = {
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [
    { AttributeName: 'pk', AttributeType: 'S' },
    { AttributeName: 'sk', AttributeType: 'S' },
    { AttributeName: 'feed', AttributeType: 'S' },
    { AttributeName: 'rv', AttributeType: 'N' },
    { AttributeName: 'slot', AttributeType: 'N' },
    { AttributeName: 'due', AttributeType: 'N' },
  ],
  KeySchema: keySchema('sk'),
  GlobalSecondaryIndexes: [
    {
      IndexName: 'feed',
      KeySchema: keySchema('rv', 'feed'),
      Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['net'] },
    },
    { IndexName: 'wheel', KeySchema: keySchema('slot'), Projection: { ProjectionType: 'KEYS_ONLY' } },
    { IndexName: 'due', KeySchema: keySchema('due'), Projection: { ProjectionType: 'KEYS_ONLY' } },
  ],
  StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
}

/** For UpdateTimeToLive: when a removed object may be forgotten, in seconds since the epoch. */
export const timeToLiveAttribute = 'expires'

function keySchema(range: string, hash = 'pk'): KeySchemaElement[] {
  return [
    { AttributeName: hash, KeyType: 'HASH' },
    { AttributeName: range, KeyType: 'RANGE' },
  ]
}
