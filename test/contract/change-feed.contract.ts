import { afterEach, beforeEach, describe, expect, it, type TestOptions } from 'vitest'
import { objectText } from '../../shared/model/object-text.ts'
import type { StoredObject } from '../../shared/model/stored-object.ts'
import type { Change, ChangeBatch, ChangeFeed } from '../../shared/ports/change-feed.ts'
import type { ObjectStore } from '../../shared/ports/object-store.ts'
import { createSeededRandom, type SeededRandom } from '../../shared/testing/seeded-random.ts'
import { eventually } from '../support/eventually.ts'
import { feedSource, heldOf } from '../support/feed-informer.ts'
import { createInformer, staleness } from '../support/informer.ts'
import { storedWidget, versionOf, widgetKind, withSpec } from '../support/stored-object.ts'

/** An empty store with its feed, and how to let them go. */
export interface OpenFeed {
  readonly store: ObjectStore
  readonly feed: ChangeFeed
  /**
   * For a feed that is put together from what is there, not from a log: passes the time that it looks back. It may
   * repeat what is younger to who follows it anew, and tells several writes of one object as one.
   */
  settled?(): Promise<void>
  close(): Promise<void> | void
}

/** What every ChangeFeed promises. `ofMany` are the options of the tests that write very much. */
export function changeFeedContract(
  adapter: string,
  open: () => Promise<OpenFeed> | OpenFeed,
  ofMany: TestOptions = {},
): void {
  describe(`ChangeFeed: ${adapter}`, () => {
    let opened: OpenFeed
    let store: ObjectStore
    let feed: ChangeFeed
    let stop: AbortController

    beforeEach(async () => {
      opened = await open()
      store = opened.store
      feed = opened.feed
      stop = new AbortController()
    })
    afterEach(async () => {
      stop.abort()
      await opened.close()
    })

    const follow = (after: string, of?: { readonly group: string; readonly kind: string }): Reader =>
      reader(feed.follow({ after, signal: stop.signal, ...(of !== undefined && { of }) }))

    it('tells a creation, a change and a removal, with their states, and a log with those before', async () => {
      const behind = (before: StoredObject): Partial<Change> => (opened.settled === undefined ? { before } : {})
      const read = follow(await feed.latest())
      const created = await store.create({ ...storedWidget('a'), engine: { wakeAtMs: 1 } })
      expect(await read.until('a', created)).toEqual({ type: 'added', touched: ['spec'], stored: created })
      const changed = await store.replace(withSpec(created, { size: 2 }), ['status'])
      expect(await read.until('a', changed)).toEqual({
        type: 'modified',
        touched: ['status'],
        stored: changed,
        ...behind(created),
      })
      const removed = await store.remove(changed)
      expect(await read.until('a', removed)).toEqual({
        type: 'removed',
        touched: ['delete'],
        stored: removed,
        ...behind(changed),
      })
    })

    it('tells what happened before it was followed, and nothing up to where it is followed from', async () => {
      const first = await store.create(storedWidget('first'))
      await opened.settled?.()
      const after = await feed.latest()
      const second = await store.create(storedWidget('second'))
      const third = await store.create(storedWidget('third'))
      const read = follow(after)
      await read.until('third', third)
      expect(read.told.map(({ stored }) => stored)).toEqual(expect.arrayContaining([second, third]))
      expect(read.told.map(({ stored }) => stored)).not.toContainEqual(first)
    })

    it('starts at once with a batch, if need be empty', async () => {
      const latest = await feed.latest()
      const [batch] = await follow(latest).batches(1)
      expect(batch?.changes).toEqual([])
      expect(Number(batch?.resourceVersion)).toBeGreaterThanOrEqual(Number(latest))
    })

    it('tells the changes of an object in their order', async () => {
      const read = follow(await feed.latest())
      let live = await store.create(storedWidget('a'))
      for (let size = 2; size < 30; size++) live = await store.replace(withSpec(live, { size }), ['spec'])
      await read.until('a', live)
      const versions = read.told.map(({ stored }) => versionOf(stored))
      expect(versions).toEqual(versions.toSorted((a, b) => a - b))
    })

    it(
      'never goes back in the states of an object, though it is written while a reader catches up',
      ofMany,
      async () => {
        const after = await feed.latest()
        let hot = await store.create(storedWidget('hot'))
        await Promise.all(Array.from({ length: 2_500 }, (_, i) => store.create(storedWidget(`w${i}`))))
        hot = await store.replace(withSpec(hot, { size: 2 }), ['spec'])
        const read = follow(after)
        for (let size = 3; size < 9; size++) {
          await read.batches(1)
          hot = await store.replace(withSpec(hot, { size }), ['spec'])
        }
        await read.until('end', await store.create(storedWidget('end')))
        const states = read.told
          .filter(({ stored }) => stored.object.metadata.name === 'hot')
          .map(({ stored }) => versionOf(stored))
        expect(states).toEqual(states.toSorted((a, b) => a - b))
        expect(states.at(-1)).toBe(versionOf(hot))
      },
    )

    it('tells a write of the spec though the status was written since', async () => {
      const after = await feed.latest()
      const created = await store.create(storedWidget('a'))
      const edited = await store.replace(withSpec(created, { size: 2 }), ['spec'])
      await store.replace(await store.replace(edited, ['status']), ['engine'])
      const read = follow(after)
      await read.until('end', await store.create(storedWidget('end')))
      const told = read.told.filter(
        ({ stored, touched }) => stored.object.metadata.name === 'a' && touched.includes('spec'),
      )
      expect(told.map(({ type }) => type)).toEqual(opened.settled === undefined ? ['added', 'modified'] : ['added'])
    })

    it('tells a write of the status though the engine wrote since', async () => {
      const after = await feed.latest()
      const written = await store.replace(await store.create(storedWidget('a')), ['status'])
      await store.replace(written, ['engine'])
      const read = follow(after)
      await read.until('end', await store.create(storedWidget('end')))
      expect(read.told.flatMap(({ touched }) => touched)).toContain('status')
    })

    it('tells the removal of an object whose name was taken again at once', async () => {
      const first = await store.create(storedWidget('a', { uid: 'first' }))
      const after = await feed.latest()
      await store.remove(first)
      const second = await store.create(storedWidget('a', { uid: 'second' }))
      const read = follow(after)
      await read.until('a', second)
      expect(read.told.map(({ type, stored }) => `${type} ${stored.object.metadata.uid}`)).toEqual([
        'removed first',
        'added second',
      ])
    })

    it('tells every write once, in the order of resourceVersions, in the state it made', async () => {
      const after = await feed.latest()
      const writes = await writeInTurns(store)
      const told = await toldUntil(follow(after), writes.at(-1))
      const versions = told.map(({ stored }) => versionOf(stored))
      expect(versions).toEqual(versions.toSorted((a, b) => a - b))
      const states = told.map(({ stored }) => stored)
      if (opened.settled === undefined) expect(states).toEqual(writes)
      // Clocks give two objects the same number now and then, and then either is told first.
      else expect(states.toSorted(byUid)).toEqual(lastStates(writes).toSorted(byUid))
    })

    it('misses nothing when it is followed from the version of any state it told', async () => {
      const start = await feed.latest()
      const writes = await writeInTurns(store)
      const told = await toldUntil(follow(start), writes.at(-1))
      for (const [i, { stored }] of told.slice(0, -1).entries()) {
        const rest = await toldUntil(follow(stored.object.metadata.resourceVersion), writes.at(-1))
        if (opened.settled === undefined) expect(rest).toEqual(told.slice(i + 1))
        else expect(rest).toEqual(expect.arrayContaining(told.slice(i + 1)))
      }
    })

    it('repeats and misses nothing when it is followed from where a batch ended', async () => {
      const start = await feed.latest()
      const writing = Promise.all(
        Array.from({ length: 300 }, (_, i) => later(i % 7).then(() => store.create(storedWidget(`w${i}`)))),
      )
      const names: string[] = []
      let after = start
      while (names.length < 300) {
        const read = follow(after)
        const [batch] = await read.batches(1)
        await read.leave()
        for (const { stored } of batch?.changes ?? []) names.push(stored.object.metadata.name)
        after = batch?.resourceVersion ?? after
        await later(1)
      }
      await writing
      expect(new Set(names).size).toBe(300)
      if (opened.settled === undefined) expect(names).toHaveLength(300)
    })

    it(
      'keeps the caches of clients right, however often they are cut off',
      { ...ofMany, timeout: 120_000 },
      async () => {
        const random = createSeededRandom(11)
        const isExact = opened.settled === undefined
        const informers = Array.from({ length: 5 }, (_, i) => {
          const cuts = random.fork(`informer ${i}`)
          // Where a look reaches back, who is cut off again within what is repeated gets no further.
          const cutAfter = (): number => (isExact ? 1 : 100) + Math.floor(cuts.next() * 6)
          return createInformer({ source: feedSource(opened, widgetKind), cutAfter, isExact, pause: () => later(1) })
        })
        const running = Promise.all(informers.map((informer) => informer.run(stop.signal)))
        const live = new Map<string, StoredObject>()
        // A feed may tell several writes as one: so the writes go on until each informer was cut off.
        const areCut = (): boolean => informers.every(({ counts }) => counts.resumes > 0)
        for (let write = 0; write < (isExact ? 240 : 150) || (!areCut() && write < 5_000); write++) {
          await writeSomething(store, live, random)
          await later(random.next() * 4)
        }
        const there = (await store.list(widgetKind)).items.map(heldOf)
        await eventually(async () => expect(staleness(informers, there)).toEqual([]), 60_000)
        expect(areCut()).toBe(true)
        stop.abort()
        await running
      },
    )

    it('misses nothing that is not in a list when it is followed from there', async () => {
      const writing = Promise.all(
        Array.from({ length: 200 }, (_, i) => later(i % 5).then(() => store.create(storedWidget(`w${i}`)))),
      )
      await later(2)
      const page = await store.list(widgetKind)
      const known = new Set(page.items.map(({ object }) => object.metadata.name))
      const last = (await writing).at(-1) as StoredObject
      const end = await store.replace(last, ['meta'])
      const read = follow(page.resourceVersion)
      await read.until(end.object.metadata.name, end)
      for (const { stored } of read.told) known.add(stored.object.metadata.name)
      expect(known.size).toBe(200)
    })

    it('tells of one kind only, if asked', async () => {
      const after = await feed.latest()
      const read = follow(after, widgetKind)
      const early = follow(after, { group: 'example.com', kind: 'Gadget' })
      const widget = await store.create(storedWidget('a'))
      const gadget = await store.create(ofKind('Gadget', storedWidget('b')))
      const last = await store.create(storedWidget('c'))
      await read.until('a', widget)
      await read.until('c', last)
      // Of two that are written in the same millisecond, DynamoDB may tell the later one first.
      const told = read.told.map(({ stored }) => stored)
      expect(told.toSorted((one, other) => (one.object.metadata.name < other.object.metadata.name ? -1 : 1))).toEqual([
        widget,
        last,
      ])
      expect(await early.until('b', gadget)).toMatchObject({ stored: gadget })
      expect(early.told).toHaveLength(1)
      const late = follow(after, { group: 'example.com', kind: 'Gadget' })
      expect(await late.until('b', gadget)).toMatchObject({ stored: gadget })
      expect(late.told).toHaveLength(1)
    })

    it('tells the same to every reader', async () => {
      const after = await feed.latest()
      const readers = [follow(after), follow(after), follow(after)]
      const created = await store.create(storedWidget('a'))
      for (const read of readers) expect(await read.until('a', created)).toMatchObject({ stored: created })
    })

    it('loses nothing for a reader that is slower than the writers', ofMany, async () => {
      const read = follow(await feed.latest())
      await read.batches(1)
      let hot = await store.create(storedWidget('hot'))
      for (let round = 0; round < 5; round++) {
        await Promise.all(Array.from({ length: 600 }, (_, i) => store.create(storedWidget(`w${round}-${i}`))))
        hot = await store.replace(withSpec(hot, { size: round }), ['spec'])
      }
      await read.until('end', await store.create(storedWidget('end')))
      expect(new Set(read.told.map(({ stored }) => stored.object.metadata.name)).size).toBe(3_002)
      const toldOfHot = read.told.filter(
        ({ stored, touched }) => stored.object.metadata.name === 'hot' && touched.includes('spec'),
      )
      expect(toldOfHot.length).toBeGreaterThan(0)
      if (opened.settled === undefined) expect(toldOfHot).toHaveLength(6)
      expect(read.told.findLast(({ stored }) => stored.object.metadata.name === 'hot')?.stored).toEqual(hot)
    })

    it('names a latest resourceVersion that later changes are above', async () => {
      const live = await store.create(storedWidget('a'))
      await opened.settled?.()
      const latest = Number(await feed.latest())
      expect(latest).toBeGreaterThanOrEqual(versionOf(live))
      expect(versionOf(await store.replace(live, ['meta']))).toBeGreaterThan(latest)
    })

    it('ends when it is aborted, waiting or not yet begun', async () => {
      const waiting = follow(await feed.latest())
      await waiting.batches(1)
      const end = waiting.batches(1)
      stop.abort()
      expect(await end).toEqual([])
      expect(await follow(await feed.latest()).batches(1)).toEqual([])
    })

    it('tells no more than a megabyte and one object at a time, however many were written', async () => {
      const after = await feed.latest()
      const text = 'x'.repeat(200_000)
      const names = Array.from({ length: 24 }, (_, i) => `w${i}`)
      for (const name of names) await store.create(withSpec(storedWidget(name), { text }))
      const read = follow(after)
      const lengths: number[] = []
      const ends: number[] = []
      while (read.told.length < names.length) {
        const [batch] = await read.batches(1)
        lengths.push(batch?.changes.reduce((sum, { stored }) => sum + objectText(stored.object).length, 0) ?? 0)
        ends.push(Number(batch?.resourceVersion))
      }
      expect(read.told.map(({ stored }) => stored.object.metadata.name)).toEqual(names)
      expect(ends).toEqual(ends.toSorted((a, b) => a - b))
      for (const length of lengths) expect(length).toBeLessThan(1_300_000)
    })

    it('is not disturbed by a reader that leaves', async () => {
      const after = await feed.latest()
      const stays = follow(after)
      for await (const _ of feed.follow({ after, signal: stop.signal })) break
      const created = await store.create(storedWidget('a'))
      expect(await stays.until('a', created)).toMatchObject({ stored: created })
    })
  })
}

