import { BatchGetItemCommand, GetItemCommand, QueryCommand, ScanCommand } from '@aws-sdk/client-dynamodb'
import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { keyOf } from '../../shared/model/object-key.ts'
import type { StoredObject } from '../../shared/model/stored-object.ts'
import { countAwsRequests } from '../support/aws-requests.ts'
import { startDynalite } from '../../shared/testing-aws/dynalite.ts'
import { openDynamodb, type OpenDynamodb } from '../support/dynamodb.ts'
import { storedWidget, widgetKind, withMetadata, withSpec } from '../support/stored-object.ts'

/**
 * What each operation of the ports costs. `npm run cost` reckons with the same: a number that grows here is money.
 * Objects are below 1 KB, so that a write of one is one unit, and an entry of an index is one unit wherever it comes,
 * moves (two) or goes.
 */
const dynalite = await startDynalite()
const requests = countAwsRequests(dynalite.client)
afterAll(dynalite.close)

const target = { group: '', kind: 'ConfigMap', namespace: 'default', name: 'settings' }
const owned = { ownerReferences: [{ apiVersion: 'example.com/v1', kind: 'Owner', name: 'any', uid: 'owner-1' }] }

let opened: OpenDynamodb
let live: StoredObject

beforeEach(async () => {
  opened = await openDynamodb(dynalite.client)
  live = await opened.store.create(storedWidget('a', { uid: randomUUID() }))
  requests.take()
})

const free = { readUnits: 0, writeUnits: 0, indexUnits: {} }

it('a read of the table that may be old is refused here, where none is', async () => {
  const { table: TableName } = opened
  const key = { pk: { S: 'a' }, sk: { S: 'b' } }
  const ofPk = { KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: { ':pk': key.pk } }
  const reads = (ConsistentRead: boolean) => [
    () => dynalite.client.send(new GetItemCommand({ TableName, Key: key, ConsistentRead })),
    () => dynalite.client.send(new QueryCommand({ TableName, ...ofPk, ConsistentRead })),
    () => dynalite.client.send(new ScanCommand({ TableName, ConsistentRead })),
    () =>
      dynalite.client.send(new BatchGetItemCommand({ RequestItems: { [TableName]: { Keys: [key], ConsistentRead } } })),
  ]
  for (const read of reads(true)) await expect(read()).resolves.toBeDefined()
  for (const read of reads(false)) await expect(read()).rejects.toThrow('may be old on AWS')
})

it('a short list asks little more behind many removals', async () => {
  const list = async (): Promise<number> => {
    requests.take()
    await opened.store.list({ ...widgetKind, namespace: 'default', limit: 2 })
    return requests.take().calls['Query'] ?? 0
  }
  await opened.store.remove(live)
  const before = await list()
  for (let i = 0; i < 400; i++) await opened.store.remove(await opened.store.create(storedWidget(`gone-${i}`)))
  expect(await list()).toBeLessThan(5 * before)
})

describe('an object', () => {
  it('is read by one strong read', async () => {
    await opened.store.get(keyOf(live.object))
    expect(requests.take()).toEqual({ ...free, calls: { GetItem: 1 }, readUnits: 1 })
  })

  it('is created by one write, and its entries in two indexes', async () => {
    await opened.store.create(storedWidget('b'))
    const indexUnits = { feed: 1, wheel: 1 }
    expect(requests.take()).toEqual({ ...free, calls: { PutItem: 1 }, writeUnits: 1, indexUnits })
  })

  it('costs one write more for each owner', async () => {
    await opened.store.create(storedWidget('b', owned))
    const indexUnits = { feed: 1, wheel: 1 }
    expect(requests.take()).toEqual({ ...free, calls: { PutItem: 2 }, writeUnits: 2, indexUnits })
  })

  it.each([['spec'], ['status'], ['engine'], ['status', 'engine']] as const)(
    'is changed by one write, and its entry in one index moves: %s %s',
    async (...touched) => {
      await opened.store.replace(live, touched)
      expect(requests.take()).toEqual({ ...free, calls: { UpdateItem: 1 }, writeUnits: 1, indexUnits: { feed: 2 } })
    },
  )

  it('has an entry more while it has a timer', async () => {
    const timed = await opened.store.replace({ ...live, engine: { wakeAtMs: 5 } }, ['engine'])
    expect(requests.take().indexUnits).toEqual({ feed: 2, due: 1 })
    const later = await opened.store.replace({ ...timed, engine: { wakeAtMs: 6 } }, ['engine'])
    expect(requests.take().indexUnits).toEqual({ feed: 2, due: 2 })
    await opened.store.replace({ ...later, engine: {} }, ['engine'])
    expect(requests.take().indexUnits).toEqual({ feed: 2, due: 1 })
  })

  it('is removed by one write and a look for its references', async () => {
    await opened.store.remove(live)
    const indexUnits = { feed: 2, wheel: 1 }
    expect(requests.take()).toEqual({
      calls: { UpdateItem: 1, GetItem: 1 },
      readUnits: 0.5 * 2,
      writeUnits: 1,
      indexUnits,
    })
  })

  it('costs two writes more when its name was taken within the hour', async () => {
    await opened.store.remove(live)
    requests.take()
    await opened.store.create(storedWidget('a', { uid: randomUUID() }))
    // The first of them fails: DynamoDB bills it, and the emulator does not say so.
    expect(requests.take()).toMatchObject({ calls: { PutItem: 3 }, writeUnits: 2 })
  })

  it('is refused with what is there in the same answer', async () => {
    await opened.store.replace(live, ['spec'])
    requests.take()
    await opened.store.replace(live, ['spec']).catch(() => {})
    await opened.store.create(storedWidget('a')).catch(() => {})
    expect(requests.take().calls).toEqual({ UpdateItem: 1, PutItem: 1 })
  })
})

