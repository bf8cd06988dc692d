import { randomUUID } from 'node:crypto'
import { UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { createDynamodbChangeFeed } from '../../shared/adapters/aws/dynamodb/dynamodb-change-feed.ts'
import { createDynamodbCheckpoint } from '../../shared/adapters/aws/dynamodb/dynamodb-checkpoint.ts'
import { createDynamodbClient } from '../../shared/adapters/aws/dynamodb/dynamodb-client.ts'
import { createDynamodbIndex } from '../../shared/adapters/aws/dynamodb/dynamodb-index.ts'
import { createOwnerEntries } from '../../shared/adapters/aws/dynamodb/dynamodb-owners.ts'
import { createReferenceEntries } from '../../shared/adapters/aws/dynamodb/dynamodb-references.ts'
import { objectItemKey } from '../../shared/adapters/aws/dynamodb/dynamodb-keys.ts'
import { createDynamodbStore } from '../../shared/adapters/aws/dynamodb/dynamodb-store.ts'
import { hasCode } from '../../shared/model/errors.ts'
import { keyOf } from '../../shared/model/object-key.ts'
import type { StoredObject } from '../../shared/model/stored-object.ts'
import type { Clock } from '../../shared/ports/clock.ts'
import type { ObjectStore } from '../../shared/ports/object-store.ts'
import { createSeededRandom } from '../../shared/testing/seeded-random.ts'
import {
  bufferOf,
  createTestTable,
  startDynalite,
  testClient,
  testCredentials,
  type Transport,
  type TransportRequest,
} from '../../shared/testing-aws/dynalite.ts'
import { expectCode } from '../support/expect-code.ts'
import { faultyTransport, type Fault, type Faults } from '../support/faulty-transport.ts'
import { storedWidget, versionOf, widgetKind, withMetadata, withSpec } from '../support/stored-object.ts'
import { isLong, pick, longOnly } from '../support/strength.ts'

/** Time passes only while somebody sleeps. */
interface HastyClock extends Clock {
  sleptMs: number
}

function hastyClock(skewMs = 0): HastyClock {
  const clock: HastyClock = {
    sleptMs: 0,
    nowMs: () => Date.parse('2026-01-01T00:00:00Z') + skewMs + clock.sleptMs,
    sleep: async (ms) => {
      clock.sleptMs += ms
    },
  }
  return clock
}

const dynalite = await startDynalite()
afterAll(dynalite.close)

/** Of the pauses between tries. */
const random = createSeededRandom(1)
let table: string
let clock: HastyClock
let sound: ObjectStore

beforeEach(async () => {
  table = `faults-${randomUUID()}`
  clock = hastyClock()
  await createTestTable(dynalite.client, table)
  sound = createDynamodbStore({ client: dynalite.client, table, random, clock })
})

function options(faults: Faults, shared: HastyClock = clock) {
  return { client: testClient(faultyTransport(dynalite.transport, faults)), table, random, clock: shared }
}

function storeWith(faults: Faults): ObjectStore {
  return createDynamodbStore(options(faults))
}

it('chance has a part in the pauses between tries, and nothing else', async () => {
  const half = { ...random, next: () => 0.5 }
  const store = createDynamodbStore({ ...options(always('throttle')), random: half })
  await expectCode(store.get(keyOf(storedWidget('a').object)), 'THROTTLED')
  // Half of 50, 100, 200, 400, 800 and then of 1,000 ms each, as long as it is within 5 s.
  expect(clock.sleptMs).toBe(25 + 50 + 100 + 200 + 400 + 8 * 500)
})

const none: Faults = () => void 0

/** Only the first request of these operations, or all of all. */
function once(fault: Fault, ...operations: readonly string[]): Faults {
  let isDone = false
  return (operation) => {
    const isIt = !isDone && (operations.length === 0 || operations.includes(operation))
    isDone ||= isIt
    return isIt ? fault : undefined
  }
}

const always =
  (fault: Fault, ...operations: readonly string[]): Faults =>
  (operation) =>
    operations.length === 0 || operations.includes(operation) ? fault : undefined

const writes = ['PutItem', 'UpdateItem'] as const
const owner = { apiVersion: 'example.com/v1', kind: 'Owner', name: 'any', uid: 'owner-1' }
const child = (name: string): StoredObject => storedWidget(name, { ownerReferences: [owner] })

/** Every method of every port, and what each throws when its writes may or may not be done. */
const acts: readonly {
  readonly name: string
  readonly isWrite?: true
  readonly act: (given: ReturnType<typeof options>, live: StoredObject) => Promise<unknown>
}[] = [
  { name: 'get', act: async (given, live) => createDynamodbStore(given).get(keyOf(live.object)) },
  { name: 'list', act: (given) => createDynamodbStore(given).list(widgetKind) },
  { name: 'create', isWrite: true, act: (given) => createDynamodbStore(given).create(child('new')) },
  { name: 'replace', isWrite: true, act: (given, live) => createDynamodbStore(given).replace(live, ['spec', 'meta']) },
  { name: 'remove', isWrite: true, act: (given, live) => createDynamodbStore(given).remove(live) },
  { name: 'childrenOf', act: (given) => createDynamodbIndex(given).childrenOf('owner-1') },
  { name: 'referrers', act: (given, live) => createDynamodbIndex(given).referrers(keyOf(live.object)) },
  { name: 'references', act: (given, live) => createDynamodbIndex(given).references(keyOf(live.object)) },
  {
    name: 'setReferences',
    act: (given, live) => createDynamodbIndex(given).setReferences(keyOf(live.object), [keyOf(live.object)]),
  },
  { name: 'due', act: (given) => createDynamodbIndex(given).due(widgetKind, 10, 10) },
  { name: 'onWheel', act: (given) => createDynamodbIndex(given).onWheel(widgetKind, 0, 3_600) },
  { name: 'follow', act: firstBatch },
  { name: 'load', act: (given) => createDynamodbCheckpoint({ ...given, name: 'x' }).load() },
  { name: 'save', act: (given) => createDynamodbCheckpoint({ ...given, name: 'x' }).save('5') },
]

async function firstBatch(given: ReturnType<typeof options>, live: StoredObject): Promise<unknown> {
  const after = live.object.metadata.resourceVersion
  const { signal } = new AbortController()
  for await (const { changes } of createDynamodbChangeFeed(given).follow({ after, of: widgetKind, signal }))
    return changes
  return undefined
}

/** A table with something of each sort, the object that the acts are about among it. */
async function prepared(): Promise<StoredObject> {
  const live = await sound.create({ ...child('live'), engine: { wakeAtMs: 5 } })
  const index = createDynamodbIndex({ client: dynalite.client, table, random, clock })
  await index.setReferences(keyOf(live.object), [{ ...keyOf(live.object), name: 'other' }])
  await createDynamodbCheckpoint({ client: dynalite.client, table, random, clock, name: 'x' }).save('4')
  return live
}

describe.each(pick(acts))('$name', ({ act, isWrite }) => {
  it('succeeds though each of its requests is throttled, and has no connection, before it is taken', async () => {
    const live = await prepared()
    const expected = await act(options(none), live).catch((error: unknown) => error)
    const other = await freshTable()
    const tries = new Map<string, number>()
    const faults: Faults = (operation, _, input) => {
      const request = `${operation} ${JSON.stringify(idOf(input))}`
      const count = tries.get(request) ?? 0
      tries.set(request, count + 1)
      return ([undefined, 'throttle', 'unreachable'] as const)[count < 2 ? count + 1 : 0]
    }
    expect(withoutVersions(await act(options(faults), other))).toEqual(withoutVersions(expected))
    expect(tries.size).toBeGreaterThan(0)
  })

  it('throws THROTTLED when all requests are, at the end of its patience, and says when to come back', async () => {
    const live = await prepared()
    const fresh = hastyClock()
    const error = await expectCode(act(options(always('throttle'), fresh), live), 'THROTTLED')
    expect(error.details.retryAfterSeconds).toBe(1)
    expect(fresh.sleptMs).toBeGreaterThan(3_000)
    expect(fresh.sleptMs).toBeLessThanOrEqual(5_000)
  })

  it('throws UNAVAILABLE when nothing can be reached, and at once when it is refused', async () => {
    const live = await prepared()
    await expectCode(act(options(always('unreachable')), live), 'UNAVAILABLE')
    const fresh = hastyClock()
    const elsewhere = { ...options(none, fresh), table: 'no-such-table' }
    await expectCode(act(elsewhere, live), 'UNAVAILABLE')
    expect(fresh.sleptMs).toBe(0)
  })

  it(`throws ${isWrite ? 'WRITE_UNKNOWN' : 'UNAVAILABLE'} when no answer ever comes`, async () => {
    const live = await prepared()
    const faults = isWrite ? always('lost', 'UpdateItem', 'PutItem', 'GetItem') : always('lost')
    const given = { ...live, object: { ...live.object } }
    const error = await act(options(faults), given).catch((reason: unknown) => reason)
    // Owners are noted first, and that may be done twice.
    const codes = isWrite ? (['WRITE_UNKNOWN', 'UNAVAILABLE'] as const) : (['UNAVAILABLE'] as const)
    expect(hasCode(error, ...codes)).toBe(true)
  })

  it('succeeds though an answer is lost, whichever', async () => {
    let sent = 1
    for (let lost = 0; lost < sent; lost += isLong ? 1 : 3) {
      const live = await freshTable()
      const faults: Faults = (_, count) => {
        sent = count + 1
        return count === lost ? 'answer lost' : undefined
      }
      await expect(act(options(faults), live)).resolves.not.toBeInstanceOf(Error)
    }
  })
})

/** The part of a request that says what it is about. */
// oxlint-disable-next-line typescript/no-explicit-any -- of any operation
function idOf({ Key, Item, ExpressionAttributeValues, IndexName, RequestItems }: any): unknown {
  return [Key, Item?.pk, ExpressionAttributeValues?.[':pk'], IndexName, RequestItems]
}

async function freshTable(): Promise<StoredObject> {
  table = `faults-${randomUUID()}`
  await createTestTable(dynalite.client, table)
  sound = createDynamodbStore({ client: dynalite.client, table, random, clock })
  return prepared()
}

function withoutVersions(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value ?? null, (key, inner: unknown) => (key === 'resourceVersion' ? '' : inner)),
  ) as unknown
}

