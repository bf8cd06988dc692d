import { BatchGetItemCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { afterAll, describe, expect, it } from 'vitest'
import { startDynalite } from '../../shared/testing-aws/dynalite.ts'
import { openDynamodb } from '../support/dynamodb.ts'
import { storedWidget, widgetKind, withSpec } from '../support/stored-object.ts'
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

describe('a reader of the feed on DynamoDB', () => {
  it.each([
    [340_000, 5],
    [1_000, 50],
  ])('reads of objects of %d characters so many at a time: %d', async (length, most) => {
    const reads: number[] = []
    const send = async (command: Parameters<DynamoDBClient['send']>[0]) => {
      if (command instanceof BatchGetItemCommand)
        for (const { Keys = [] } of Object.values(command.input.RequestItems ?? {})) reads.push(Keys.length)
      return dynalite.client.send(command)
    }
    const client = { send } as unknown as DynamoDBClient
    const { store, feed } = await openDynamodb(client)
    const after = await feed.latest()
    const text = 'x'.repeat(length)
    for (let i = 0; i < 70; i++) await store.create(withSpec(storedWidget(`w${i}`), { text }))
    let told = 0
    for await (const { changes } of feed.follow({ after, of: widgetKind, signal: new AbortController().signal })) {
      told += changes.length
      if (told === 70) break
    }
    expect(reads[0]).toBe(10)
    expect(Math.max(...reads.slice(1))).toBeLessThanOrEqual(most)
  })
})
