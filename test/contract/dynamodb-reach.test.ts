import { randomUUID } from 'node:crypto'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { createDynamodbChangeFeed } from '../../shared/adapters/aws/dynamodb/dynamodb-change-feed.ts'
import { createDynamodbCheckpoint } from '../../shared/adapters/aws/dynamodb/dynamodb-checkpoint.ts'
import type { DynamodbOptions } from '../../shared/adapters/aws/dynamodb/dynamodb-requests.ts'
import { createDynamodbNetted } from '../../shared/adapters/aws/dynamodb/dynamodb-netted.ts'
import { createDynamodbStore } from '../../shared/adapters/aws/dynamodb/dynamodb-store.ts'
import { createDynamodbIndex } from '../../shared/adapters/aws/dynamodb/dynamodb-index.ts'
import { netAfterMs } from '../../shared/model/engine-state.ts'
import type { ChangeBatch, ChangeFeed } from '../../shared/ports/change-feed.ts'
import type { ObjectStore } from '../../shared/ports/object-store.ts'
import { createSeededRandom } from '../../shared/testing/seeded-random.ts'
import { createTestTable, startDynalite, testClient, type Transport } from '../../shared/testing-aws/dynalite.ts'
import { recordLongSince } from '../support/dynamodb.ts'
import { expectCode } from '../support/expect-code.ts'
import { storedWidget, widgetKind, withSpec } from '../support/stored-object.ts'
import { createVirtualClock, type VirtualClock } from '../support/virtual-clock.ts'
import { longOnly } from '../support/strength.ts'

const dynalite = await startDynalite()
afterAll(dynalite.close)
const { signal } = new AbortController()

let clock: VirtualClock
let options: DynamodbOptions & { readonly clock: VirtualClock }
let store: ObjectStore
let feed: ChangeFeed

beforeEach(async () => {
  clock = createVirtualClock()
  options = { client: dynalite.client, table: `reach-${randomUUID()}`, clock, random: createSeededRandom(1) }
  await createTestTable(dynalite.client, options.table)
  store = createDynamodbStore(options)
  feed = createDynamodbChangeFeed(options)
  await recordLongSince(options, [widgetKind])
})

const firstBatch = async (after: string): Promise<ChangeBatch | undefined> => {
  for await (const batch of feed.follow({ after, of: widgetKind, signal })) return batch
  return undefined
}
const createAndRemove = async (name: string, uid = name): Promise<void> => {
  await store.remove(await store.create(storedWidget(name, { uid })))
}
const told = (batch: ChangeBatch | undefined): readonly string[] =>
  (batch?.changes ?? []).map(({ type, stored }) => `${type} ${stored.object.metadata.uid}`)

