import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createSqliteCheckpoint } from '../../shared/adapters/local/sqlite/sqlite-checkpoint.ts'
import { keyOf } from '../../shared/model/object-key.ts'
import type { ChangeBatch } from '../../shared/ports/change-feed.ts'
import { expectCode } from '../support/expect-code.ts'
import { openSqlite, openSqliteFile, temporaryFile, type OpenSqlite } from '../support/sqlite.ts'
import { storedWidget, widgetKind, withSpec } from '../support/stored-object.ts'
import { createVirtualClock, type VirtualClock } from '../support/virtual-clock.ts'
import { changeFeedContract } from './change-feed.contract.ts'

changeFeedContract('SQLite in memory', () => openSqlite(':memory:'))
changeFeedContract('SQLite in a file', () => openSqliteFile())

describe('how far the SQLite feed reaches back', () => {
  let clock: VirtualClock
  let opened: OpenSqlite
  const signal = new AbortController().signal

  beforeEach(() => {
    clock = createVirtualClock()
    opened = openSqlite(':memory:', clock)
  })
  afterEach(() => opened.close())

  const firstBatch = async (after: string): Promise<ChangeBatch | undefined> => {
    for await (const batch of opened.feed.follow({ after, signal })) return batch
    return undefined
  }
  const createAndRemove = async (name: string): Promise<void> => {
    await opened.store.remove(await opened.store.create(storedWidget(name)))
  }

  it('tells a removal for an hour', async () => {
    const start = await opened.feed.latest()
    await createAndRemove('a')
    await clock.advance(3_599_000)
    await opened.store.create(storedWidget('b'))
    const batch = await firstBatch(start)
    expect(batch?.changes.map(({ type, stored }) => `${type} ${stored.object.metadata.name}`)).toEqual([
      'added a',
      'removed a',
      'added b',
    ])
  })

  it('throws EXPIRED for what it has forgotten after that', async () => {
    const start = await opened.feed.latest()
    await createAndRemove('a')
    const middle = await opened.feed.latest()
    await clock.advance(3_600_001)
    await opened.store.create(storedWidget('b'))
    await expectCode(firstBatch(start), 'EXPIRED')
    expect((await firstBatch(middle))?.changes).toHaveLength(1)
  })

  it('tells the state before a change for as long as a checkpoint has not passed the change', async () => {
    const first = await opened.store.create(storedWidget('a'))
    const start = await opened.feed.latest()
    const checkpoint = createSqliteCheckpoint({ database: opened.database, name: 'relayed', keepsChanges: true })
    await checkpoint.save(start)
    await clock.advance(7_200_000)
    const second = await opened.store.replace(withSpec(first, { size: 2 }), ['spec'])
    await clock.advance(7_200_000)
    await opened.store.remove(second)
    await clock.advance(7_200_000)
    await opened.store.create(storedWidget('b'))
    expect((await firstBatch(start))?.changes.map(({ before }) => before)).toEqual([first, second, undefined])
  })

  it('tells a change without the state before it where that is damaged', async () => {
    const first = await opened.store.create(storedWidget('a'))
    const start = await opened.feed.latest()
    const second = await opened.store.replace(withSpec(first, { size: 2 }), ['spec'])
    opened.database.writeNow(() => opened.database.prepare("UPDATE changes SET doc = '{' WHERE rv = 2").run())
    const [change] = (await firstBatch(start))?.changes ?? []
    expect([change?.stored, change?.before]).toEqual([second, undefined])
  })

  it('forgets nothing that a checkpoint has not passed', async () => {
    const start = await opened.feed.latest()
    const checkpoint = createSqliteCheckpoint({ database: opened.database, name: 'relayed', keepsChanges: true })
    await checkpoint.save(start)
    await createAndRemove('a')
    await clock.advance(10 * 3_600_000)
    await opened.store.create(storedWidget('b'))
    expect((await firstBatch(start))?.changes.map(({ type }) => type)).toEqual(['added', 'removed', 'added'])

    await checkpoint.save(await opened.feed.latest())
    await clock.advance(60_000)
    await opened.store.create(storedWidget('c'))
    await expectCode(firstBatch(start), 'EXPIRED')
  })

  it('lets any other checkpoint be', async () => {
    const checkpoint = createSqliteCheckpoint({ database: opened.database, name: 'turned' })
    await checkpoint.save('1')
    const start = await opened.feed.latest()
    await createAndRemove('a')
    await clock.advance(3_600_001)
    await opened.store.create(storedWidget('b'))
    await expectCode(firstBatch(start), 'EXPIRED')
  })

  const rowsLeft = (): unknown => opened.database.prepare('SELECT count(*) AS count FROM changes').get()?.['count']

  it('forgets a long past in small steps', async () => {
    const start = await opened.feed.latest()
    const created = await Promise.all(
      Array.from({ length: 1_250 }, (_, i) => opened.store.create(storedWidget(`w${i}`))),
    )
    await Promise.all(created.map((stored) => opened.store.remove(stored)))
    expect(rowsLeft()).toBe(2_500)
    const counts: unknown[] = []
    await clock.advance(3_600_001)
    for (let i = 0; i < 4; i++) {
      await createAndRemove(`x${i}`)
      counts.push(rowsLeft())
      await clock.advance(1_000)
    }
    // The first thousand superseded nothing. From then on a removal goes with the state that it superseded.
    expect(counts).toEqual([2_502, 1_004, 6, 8])
    await expectCode(firstBatch(start), 'EXPIRED')
  })

  it('keeps what is present, however old, and forgets a state once what superseded it is old', async () => {
    const old = await opened.store.create(storedWidget('old'))
    await clock.advance(3_600_001)
    const middle = await opened.feed.latest()
    const edited = await opened.store.replace(withSpec(old, { size: 2 }), ['spec'])
    expect((await opened.store.list(widgetKind)).items).toEqual([edited])
    expect(rowsLeft()).toBe(2)
    await clock.advance(3_600_001)
    await opened.store.create(storedWidget('b'))
    expect(rowsLeft()).toBe(2)
    expect(await opened.store.get(keyOf(old.object))).toEqual(edited)
    await expectCode(firstBatch(middle), 'EXPIRED')
  })

  it('forgets what is younger when many characters were written since, also what a checkpoint has not passed', async () => {
    opened.close()
    opened = openSqlite(':memory:', clock, { retainedCharacters: 100_000 })
    const start = await opened.feed.latest()
    await createSqliteCheckpoint({ database: opened.database, name: 'relayed', keepsChanges: true }).save(start)
    let live = await opened.store.create(storedWidget('a'))
    for (let size = 0; size < 100; size++) {
      live = await opened.store.replace(withSpec(live, { size, text: 'x'.repeat(10_000) }), ['spec'])
      await clock.advance(100)
    }
    expect(rowsLeft()).toBeLessThan(13)
    await expectCode(firstBatch(start), 'EXPIRED')
    expect(await opened.store.get(keyOf(live.object))).toEqual(live)
  })

  it('throws EXPIRED for a resourceVersion that was never given: the file is an older one', async () => {
    await expectCode(firstBatch('1000'), 'EXPIRED')
    await expectCode(firstBatch('x'), 'EXPIRED')
  })

  it('keeps no more than a thousand changes for a reader that does not read', async () => {
    const batches = opened.feed.follow({ after: await opened.feed.latest(), signal })[Symbol.asyncIterator]()
    await batches.next()
    await Promise.all(Array.from({ length: 2_500 }, (_, i) => opened.store.create(storedWidget(`w${i}`))))
    const sizes: number[] = []
    for (let told = 0; told < 2_500; told += sizes.at(-1) ?? 0) {
      const { value } = (await batches.next()) as { value: ChangeBatch }
      sizes.push(value.changes.length)
    }
    expect(sizes).toEqual([1_000, 1_000, 500])
    await batches.return?.()
  })

  it('keeps a waiting reader supplied with empty batches while only other kinds change', async () => {
    const quiet = { after: await opened.feed.latest(), of: { group: '', kind: 'Quiet' }, signal }
    const batches = opened.feed.follow(quiet)[Symbol.asyncIterator]()
    await batches.next()
    const waiting = batches.next()
    for (let round = 0; round < 10; round++) {
      await Promise.all(Array.from({ length: 100 }, (_, i) => opened.store.create(storedWidget(`w${round}-${i}`))))
    }
    const { value } = (await waiting) as { value: ChangeBatch }
    expect(value.changes).toEqual([])
    expect(Number(value.resourceVersion)).toBeGreaterThanOrEqual(1_000)
    await batches.return?.()
  })
})

describe('a checkpoint on SQLite', () => {
  it('is undefined until it is saved, then what was saved last, also after a restart', async () => {
    const { file, remove } = temporaryFile()
    const first = openSqlite(file)
    const checkpoint = createSqliteCheckpoint({ database: first.database, name: 'relayed' })
    expect(await checkpoint.load()).toBeUndefined()
    await checkpoint.save('17')
    await checkpoint.save('18')
    expect(await createSqliteCheckpoint({ database: first.database, name: 'turned' }).load()).toBeUndefined()
    first.close()
    const second = openSqlite(file)
    expect(await createSqliteCheckpoint({ database: second.database, name: 'relayed' }).load()).toBe('18')
    second.close()
    remove()
  })
})