describe('a write whose answer is lost', () => {
  const losses = ['answer lost', 'lost', 'late', 'broken', 'broken after', 'garbled', 'skewed'] as const

  it.each(losses)('is done once: create, %s', async (fault) => {
    const created = await storeWith(once(fault, 'PutItem')).create(storedWidget('a'))
    expect(await sound.get(keyOf(created.object))).toEqual(created)
  })

  it.each(losses)('is done once: replace, %s', async (fault) => {
    const live = await sound.create(storedWidget('a'))
    const written = await storeWith(once(fault, 'UpdateItem')).replace(withSpec(live, { size: 2 }), ['spec'])
    expect(written.object.spec).toEqual({ size: 2 })
    expect(await sound.get(keyOf(live.object))).toEqual(written)
  })

  it.each(losses)('is done once: remove, %s', async (fault) => {
    const live = await sound.create(storedWidget('a'))
    const removed = await storeWith(once(fault, 'UpdateItem')).remove(live)
    expect(versionOf(removed)).toBeGreaterThan(versionOf(live))
    expect(await sound.get(keyOf(live.object))).toBeUndefined()
  })

  it.each(losses)('is done once: create over a tombstone, %s', async (fault) => {
    await sound.remove(await sound.create(storedWidget('a', { uid: 'first' })))
    await clock.sleep(10)
    const created = await storeWith(once(fault, 'PutItem')).create(storedWidget('a', { uid: 'second' }))
    expect(await sound.get(keyOf(created.object))).toEqual(created)
  })

  it('is known again though the failed condition tells no item', async () => {
    const live = await sound.create(storedWidget('a'))
    let updates = 0
    const lossy: Faults = (operation) =>
      operation !== 'UpdateItem' ? undefined : updates++ === 0 ? 'answer lost' : 'without item'
    const written = await storeWith(lossy).replace(live, ['spec'])
    expect(updates).toBe(2)
    expect(await sound.get(keyOf(live.object))).toEqual(written)
  })

  it('is known again though the SDK has sent it twice by itself', async () => {
    let sent = 0
    const lossy: Faults = (operation) =>
      writes.some((one) => one === operation) && sent++ === 0 ? 'broken after' : undefined
    const created = await retryingStore(lossy).create(storedWidget('a'))
    expect(sent).toBe(2)
    expect(await sound.get(keyOf(created.object))).toEqual(created)
  })

  it.each([
    { faults: ['broken after'], because: 'the condition of the second attempt fails' },
    { faults: ['broken after', 'throttle', 'throttle'], because: 'the last attempt is throttled' },
  ] as const)('is WRITE_UNKNOWN though it was the SDK that repeated it, and $because', async ({ faults }) => {
    const live = await sound.create(storedWidget('a'))
    let sent = 0
    const lossy: Faults = (operation) => (operation === 'UpdateItem' ? faults[sent++] : undefined)
    const store = retryingStore(lossy, async () => {
      if (sent === 1) await sound.replace((await sound.get(keyOf(live.object))) as StoredObject, ['status'])
    })
    await expectCode(store.replace(withSpec(live, { size: 2 }), ['spec']), 'WRITE_UNKNOWN')
    expect(sent).toBe(faults.length + 1)
  })

  /** With a client that retries by itself. `between`: called before each request. */
  function retryingStore(faults: Faults, between: () => Promise<void> = async () => {}): ObjectStore {
    const faulty = faultyTransport(dynalite.transport, faults)
    const client = createDynamodbClient({
      maxAttempts: 3,
      region: 'us-east-1',
      credentials: testCredentials,
      requestHandler: {
        handle: async (request: Parameters<typeof faulty.handle>[0]) => {
          await between()
          return faulty.handle(request)
        },
      } as never,
    })
    return createDynamodbStore({ client, table, random, clock })
  }

  it('is WRITE_UNKNOWN when somebody has written since: it may have been done before', async () => {
    const live = await sound.create(storedWidget('a'))
    const overtaken = once('answer lost', 'UpdateItem')
    const interfering = { ...clock, sleep: overwrite, nowMs: clock.nowMs }
    const store = createDynamodbStore({ ...options(overtaken), clock: interfering })
    await expectCode(store.replace(withSpec(live, { size: 2 }), ['spec']), 'WRITE_UNKNOWN')

    async function overwrite(): Promise<void> {
      await sound.replace((await sound.get(keyOf(live.object))) as StoredObject, ['status'])
    }
  })

  it('is a conflict when what is there is older than its first attempt: it was not done', async () => {
    const live = await sound.create(storedWidget('a'))
    await sound.replace(live, ['status'])
    await clock.sleep(10)
    await expectCode(storeWith(once('lost', 'UpdateItem')).replace(live, ['spec']), 'VERSION_CONFLICT')
    await expectCode(storeWith(once('lost', 'PutItem')).create(storedWidget('a')), 'ALREADY_EXISTS')
  })

  it('is a creation that somebody has written on since', async () => {
    const lossy = once('answer lost', 'PutItem')
    const interfering = { ...clock, sleep: overwrite, nowMs: clock.nowMs }
    const store = createDynamodbStore({ ...options(lossy), clock: interfering })
    const created = await store.create(storedWidget('a'))
    expect(created).toEqual(await sound.get(keyOf(created.object)))

    async function overwrite(): Promise<void> {
      await sound.replace((await sound.get(keyOf(storedWidget('a').object))) as StoredObject, ['status'])
    }
  })

  it('is found by reading when every repetition is lost', async () => {
    const live = await sound.create(storedWidget('a'))
    let updates = 0
    const lossy: Faults = (operation) =>
      operation !== 'UpdateItem' ? undefined : updates++ === 0 ? 'answer lost' : 'lost'
    const written = await storeWith(lossy).replace(live, ['spec'])
    expect(await sound.get(keyOf(live.object))).toEqual(written)
  })

  it.each([0, 30_000, 58_000, 59_990])(
    'is found, or WRITE_UNKNOWN, though all else is away behind its lost answer, %d ms after the last note of its kind',
    async (ageMs) => {
      let untilMs = Infinity
      const lossy: Faults = (operation) => {
        if (untilMs < Infinity) return clock.nowMs() < untilMs ? 'lost' : undefined
        const isFirst = operation === 'UpdateItem'
        if (isFirst) untilMs = clock.nowMs() + 5_500
        return isFirst ? 'answer lost' : undefined
      }
      const store = storeWith(lossy)
      const live = await store.create(storedWidget('a'))
      await clock.sleep(ageMs)
      const code = await store.replace(withSpec(live, { size: 2 }), ['spec']).then(
        () => 'done',
        (error: unknown) => (hasCode(error, 'WRITE_UNKNOWN') ? error.code : String(error)),
      )
      expect(['done', 'WRITE_UNKNOWN']).toContain(code)
      expect((await sound.get(keyOf(live.object)))?.object.spec).toEqual({ size: 2 })
    },
  )

  it('is WRITE_UNKNOWN when reading tells that it is not there: it may yet be done', async () => {
    const live = await sound.create(storedWidget('a'))
    await expectCode(storeWith(always('lost', 'UpdateItem')).replace(live, ['spec']), 'WRITE_UNKNOWN')
  })
})

