import { randomUUID } from 'node:crypto'
import { ThrottlingException } from '@aws-sdk/client-dynamodb'
import fc from 'fast-check'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { createDynamodbChangeFeed } from '../../shared/adapters/aws/dynamodb/dynamodb-change-feed.ts'
import { createRecordings, type Recordings } from '../../shared/adapters/aws/dynamodb/dynamodb-recordings.ts'
import type { DynamodbOptions } from '../../shared/adapters/aws/dynamodb/dynamodb-requests.ts'
import { createDynamodbStore } from '../../shared/adapters/aws/dynamodb/dynamodb-store.ts'
import { createSeededRandom } from '../../shared/testing/seeded-random.ts'
import { countAwsRequests } from '../support/aws-requests.ts'
import { createTestTable, startDynalite } from '../../shared/testing-aws/dynalite.ts'
import { storedWidget, widgetKind, withSpec } from '../support/stored-object.ts'
import { createVirtualClock, type VirtualClock } from '../support/virtual-clock.ts'

/** Which kinds are in the index `feed`, and over how many buckets: known to writers before readers rely on it. */
const dynalite = await startDynalite()
const requests = countAwsRequests(dynalite.client)
afterAll(dynalite.close)

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const widget = { ...widgetKind, namespace: 'default', name: 'a' }

let clock: VirtualClock
let options: DynamodbOptions

beforeEach(async () => {
  clock = createVirtualClock()
  options = { client: dynalite.client, table: `recordings-${randomUUID()}`, clock, random: createSeededRandom(1) }
  await createTestTable(dynalite.client, options.table)
  requests.take()
})

/** To when somebody wakes who sleeps: requests take no time. */
async function pass(): Promise<void> {
  const dueMs = clock.nextDueMs()
  if (dueMs !== undefined) clock.moveTo(dueMs)
  await new Promise((resolve) => {
    setTimeout(resolve, 1)
  })
}

const bucketsOf = async (recordings: Recordings): Promise<number> =>
  (await recordings.listPartitions(widgetKind)).length

describe('a kind', () => {
  it('is recorded while it is watched, and for a day', async () => {
    const [writer, reader] = [createRecordings(options), createRecordings(options)]
    expect(await writer.findEntry(widget)).toMatchObject({ isRecorded: false })
    const sureMs = await reader.record(widgetKind)
    expect(sureMs).toBe(clock.nowMs() + 16 * minuteMs)
    expect(await writer.findEntry(widget)).toMatchObject({ isRecorded: false })
    await clock.advance(minuteMs)
    expect(await writer.findEntry(widget)).toMatchObject({ isRecorded: true })
    await clock.advance(13 * hourMs)
    expect(await reader.record(widgetKind)).toBe(sureMs)
    await clock.advance(23 * hourMs)
    expect(await writer.findEntry(widget)).toMatchObject({ isRecorded: true })
    await clock.advance(hourMs)
    expect(await writer.findEntry(widget)).toMatchObject({ isRecorded: false })
  })

  it('is sure a minute after it is noted, where functions of an earlier version have ended', async () => {
    const recordings = createRecordings(options)
    await recordings.record({ ...widgetKind, kind: 'Gadget' })
    await clock.advance(16 * minuteMs)
    expect(await recordings.record(widgetKind)).toBe(clock.nowMs() + 70_000)
  })

  it.each([
    ['more than seventy seconds', 70_001, 0],
    ['seventy seconds', 70_000, 70_000],
    ['a moment', 1, 70_000],
  ])('that is noted anew %s ahead of its end is sure once all who write know it', async (_, aheadMs, surelyMs) => {
    const sureMs = await createRecordings(options).record(widgetKind)
    await clock.advance(24 * hourMs - aheadMs)
    const anew = await createRecordings(options).record(widgetKind)
    expect(anew).toBe(surelyMs === 0 ? sureMs : clock.nowMs() + surelyMs)
  })

  it('has no entry while nobody watches it', async () => {
    const store = createDynamodbStore(options)
    const live = await store.create(storedWidget('a'))
    requests.take()
    await store.replace(withSpec(live, { size: 2 }), ['spec'])
    expect(requests.take()).toMatchObject({ writeUnits: 1, indexUnits: {} })
  })

  it('is noted once by many readers at a time', async () => {
    const readers = Array.from({ length: 5 }, () => createRecordings(options))
    const answers = await Promise.all(readers.map(({ record }) => record(widgetKind)))
    expect(new Set(answers).size).toBe(1)
  })

  it('is not noted where others are first each time: after ten tries that is said', async () => {
    let others = 0
    const client = Object.assign(Object.create(dynalite.client) as DynamodbOptions['client'], {
      send: async (command: { readonly constructor: { readonly name: string } }): Promise<unknown> => {
        const isNote = command.constructor.name === 'UpdateItemCommand'
        if (isNote) await createRecordings(options).record({ ...widgetKind, kind: `Other${others++}` })
        if (isNote) throw Object.assign(new Error('the condition'), { name: 'ConditionalCheckFailedException' })
        return dynalite.client.send(command as never)
      },
    })
    await expect(createRecordings({ ...options, client }).record(widgetKind)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('Widget') as string,
    })
    expect(others).toBe(10)
  })

  it('is asked for once a minute, however many writes there are', async () => {
    const recordings = createRecordings(options)
    await Promise.all(Array.from({ length: 10 }, () => recordings.findEntry(widget)))
    await clock.advance(59_000)
    await recordings.findEntry(widget)
    expect(requests.take().calls).toEqual({ GetItem: 1 })
  })
})