describe('how far the DynamoDB feed reaches back', () => {
  it('tells a removal for an hour, also of a name that was taken again', async () => {
    const start = await feed.latest()
    await createAndRemove('a')
    await clock.advance(1)
    await createAndRemove('b', 'first')
    await clock.advance(10_000)
    await store.create(storedWidget('b', { uid: 'second' }))
    await clock.advance(3_580_000)
    expect(told(await firstBatch(start))).toEqual(['removed a', 'removed first', 'added second'])
  })

  it('throws EXPIRED for what is older', async () => {
    const start = await feed.latest()
    await clock.advance(3_600_001)
    await expectCode(firstBatch(start), 'EXPIRED')
    await expectCode(firstBatch('1'), 'EXPIRED')
    await expectCode(firstBatch('no number'), 'EXPIRED')
  })

  it('ends the pages of a list that nobody can follow any more', async () => {
    for (const name of ['a', 'b']) await store.create(storedWidget(name))
    const { resourceVersion: asOf } = await store.list({ ...widgetKind, limit: 1 })
    const next = { ...widgetKind, after: { namespace: 'default', name: 'a' }, asOf }
    await clock.advance(3_600_000 - 1)
    expect((await store.list(next)).items).toHaveLength(1)
    await clock.advance(2)
    await expectCode(store.list(next), 'EXPIRED')
    await expectCode(store.list({ ...next, asOf: 'no number' }), 'EXPIRED')
  })

  it('throws EXPIRED for what another table may have told, but for what was told a moment ago', async () => {
    const usedSinceMs = clock.nowMs() + 100_000
    feed = createDynamodbChangeFeed({ ...options, usedSinceMs: async () => usedSinceMs })
    const start = await feed.latest()
    expect(told(await firstBatch(start))).toEqual([])
    await clock.advance(1_001)
    await expectCode(firstBatch(start), 'EXPIRED')
    await clock.advance(98_990)
    const late = await feed.latest()
    await clock.advance(60_000)
    await expectCode(firstBatch(late), 'EXPIRED')
    const after = String((usedSinceMs + 1) * 1_000)
    expect(told(await firstBatch(after))).toEqual([])
  })

  it('takes a number ahead of its clock for now', async () => {
    await store.create(storedWidget('a'))
    expect(told(await firstBatch(String((clock.nowMs() + 60_000) * 1_000)))).toEqual(['added uid-default-a'])
  })

  it('keeps nothing of a name whose removal nobody is told of any more', async () => {
    await createAndRemove('a', 'first')
    await clock.advance(3_700_000)
    const start = await feed.latest()
    await store.create(storedWidget('a', { uid: 'second' }))
    expect(told(await firstBatch(start))).toEqual(['added second'])
  })
})