describe('what a write does besides', () => {
  it('notes owners before the object, so that no child is missed', async () => {
    let noted: readonly unknown[] = []
    const index = createDynamodbIndex({ client: dynalite.client, table, random, clock })
    const transport = {
      handle: async (request: Parameters<typeof dynalite.transport.handle>[0]) => {
        const isObject = bufferOf(request.body).toString().includes('"doc"')
        if (isObject) noted = await index.childrenOf('owner-1')
        return dynalite.transport.handle(request)
      },
    }
    await createDynamodbStore({ client: testClient(transport), table, random, clock }).create(child('a'))
    expect(noted).toHaveLength(1)
  })

  it('keeps the entry of an owner that a later write has named again', async () => {
    const index = createDynamodbIndex({ client: dynalite.client, table, random, clock })
    const live = await sound.create(child('a'))
    let adopted: StoredObject | undefined
    const slow = {
      handle: async (request: Parameters<typeof dynalite.transport.handle>[0]) => {
        if (request.headers['x-amz-target']?.endsWith('DeleteItem')) {
          const orphan = (await sound.get(keyOf(live.object))) as StoredObject
          adopted = await sound.replace(withMetadata(orphan, { ownerReferences: [owner] }), ['meta'])
        }
        return dynalite.transport.handle(request)
      },
    }
    const store = createDynamodbStore({ client: testClient(slow), table, random, clock })
    await store.replace(withMetadata(live, { ownerReferences: [] }), ['meta'])
    expect(adopted).toBeDefined()
    expect(await index.childrenOf('owner-1')).toEqual([keyOf(live.object)])
  })

  it('keeps the entry of a later write though an earlier one comes late and fails', async () => {
    const entries = createOwnerEntries({ client: dynalite.client, table, random, clock })
    const { object } = child('a')
    await entries.add(object, 20)
    await entries.add(object, 10)
    await entries.drop(withMetadata(child('a'), { resourceVersion: '15' }).object, ['owner-1'])
    expect(await entries.childrenOf('owner-1')).toEqual([keyOf(object)])
    await entries.drop(withMetadata(child('a'), { resourceVersion: '21' }).object, ['owner-1'])
    expect(await entries.childrenOf('owner-1')).toEqual([])
  })

  it('drops no references that were noted after the removal: they are those of the next object of its name', async () => {
    const entries = createReferenceEntries({ client: dynalite.client, table, random, clock })
    const live = await sound.create(child('a'))
    const referrer = keyOf(live.object)
    const target = { ...referrer, name: 'target' }
    const removed = await sound.remove(live)
    await sound.create(child('a'))
    await clock.sleep(1)
    await entries.set(referrer, [target])
    await entries.drop(referrer, versionOf(removed), async () => true)
    expect(await entries.referrers(target)).toEqual([referrer])
    await clock.sleep(1)
    await entries.drop(referrer, (clock.nowMs() + 1) * 1_000, async () => true)
    expect(await entries.referrers(target)).toEqual([])
  })

  it('names what is damaged in a list, and reads, removes and tells the others', async () => {
    const live = await sound.create(child('a'))
    await sound.create(child('b'))
    const { pk, sk } = objectItemKey(keyOf(live.object))
    await dynalite.client.send(
      new UpdateItemCommand({
        TableName: table,
        Key: { pk, sk },
        UpdateExpression: 'SET doc = :doc',
        ExpressionAttributeValues: { ':doc': { S: '{"kind":' } },
      }),
    )
    const kind = { group: keyOf(live.object).group, kind: live.object.kind }
    const { items, damaged } = await sound.list(kind)
    expect([items.map(({ object }) => object.metadata.name), damaged]).toEqual([['b'], [keyOf(live.object)]])
    const { uid, resourceVersion } = live.object.metadata
    await expect(sound.get(keyOf(live.object))).rejects.toMatchObject({
      code: 'DAMAGED',
      remains: { uid, resourceVersion },
    })
    await sound.remove(live)
    expect(await sound.get(keyOf(live.object))).toBeUndefined()
  })

  it('succeeds though entries that are no longer needed cannot be dropped', async () => {
    const live = await sound.create(child('a'))
    await storeWith(always('throttle', 'DeleteItem')).remove(live)
    expect(await sound.get(keyOf(live.object))).toBeUndefined()
  })

  it('keeps the last state of a name that is taken again, for whoever follows', async () => {
    const after = String(clock.nowMs() * 1_000 - 1)
    await sound.remove(await sound.create(withSpec(storedWidget('a', { uid: 'first' }), { size: 7 })))
    await sound.create(storedWidget('a', { uid: 'second' }))
    const { signal } = new AbortController()
    const feed = createDynamodbChangeFeed({ client: dynalite.client, table, random, clock })
    for await (const { changes } of feed.follow({ after, of: widgetKind, signal })) {
      expect(changes).toMatchObject([
        { type: 'removed', stored: { object: { spec: { size: 7 } } } },
        { type: 'added', stored: { object: { metadata: { uid: 'second' } } } },
      ])
      break
    }
  })
})

