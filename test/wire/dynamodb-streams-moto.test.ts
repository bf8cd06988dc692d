import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  ListStreamsCommand,
} from '@aws-sdk/client-dynamodb-streams'
import { describe, expect, it } from 'vitest'
import { createDynamodbClient } from '../../shared/adapters/aws/dynamodb/dynamodb-client.ts'
import { changeOf } from '../../shared/adapters/aws/dynamodb/dynamodb-stream.ts'
import type { Change } from '../../shared/ports/change-feed.ts'
import { testCredentials } from '../../shared/testing-aws/dynalite.ts'
import { openDynamodb } from '../support/dynamodb.ts'
import { storedWidget, withSpec } from '../support/stored-object.ts'
import { onPeer } from './endpoints.ts'
import { moto } from './moto.ts'

const { endpoint, ...options } = onPeer(moto)

describe('DynamoDB Streams (moto)', options, () => {
  const config = { endpoint, region: 'us-east-1', credentials: testCredentials }

  it('tell every write of an object, with the states before and after', async () => {
    const { table, store } = await openDynamodb(createDynamodbClient(config))
    const created = await store.create(storedWidget('a', { uid: 'first' }))
    const changed = await store.replace(withSpec(created, { size: 2 }), ['spec'])
    const waiting = await store.replace({ ...changed, engine: { wakeAtMs: 5 } }, ['engine'])
    const removed = await store.remove(waiting)
    const second = await store.create(storedWidget('a', { uid: 'second' }))
    expect(await changesOf(table)).toEqual([
      { type: 'added', touched: ['spec'], stored: created },
      { type: 'modified', touched: ['spec'], stored: changed, before: created },
      { type: 'modified', touched: ['engine'], stored: waiting, before: changed },
      { type: 'removed', touched: ['delete'], stored: removed, before: waiting },
      { type: 'added', touched: ['spec'], stored: second },
    ])
  })

  async function changesOf(table: string): Promise<readonly Change[]> {
    const client = new DynamoDBStreamsClient(config)
    const { Streams: [stream] = [] } = await client.send(new ListStreamsCommand({ TableName: table }))
    const StreamArn = stream?.StreamArn
    const { StreamDescription } = await client.send(new DescribeStreamCommand({ StreamArn }))
    const changes: Change[] = []
    for (const { ShardId } of StreamDescription?.Shards ?? []) {
      const from = { StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' } as const
      const { ShardIterator } = await client.send(new GetShardIteratorCommand(from))
      const { Records = [] } = await client.send(new GetRecordsCommand({ ShardIterator }))
      changes.push(...Records.flatMap((record) => changeOf(record) ?? []))
    }
    return changes
  }
})