/**
 * Writes to a, b, c, a, b, a, then the end of b, a new b, and the end of c: what each write made, in order. A reader
 * that is told present states under the numbers of past writes gives away a number ahead of changes that are still to
 * come.
 */
async function writeInTurns(store: ObjectStore): Promise<readonly StoredObject[]> {
  const a = await store.create(storedWidget('a'))
  const b = await store.create(storedWidget('b', { uid: 'first' }))
  const c = await store.create(storedWidget('c'))
  const a2 = await store.replace(withSpec(a, { size: 2 }), ['spec'])
  const b2 = await store.replace(withSpec(b, { size: 2 }), ['spec'])
  const a3 = await store.replace(a2, ['engine'])
  const removed = await store.remove(b2)
  const again = await store.create(storedWidget('b', { uid: 'second' }))
  const gone = await store.remove(c)
  const last = await store.create(storedWidget('last'))
  return [a, b, c, a2, b2, a3, removed, again, gone, last]
}

/** What is left of writes where each object is told as it is. */
function lastStates(writes: readonly StoredObject[]): readonly StoredObject[] {
  return writes.filter(
    ({ object }, i) => !writes.slice(i + 1).some((next) => next.object.metadata.uid === object.metadata.uid),
  )
}

function byUid(a: StoredObject, b: StoredObject): number {
  return a.object.metadata.uid < b.object.metadata.uid ? -1 : 1
}