describe('batches', () => {
  it('are sent again for what was left undone', async () => {
    const { object } = await sound.create(storedWidget('a'))
    const targets = Array.from({ length: 40 }, (_, i) => ({ ...widgetKind, namespace: 'default', name: `t${i}` }))
    let batches = 0
    const partial: Faults = (operation) => (operation.startsWith('Batch') && batches++ < 5 ? 'unprocessed' : undefined)
    await createDynamodbIndex(options(partial)).setReferences(keyOf(object), targets)
    expect(batches).toBeGreaterThan(2)
    const index = createDynamodbIndex({ client: dynalite.client, table, random, clock })
    for (const target of targets) expect(await index.referrers(target)).toEqual([keyOf(object)])
  })

  it('of changes are told whole though parts of them come late', async () => {
    await Promise.all(Array.from({ length: 30 }, (_, i) => sound.create(storedWidget(`w${i}`))))
    let batches = 0
    const partial: Faults = (operation) => (operation === 'BatchGetItem' && batches++ < 5 ? 'unprocessed' : undefined)
    const changes = await firstBatch(options(partial), await sound.create(storedWidget('last')))
    expect(changes).toHaveLength(31)
  })
})

describe('clocks that are five seconds apart', () => {
  it('lose no write, and versions grow whoever writes', async () => {
    const stores = [-5_000, 0, 5_000].map((skewMs) =>
      createDynamodbStore({ client: dynalite.client, table, random, clock: hastyClock(skewMs) }),
    )
    let live = await sound.create(withSpec(storedWidget('a'), { writes: 0 }))
    for (let i = 1; i <= 30; i++) {
      const store = stores[i % 3] as ObjectStore
      const written = await store.replace(withSpec(live, { writes: i }), ['spec'])
      expect(versionOf(written)).toBeGreaterThan(versionOf(live))
      live = written
    }
    expect(await sound.get(keyOf(live.object))).toEqual(live)
  })

  it('let a name be taken again, under a higher version', async () => {
    const ahead = createDynamodbStore({ client: dynalite.client, table, random, clock: hastyClock(5_000) })
    const behind = createDynamodbStore({ client: dynalite.client, table, random, clock: hastyClock(-5_000) })
    const removed = await ahead.remove(await ahead.create(child('a')))
    const second = await behind.create(withMetadata(child('a'), { uid: 'second' }))
    expect(versionOf(second)).toBeGreaterThan(versionOf(removed))
    const index = createDynamodbIndex({ client: dynalite.client, table, random, clock })
    expect(await index.childrenOf('owner-1')).toEqual([keyOf(second.object)])
  })

  it('hide no write from whoever has followed for a while', async () => {
    const stop = new AbortController()
    const feed = createDynamodbChangeFeed({ client: dynalite.client, table, random, clock })
    const names: string[] = []
    let looks = 0
    const paced: Clock = {
      nowMs: () => clock.nowMs(),
      sleep: async (ms) => {
        await clock.sleep(ms)
        looks++
        if (looks === 10) {
          for (const skewMs of [-5_000, 5_000]) {
            const skewed = hastyClock(skewMs + clock.sleptMs)
            await createDynamodbStore({ client: dynalite.client, table, random, clock: skewed }).create(
              storedWidget(`w${skewMs}`),
            )
          }
        }
        if (looks === 20) stop.abort()
      },
    }
    const follower = createDynamodbChangeFeed({ client: dynalite.client, table, random, clock: paced })
    for await (const { changes } of follower.follow({
      after: await feed.latest(),
      of: widgetKind,
      signal: stop.signal,
    }))
      for (const { stored } of changes) names.push(stored.object.metadata.name)
    expect(names.toSorted()).toEqual(['w-5000', 'w5000'])
  })
})