describe('the buckets of a kind', () => {
  it('become twice as many two minutes after one of them takes no more, up to 64; readers know before', async () => {
    const [writer, reader] = [createRecordings(options), createRecordings(options)]
    const seen: number[] = []
    for (let minute = 0; minute < 20; minute++) {
      await Promise.all([writer.spread(widgetKind), createRecordings(options).spread(widgetKind)])
      seen.push(await bucketsOf(reader))
      await clock.advance(minuteMs)
    }
    expect([...new Set(seen)]).toEqual([16, 32, 64])
    expect(await bucketsOf(reader)).toBe(64)
  })

  it('grow when DynamoDB says that a partition of the index is full, and for no other throttle', async () => {
    const failures = [throttleOf('IndexWriteKeyRangeThroughputExceeded', 'feed')]
    const others = [
      throttleOf('IndexWriteKeyRangeThroughputExceeded', 'due'),
      throttleOf('TableWriteKeyRangeThroughputExceeded'),
    ]
    for (const [failing, count] of [
      [others, 8],
      [failures, 16],
    ] as const) {
      const store = createDynamodbStore({ ...options, client: failingOnce(failing) })
      let isDone = false
      const creation = store.create(storedWidget(`w${count}`)).finally(() => (isDone = true))
      while (!isDone) await pass()
      await creation
      expect(await bucketsOf(createRecordings(options))).toBe(count)
    }
  })

  it('hold every write where a reader looks for it, whatever the notes of those who write are', async () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 5 * minuteMs }) }),
      fc.record({ do: fc.constant('spread' as const), by: fc.nat(2) }),
      fc.record({ do: fc.constant('record' as const) }),
      fc.record({ do: fc.constant('write' as const), by: fc.nat(2), name: fc.integer({ min: 0, max: 9 }) }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const own = { ...options, table: `recordings-${randomUUID()}` }
        await createTestTable(dynalite.client, own.table)
        const reader = createRecordings(own)
        const writers = [reader, createRecordings(own), createRecordings(own)]
        let sureMs = Infinity
        for (const one of steps) {
          if (one.do === 'wait') await clock.advance(one.ms)
          else if (one.do === 'spread') await writers[one.by]?.spread(widgetKind)
          else if (one.do === 'record') sureMs = await reader.record(widgetKind)
          else {
            const entry = await writers[one.by]?.findEntry({ ...widget, name: `w${one.name}` })
            expect(await reader.listPartitions(widgetKind)).toContain(entry?.partition)
            if (clock.nowMs() > sureMs) expect(entry?.isRecorded).toBe(true)
          }
        }
      }),
      { numRuns: 30 },
    )
  })
})

it('a watch of a kind that nobody watched is told all, and the same when the index has taken over', async () => {
  const store = createDynamodbStore(options)
  const feed = createDynamodbChangeFeed({ ...options, pollMs: 20_000 })
  const start = await feed.latest()
  let live = await store.create(storedWidget('a'))
  const stop = new AbortController()
  const told: string[] = []
  const reading = (async () => {
    for await (const { changes } of feed.follow({ after: start, of: widgetKind, signal: stop.signal }))
      told.push(...changes.map(({ stored }) => String(stored.object.spec?.['size'] as number)))
  })()
  for (let minute = 1; minute <= 19; minute++) {
    live = await store.replace(withSpec(live, { size: minute }), ['spec'])
    while (told.at(-1) !== `${minute}`) await pass()
    for (let look = 0; look < 3; look++) await pass()
  }
  // Eight queries of the index at half the price, and not of the objects.
  requests.take()
  await pass()
  expect(requests.take().readUnits).toBeLessThanOrEqual(5)
  stop.abort()
  await reading
  expect(new Set(told).size).toBe(told.length)
})

function throttleOf(reason: string, index?: string): Error {
  const table = 'arn:aws:dynamodb:us-east-1:123456789012:table/objects'
  const resource = index === undefined ? table : `${table}/index/${index}`
  return new ThrottlingException({ message: 'slowly', $metadata: {}, throttlingReasons: [{ reason, resource }] })
}

/** Its writes fail so, each with one of these; then they succeed. */
function failingOnce(failures: readonly Error[]): DynamodbOptions['client'] {
  const left = [...failures]
  const send = async (command: { readonly constructor: { readonly name: string } }): Promise<unknown> => {
    const failure = command.constructor.name === 'PutItemCommand' ? left.shift() : undefined
    if (failure !== undefined) throw failure
    return dynalite.client.send(command as never)
  }
  return Object.assign(Object.create(dynalite.client) as DynamodbOptions['client'], { send })
}