describe('a reader of the DynamoDB feed', () => {
  it('is told several writes between two looks as one, with all that they touched', async () => {
    const live = await store.create(storedWidget('a'))
    await clock.advance(5_000)
    const start = await feed.latest()
    const edited = await store.replace(withSpec(live, { size: 2 }), ['spec'])
    const last = await store.replace(await store.replace(edited, ['status']), ['engine'])
    const batch = await firstBatch(start)
    expect(batch?.changes).toEqual([{ type: 'modified', touched: ['spec', 'status', 'engine'], stored: last }])
  })

  it('is told now and then that nothing happens', async () => {
    const stop = new AbortController()
    const batches: string[] = []
    const reading = (async () => {
      for await (const { resourceVersion } of feed.follow({
        after: await feed.latest(),
        of: widgetKind,
        signal: stop.signal,
      }))
        batches.push(resourceVersion)
    })()
    const startMs = clock.nowMs()
    while (batches.length < 3) {
      await new Promise((resolve) => {
        setTimeout(resolve, 5)
      })
      await clock.advance(250)
    }
    stop.abort()
    await reading
    expect(clock.nowMs() - startMs).toBeGreaterThanOrEqual(10_000)
  })

  it('gets what is far behind in batches, each of which it can go on from', longOnly, async () => {
    const start = await feed.latest()
    for (let minute = 0; minute < 13; minute++) {
      await Promise.all(Array.from({ length: 100 }, (_, i) => store.create(storedWidget(`w${minute}-${i}`))))
      await clock.advance(60_000)
    }
    const names = new Set<string>()
    let [after, sizes, count]: [string, number[], number] = [start, [], 0]
    while (names.size < 1_300) {
      const batch = await firstBatch(after)
      sizes = [...sizes, batch?.changes.length ?? 0]
      for (const { stored } of batch?.changes ?? []) names.add(stored.object.metadata.name)
      after = batch?.resourceVersion ?? after
      expect(count++).toBeLessThan(10)
    }
    expect(Math.max(...sizes)).toBeLessThanOrEqual(500)
    expect(sizes.length).toBeGreaterThanOrEqual(3)
  })

  describe('is not told of a removal after the next object of the name, though', () => {
    interface Entry {
      readonly sk: { readonly S: string }
      readonly rv: { readonly N: string }
    }

    /** Follows from the start while the index lags: what it shows of a partition at the first look. */
    async function followed(
      after: string,
      shown: (entries: readonly Entry[]) => readonly Entry[],
    ): Promise<readonly string[]> {
      let queries = 0
      const lagging: Transport = {
        handle: async (request) => {
          const { response } = await dynalite.transport.handle(request)
          if (!request.headers['x-amz-target']?.endsWith('Query') || queries++ >= 8) return { response }
          const body: { Items: readonly Entry[] } = JSON.parse(Buffer.from(response.body).toString())
          const { 'content-length': _, 'x-amz-crc32': __, ...headers } = response.headers
          const text = JSON.stringify({ ...body, Items: shown(body.Items) })
          return { response: { ...response, headers, body: Buffer.from(text) } }
        },
      }
      const stop = new AbortController()
      const late = createDynamodbChangeFeed({ ...options, client: testClient(lagging), pollMs: 0 })
      const seen: string[] = []
      const reading = (async () => {
        for await (const batch of late.follow({ after, of: widgetKind, signal: stop.signal })) seen.push(...told(batch))
      })()
      // To the end of the second look.
      while (queries < 3 * 8) {
        await new Promise((resolve) => {
          setTimeout(resolve, 5)
        })
        await clock.advance(1)
      }
      stop.abort()
      await reading
      return seen
    }

    it("the index shows the tombstone's copy late", async () => {
      const start = await feed.latest()
      await createAndRemove('a', 'first')
      await store.create(storedWidget('a', { uid: 'second' }))
      expect(await followed(start, (entries) => entries.filter(({ sk }) => !sk.S.startsWith('~')))).toEqual([
        'added second',
      ])
    })

    it('the index shows the next object late, and a batch ends between the two', async () => {
      const start = await feed.latest()
      await Promise.all(Array.from({ length: 499 }, (_, i) => store.create(storedWidget(`w${i}`))))
      await clock.advance(1)
      await createAndRemove('a', 'first')
      await store.create(storedWidget('a', { uid: 'second' }))
      const seen = await followed(start, (entries) => {
        const copy = entries.find(({ sk }) => sk.S.startsWith('~'))
        const next = entries.find(({ sk }) => sk.S === 'default#a')
        const others = entries.filter((entry) => entry !== copy && entry !== next)
        return copy === undefined || next === undefined ? others : [...others, { ...next, rv: copy.rv }, copy]
      })
      // The next object is ahead of what is still to come, and so is left to the next look.
      expect(seen).toHaveLength(501)
      expect(seen.slice(-2)).toEqual(['removed first', 'added second'])
    })
  })

  it('cannot follow all kinds unless it knows them', async () => {
    const all = feed.follow({ after: await feed.latest(), signal })[Symbol.asyncIterator]()
    await expect(all.next()).rejects.toThrow('kinds')
  })
})

describe('checkpoints on DynamoDB', () => {
  it('are apart by name, and the last save is read', async () => {
    const checkpoint = (name: string) => createDynamodbCheckpoint({ ...options, name })
    expect(await checkpoint('a').load()).toBeUndefined()
    await checkpoint('a').save('1')
    await checkpoint('a').save('2')
    await checkpoint('b').save('3')
    expect([await checkpoint('a').load(), await checkpoint('b').load()]).toEqual(['2', '3'])
    const long = JSON.stringify(Array.from({ length: 2_000 }, (_, i) => `garbage-collector Kind${i}.é.example.com`))
    await checkpoint('a').save(long)
    expect(await checkpoint('a').load()).toBe(long)
    await checkpoint('a').save('4')
    expect(await checkpoint('a').load()).toBe('4')
  })
})