describe('writers of one object that race, while requests go wrong', () => {
  const kinds: readonly Fault[] = [
    'throttle',
    'unreachable',
    'lost',
    'answer lost',
    'late',
    'broken',
    'broken after',
    'garbled',
    'skewed',
  ]

  it.each([1, 2, 3, 4, 5])('write what they were told they wrote, once, and nothing else: seed %i', async (seed) => {
    const chance = createSeededRandom(seed)
    const faults: Faults = () => (chance.next() < 0.2 ? kinds[Math.floor(chance.next() * kinds.length)] : undefined)
    const { object } = await sound.create(withSpec(storedWidget('a'), { log: [] }))
    const told = { written: new Set<string>(), refused: new Set<string>(), unknown: new Set<string>() }

    const writer = async (name: string): Promise<void> => {
      const store = storeWith(faults)
      for (let i = 0; i < 12; i++) {
        const entry = `${name}${i}`
        const [read] = await Promise.allSettled([store.get(keyOf(object))])
        if (read.status === 'rejected') continue
        const live = read.value as StoredObject
        const next = withSpec(live, { log: [...logOf(live), entry] })
        const outcome = await store.replace(next, ['spec']).then(
          () => 'written' as const,
          (error: unknown) => {
            if (hasCode(error, 'WRITE_UNKNOWN')) return 'unknown'
            expect(hasCode(error, 'VERSION_CONFLICT', 'THROTTLED', 'UNAVAILABLE')).toBe(true)
            return 'refused'
          },
        )
        told[outcome].add(entry)
      }
    }
    await Promise.all(['a', 'b', 'c', 'd'].map(writer))

    const log = logOf(await sound.get(keyOf(object)))
    expect(new Set(log).size).toBe(log.length)
    expect([...told.written].filter((entry) => !log.includes(entry))).toEqual([])
    expect(log.filter((entry) => told.refused.has(entry))).toEqual([])
    expect(told.written.size).toBeGreaterThan(0)
  })
})