/** Creates, changes or removes one of ten objects. */
async function writeSomething(
  store: ObjectStore,
  live: Map<string, StoredObject>,
  random: SeededRandom,
): Promise<void> {
  const name = `w${Math.floor(random.next() * 10)}`
  const before = live.get(name)
  if (before === undefined) live.set(name, await store.create(storedWidget(name, { uid: `${name} ${random.next()}` })))
  else if (random.next() < 0.3) {
    live.delete(name)
    await store.remove(before)
  } else live.set(name, await store.replace(withSpec(before, { size: random.next() }), ['spec']))
}

async function toldUntil(read: Reader, last: StoredObject | undefined): Promise<readonly Change[]> {
  if (last !== undefined) await read.until(last.object.metadata.name, last)
  await read.leave()
  return read.told
}

interface Reader {
  /** Every change so far. */
  readonly told: readonly Change[]
  /** Reads so many batches, or fewer if the feed ends. */
  batches(count: number): Promise<readonly ChangeBatch[]>
  /** Reads up to the change that leaves the named object in this state, and returns it. */
  until(name: string, state: StoredObject): Promise<Change>
  leave(): Promise<void>
}

function reader(batchesToCome: AsyncIterable<ChangeBatch>): Reader {
  const iterator = batchesToCome[Symbol.asyncIterator]()
  const told: Change[] = []
  const next = async (): Promise<ChangeBatch | undefined> => {
    const result = await iterator.next()
    if (result.done === true) return undefined
    told.push(...result.value.changes)
    return result.value
  }
  return {
    told,
    batches: async (count) => {
      const read: ChangeBatch[] = []
      while (read.length < count) {
        const batch = await next()
        if (batch === undefined) break
        read.push(batch)
      }
      return read
    },
    until: async (name, state) => {
      const isIt = ({ stored }: Change): boolean =>
        stored.object.metadata.name === name &&
        stored.object.metadata.resourceVersion === state.object.metadata.resourceVersion
      for (;;) {
        const found = told.findLast(isIt)
        if (found !== undefined) return found
        if ((await next()) === undefined) throw new Error(`the feed ended before ${name} was told`)
      }
    },
    leave: async () => {
      await iterator.return?.()
    },
  }
}

function ofKind(kind: string, stored: StoredObject): StoredObject {
  return { ...stored, object: { ...stored.object, kind } }
}

/** So many turns of the event loop later. */
async function later(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) {
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
  }
}