describe('the shares of those who sweep', () => {
  it.each([1, 3, 8])('one of %i has each timer, each slot and each net', async (of) => {
    const netMs = clock.nowMs() + netAfterMs
    const engine = { wakeAtMs: netMs, netMs }
    await Promise.all([
      ...Array.from({ length: 40 }, (_, i) => store.create({ ...storedWidget(`w${i}`), engine: { wakeAtMs: 1_000 } })),
      ...Array.from({ length: 40 }, (_, i) => store.create({ ...storedWidget(`n${i}`), engine })),
    ])
    const each = await Promise.all(
      Array.from({ length: of }, async (_, index) => {
        const share = { index, of }
        const swept = createDynamodbIndex({ ...options, share })
        const net = await createDynamodbNetted({ ...options, share })(
          widgetKind,
          clock.nowMs(),
          clock.nowMs() + 3_600_000,
        )
        const timers = await swept.due(widgetKind, 1_000, 100)
        return [...timers, ...net]
          .map(({ key }) => key.name)
          .concat((await swept.onWheel(widgetKind, 0, 3_600)).map(({ name }) => `wheel ${name}`))
      }),
    )
    const names = ['w', 'n'].flatMap((prefix) => Array.from({ length: 40 }, (_, i) => `${prefix}${i}`))
    expect(each.flat().toSorted()).toEqual([...names, ...names.map((name) => `wheel ${name}`)].toSorted())
    for (const some of each) expect(some.length).toBeGreaterThan(0)
  })
})

describe('timers on DynamoDB', () => {
  it('of a kind are given the earliest first though they lie in several partitions', async () => {
    const index = createDynamodbIndex(options)
    await Promise.all(
      Array.from({ length: 50 }, (_, i) => store.create({ ...storedWidget(`w${i}`), engine: { wakeAtMs: 1_000 - i } })),
    )
    const timers = await index.due(widgetKind, 1_000, 20)
    expect(timers.map(({ dueAtMs }) => dueAtMs)).toEqual(Array.from({ length: 20 }, (_, i) => 951 + i))
  })
})

describe('the version of a change', () => {
  it('is given when its write may begin, however many others of its process go ahead', async () => {
    let begun = 0
    const isFree = Promise.withResolvers<void>()
    const transport: Transport = {
      handle: async (sent) => {
        begun++
        if (begun > 2) await isFree.promise
        return dynalite.transport.handle(sent)
      },
    }
    const writer = createDynamodbStore({ ...options, client: testClient(transport) })
    // It reads what is recorded, too.
    await writer.create(storedWidget('first'))
    const written = Promise.all(Array.from({ length: 40 }, (_, i) => writer.create(storedWidget(`w${i}`))))
    await expect.poll(() => begun).toBe(2 + 32)
    await clock.advance(30_000)
    isFree.resolve()
    const versions = (await written).map(({ object }) => Number(object.metadata.resourceVersion))
    expect(versions.filter((version) => version >= clock.nowMs() * 1_000)).toHaveLength(8)
  })

  it('lies ahead of no change that is still to come, however slowly a reader reads', async () => {
    const start = await feed.latest()
    const created = []
    for (let from = 0; from < 1_100; from += 50) {
      await clock.advance(10)
      const some = Array.from({ length: 50 }, (_, i) => store.create(storedWidget(`w${from + i}`)))
      created.push(...(await Promise.all(some)))
    }
    const hot = created[700]
    if (hot === undefined) throw new Error('nothing was created')
    const batches = feed.follow({ after: start, of: widgetKind, signal })[Symbol.asyncIterator]()
    const first = await batches.next()
    await clock.advance(60_000)
    const last = await store.replace(withSpec(hot, { size: 2 }), ['spec'])
    const seen: ChangeBatch[] = [first.value]
    while (!seen.some(({ changes }) => changes.some(({ stored }) => stored.object.spec?.['size'] === 2))) {
      const next = batches.next()
      await clock.advance(1_000)
      seen.push((await next).value)
    }
    const versions = seen.flatMap(({ changes }) =>
      changes.map(({ stored }) => Number(stored.object.metadata.resourceVersion)),
    )
    expect(versions).toEqual(versions.toSorted((a, b) => a - b))
    expect(versions.at(-1)).toBe(Number(last.object.metadata.resourceVersion))
    expect(versions).toHaveLength(1_100)
    await batches.return?.()
  })
})