function logOf(stored: StoredObject | undefined): readonly string[] {
  return (stored?.object.spec?.['log'] ?? []) as string[]
}

describe('a list while writes go on', () => {
  it('holds what was there throughout, each once and in order, page by page', async () => {
    const steady = Array.from({ length: 60 }, (_, i) => `s${String(i).padStart(2, '0')}`)
    await Promise.all(steady.map((name) => sound.create(storedWidget(name))))
    let isOver = false
    const churn = async (n: number): Promise<void> => {
      for (let i = 0; !isOver; i++) {
        const live = await sound.create(storedWidget(`s${n}${i % 5}-extra`, { uid: randomUUID() }))
        await sound.remove(await sound.replace(live, ['spec']))
        const one = (await sound.get({
          ...widgetKind,
          namespace: 'default',
          name: steady[i % 60] ?? '',
        })) as StoredObject
        await sound
          .replace(one, ['status'])
          .catch((error: unknown) => expect(hasCode(error, 'VERSION_CONFLICT')).toBe(true))
      }
    }
    const churning = Promise.all([1, 2, 3].map(churn))
    for (let round = 0; round < 5; round++) {
      const seen: string[] = []
      let after: { namespace: string; name: string } | undefined
      for (let more = true; more;) {
        const page = await sound.list({ ...widgetKind, limit: 7, ...(after !== undefined && { after }) })
        for (const { object } of page.items) seen.push(object.metadata.name)
        after = { namespace: 'default', name: seen.at(-1) ?? '' }
        more = page.more
      }
      expect(seen).toEqual(seen.toSorted())
      expect(seen.filter((name) => !name.endsWith('-extra'))).toEqual(steady)
    }
    isOver = true
    await churning
  })
})

