import { randomUUID } from 'node:crypto'
import { ScanCommand } from '@aws-sdk/client-dynamodb'
import { afterAll, expect, it } from 'vitest'
import { reachMs } from '../../shared/adapters/aws/dynamodb/dynamodb-items.ts'
import { createDynamodbChangeFeed } from '../../shared/adapters/aws/dynamodb/dynamodb-change-feed.ts'
import { createDynamodbIndex } from '../../shared/adapters/aws/dynamodb/dynamodb-index.ts'
import { createRecordings } from '../../shared/adapters/aws/dynamodb/dynamodb-recordings.ts'
import { createDynamodbStore } from '../../shared/adapters/aws/dynamodb/dynamodb-store.ts'
import { messageOf } from '../../shared/adapters/aws/sqs/sqs-message.ts'
import { done } from '../../shared/index.ts'
import { keyOf } from '../../shared/model/object-key.ts'
import { createSeeing } from '../../shared/runtime/aws/boundary.ts'
import { createReconcile } from '../../shared/runtime/aws/reconcile.ts'
import { createSeededRandom } from '../../shared/testing/seeded-random.ts'
import {
  bufferOf,
  createTestTable,
  startDynalite,
  testClient,
  type Transport,
} from '../../shared/testing-aws/dynalite.ts'
import { widgets } from '../acceptance/support/widgets.ts'
import { awsBoundary, widgetQueues } from '../support/aws-boundary.ts'
import { storedWidget, withMetadata } from '../support/stored-object.ts'
import { createVirtualClock } from '../support/virtual-clock.ts'

/** What no seed draws: orders in which requests to DynamoDB, and what is done around them, must come. */

const dynalite = await startDynalite('orders')
afterAll(dynalite.close)

it('the function reports what it cannot read, and what it does not know the queue of: else Lambda deletes them', async () => {
  const clock = createVirtualClock()
  const away: Transport = {
    handle: async (request) => {
      if (bufferOf(request.body).includes('checkpoint#queues'))
        return {
          response: {
            statusCode: 400,
            headers: { 'content-type': 'application/x-amz-json-1.0' },
            body: Buffer.from('{"__type":"com.amazonaws#AccessDeniedException"}'),
          },
        }
      return dynalite.transport.handle(request)
    },
  }
  const environment = { SETPOINT_TABLE: 'orders', SETPOINT_QUEUES: widgetQueues }
  const boundary = awsBoundary(away, { environment, clock })
  const handle = createReconcile({ boundary, seeing: createSeeing(boundary), controllers: [widgets([], () => done())] })
  const key = { group: 'test.setpoint.dev', kind: 'Widget', namespace: 'default', name: 'w' }
  const { MessageBody: body } = messageOf('widget', { key, origin: 'change', dedupId: 'w', lane: 'urgent', reason: '' })
  const record = (messageId: string, text: string) =>
    ({
      body: text,
      receiptHandle: 'h',
      messageId,
      attributes: { ApproximateReceiveCount: '1' },
      eventSourceARN: 'arn:aws:sqs:us-east-1:1:a',
    }) as never
  let isOver = false
  const answer = handle({ Records: [record('odd', 'no message of ours'), record('unknown', body)] }, 40_000).finally(
    () => (isOver = true),
  )
  while (!isOver) {
    await clock.advance(500)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  expect((await answer).batchItemFailures.map(({ itemIdentifier }) => itemIdentifier)).toEqual(['odd', 'unknown'])
})

it('a write that gives an object an owner notes that ahead of the object', async () => {
  const table = `owners-${randomUUID()}`
  await createTestTable(dynalite.client, table)
  const clock = { nowMs: () => Date.parse('2026-01-01T00:00:00Z'), sleep: async () => {} }
  const options = { client: dynalite.client, table, random: createSeededRandom(1), clock }
  const index = createDynamodbIndex(options)
  const live = await createDynamodbStore(options).create(storedWidget('a'))
  let noted: readonly unknown[] | undefined
  const transport: Transport = {
    handle: async (request) => {
      if (bufferOf(request.body).toString().includes('#doc')) noted = await index.childrenOf('owner-1')
      return dynalite.transport.handle(request)
    },
  }
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'owner-1' }
  const store = createDynamodbStore({ ...options, client: testClient(transport) })
  await store.replace(withMetadata(live, { ownerReferences: [owner] }), ['meta'])
  expect(noted).toEqual([keyOf(live.object)])
})