describe('a list', () => {
  it('is one query for each of eight partitions', async () => {
    await opened.store.list(widgetKind)
    // Strong: one unit at least, where others are a half.
    expect(requests.take()).toEqual({ ...free, calls: { Query: 8 }, readUnits: 8 })
  })

  it('is one query for kinds that are read often and written by hand', async () => {
    await opened.store.list({ group: 'rbac.authorization.k8s.io', kind: 'ClusterRoleBinding' })
    expect(requests.take().calls).toEqual({ Query: 1 })
  })

  it('goes on where DynamoDB ends a page, at 1 MB', async () => {
    // Nothing makes it shorter.
    const text = randomBytes(225_000).toString('base64')
    const names = Array.from({ length: 40 }, (_, i) => `big${String(i).padStart(2, '0')}`)
    await Promise.all(names.map((name) => opened.store.create(withSpec(storedWidget(name), { text }))))
    requests.take()
    const { items, more } = await opened.store.list(widgetKind)
    expect(items.map(({ object }) => object.metadata.name)).toEqual(['a', ...names])
    expect(more).toBe(false)
    expect(requests.take().calls['Query']).toBeGreaterThan(10)
  })

  it('reads no more than a part beyond its limit', async () => {
    await Promise.all(Array.from({ length: 200 }, (_, i) => opened.store.create(storedWidget(`w${i}`))))
    requests.take()
    const { items } = await opened.store.list({ ...widgetKind, limit: 100 })
    const { calls, readUnits } = requests.take()
    const bytes = items.reduce((sum, item) => sum + JSON.stringify(item).length + 300, 0)
    expect(items).toHaveLength(100)
    expect(calls['Query']).toBeLessThanOrEqual(16)
    expect(readUnits).toBeLessThan((2 * bytes) / 4096 + 16)
  })
})

describe('an index', () => {
  it('of owners is one strong query', async () => {
    await opened.store.create(storedWidget('child', owned))
    requests.take()
    await opened.index.childrenOf('owner-1')
    expect(requests.take()).toEqual({ ...free, calls: { Query: 1 }, readUnits: 1 })
  })

  it('of owners reads no more of very many than it is asked for', async () => {
    await Promise.all(Array.from({ length: 100 }, (_, i) => opened.store.create(storedWidget(`w${i}`, owned))))
    requests.take()
    expect(await opened.index.childrenOf('owner-1', 3)).toHaveLength(3)
    expect(requests.take()).toEqual({ ...free, calls: { Query: 1 }, readUnits: 1 })
  })

  it('of timers and of the wheel is one query for each partition, at half the price', async () => {
    await opened.index.due(widgetKind, 10, 10)
    await opened.index.onWheel(widgetKind, 0, 60)
    const { calls, readUnits } = requests.take()
    expect(calls).toEqual({ Query: 16 })
    expect(readUnits).toBe(16 * 0.5)
  })

  it('of references is not written when nothing has changed', async () => {
    await opened.index.setReferences(keyOf(live.object), [target])
    expect(requests.take()).toMatchObject({ calls: { GetItem: 1, BatchWriteItem: 1, PutItem: 1 }, writeUnits: 2 })
    await opened.index.setReferences(keyOf(live.object), [target])
    expect(requests.take()).toEqual({ ...free, calls: { GetItem: 1 }, readUnits: 1 })
  })

  it('drops owners that are no more with the write that says so', async () => {
    const child = await opened.store.create(storedWidget('child', owned))
    requests.take()
    await opened.store.replace(withMetadata(child, { ownerReferences: [] }), ['meta'])
    expect(requests.take()).toMatchObject({ calls: { UpdateItem: 1, DeleteItem: 1 }, writeUnits: 2 })
  })
})

describe('a reader of the feed', () => {
  it('asks each partition of its kind once a look, what is recorded once a minute, and reads what is new', async () => {
    const signal = new AbortController().signal
    for await (const { changes } of opened.feed.follow({ after: await opened.feed.latest(), of: widgetKind, signal })) {
      expect(changes).toHaveLength(1)
      break
    }
    expect(requests.take()).toEqual({
      ...free,
      calls: { Query: 8, BatchGetItem: 1, GetItem: 1 },
      readUnits: 8 * 0.5 + 2,
    })
  })
})