it('references are not taken away by requests for an older state that come late', async () => {
  const key = keyOf((await prepared()).object)
  const [first, second] = [
    { ...key, name: 'first' },
    { ...key, name: 'second' },
  ]
  const sent: TransportRequest[] = []
  const noting: Transport = {
    handle: (request) => {
      if (/PutItem|DeleteItem|BatchWriteItem/.test(request.headers['x-amz-target'] ?? '')) sent.push(request)
      return dynalite.transport.handle(request)
    },
  }
  const index = createDynamodbIndex({ ...options(none), client: testClient(noting) })
  await index.setReferences(key, [first])
  sent.length = 0
  await index.setReferences(key, [second])
  const late = [...sent]
  await index.setReferences(key, [first])
  for (const request of late) await dynalite.transport.handle(request)
  expect((await index.references(key)).map(({ name }) => name)).toEqual(['first'])
  await index.setReferences(key, [first])
  expect(await index.referrers(first)).toEqual([key])

  await index.setReferences(key, [])
  for (const request of late) await dynalite.transport.handle(request)
  await index.setReferences(key, [first])
  expect(await index.referrers(first)).toEqual([key])
})

it('what refers to ten thousand others fits into an item', longOnly, async () => {
  const key = keyOf((await prepared()).object)
  const targets = Array.from({ length: 10_000 }, (_, i) => ({ ...key, name: `a-target-with-a-name-of-its-own-${i}` }))
  const index = createDynamodbIndex(options(none))
  await index.setReferences(key, targets)
  expect(await index.references(key)).toHaveLength(10_000)
  expect(await index.referrers(targets[9_999] ?? key)).toEqual([key])
})