it('a reader that takes half a minute for a batch is told what was written meanwhile', async () => {
  const table = `feed-${randomUUID()}`
  await createTestTable(dynalite.client, table)
  let nowMs = Date.parse('2026-01-01T00:00:00Z')
  const clock = { nowMs: () => nowMs, sleep: async (ms: number) => void (nowMs += ms) }
  const options = { client: dynalite.client, table, random: createSeededRandom(1), clock }
  const store = createDynamodbStore(options)
  const feed = createDynamodbChangeFeed(options)
  const over = new AbortController()
  const { group, kind } = keyOf(storedWidget('a').object)
  const followed = feed.follow({ after: await feed.latest(), of: { group, kind }, signal: over.signal })
  const reading = followed[Symbol.asyncIterator]()
  const nextName = async (): Promise<string | undefined> => {
    for (let i = 0; i < 20; i++) {
      const { value } = await reading.next()
      const [change] = value?.changes ?? []
      if (change !== undefined) return change.stored.object.metadata.name
    }
    return undefined
  }
  await store.create(storedWidget('a'))
  expect(await nextName()).toBe('a')
  nowMs += 5_000
  await store.create(storedWidget('b'))
  nowMs += 30_000
  expect(await nextName()).toBe('b')
  over.abort()
})

it('a wider index is written to when all readers know it, and not before', async () => {
  const table = `spread-${randomUUID()}`
  await createTestTable(dynalite.client, table)
  let nowMs = Date.parse('2026-01-01T00:00:00Z')
  const clock = { nowMs: () => nowMs, sleep: async () => {} }
  const options = { client: dynalite.client, table, random: createSeededRandom(1), clock }
  const { group, kind } = keyOf(storedWidget('a').object)
  const [writer, reader] = [createRecordings(options), createRecordings(options)]
  const places = async () => {
    const keys = Array.from({ length: 60 }, (_, i) => ({ group, kind, namespace: 'default', name: `w${i}` }))
    return new Set(await Promise.all(keys.map(async (key) => (await writer.findEntry(key)).partition)))
  }
  await reader.listPartitions({ group, kind })
  await writer.spread({ group, kind })
  const known = new Set(await reader.listPartitions({ group, kind }))
  expect([...(await places())].filter((place) => !known.has(place))).toEqual([])
  nowMs += 121_000
  expect((await places()).size).toBeGreaterThan(8)
})

it('the version of a list is from before its first look, however long that takes', async () => {
  const table = `list-${randomUUID()}`
  await createTestTable(dynalite.client, table)
  const beganMs = Date.parse('2026-01-01T00:00:00Z')
  let nowMs = beganMs
  const clock = { nowMs: () => nowMs, sleep: async () => {} }
  const slow: Transport = {
    handle: async (request) => {
      const answer = await dynalite.transport.handle(request)
      if (request.headers['x-amz-target']?.endsWith('Query') === true) nowMs += 1_000
      return answer
    },
  }
  const options = { table, random: createSeededRandom(1), clock }
  const { group, kind } = keyOf(storedWidget('a').object)
  const { resourceVersion } = await createDynamodbStore({ ...options, client: testClient(slow) }).list({ group, kind })
  expect(nowMs).toBeGreaterThan(beganMs)
  expect(Number(resourceVersion)).toBeLessThan((beganMs + 1) * 1_000)
})

it('a removed object stays for as long as somebody may follow from before its removal', async () => {
  const table = `tombstones-${randomUUID()}`
  await createTestTable(dynalite.client, table)
  const nowMs = Date.parse('2026-01-01T00:00:00Z')
  const options = {
    client: dynalite.client,
    table,
    random: createSeededRandom(1),
    clock: { nowMs: () => nowMs, sleep: async () => {} },
  }
  const store = createDynamodbStore(options)
  await store.remove(await store.create(storedWidget('a')))
  const { Items = [] } = await dynalite.client.send(new ScanCommand({ TableName: table, ConsistentRead: true }))
  const expires = Items.flatMap((item) =>
    item['expires']?.N === undefined || item['doc'] === undefined ? [] : Number(item['expires'].N),
  )
  expect(expires).toHaveLength(1)
  expect((expires[0] ?? 0) * 1_000).toBeGreaterThanOrEqual(nowMs + reachMs)
})

it('of two who create where an object was removed one is refused', async () => {
  const table = `again-${randomUUID()}`
  await createTestTable(dynalite.client, table)
  let nowMs = Date.parse('2026-01-01T00:00:00Z')
  const options = { table, random: createSeededRandom(1), clock: { nowMs: () => ++nowMs, sleep: async () => {} } }
  const other = createDynamodbStore({ ...options, client: dynalite.client })
  await other.remove(await other.create(storedWidget('a')))
  let isFirst = true
  const transport: Transport = {
    handle: async (request) => {
      const isOverTombstone = bufferOf(request.body).toString().includes('":write"')
      if (isOverTombstone && isFirst) {
        isFirst = false
        await other.create(storedWidget('a', { uid: 'theirs' }))
      }
      return dynalite.transport.handle(request)
    },
  }
  const mine = createDynamodbStore({ ...options, client: testClient(transport) })
  await expect(mine.create(storedWidget('a', { uid: 'mine' }))).rejects.toThrow('exists already')
  expect(isFirst).toBe(false)
  expect((await other.get(keyOf(storedWidget('a').object)))?.object.metadata.uid).toBe('theirs')
})
