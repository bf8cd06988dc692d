import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createQuarantine, type Quarantine } from '../../../../../shared/adapters/local/sqlite/quarantine.ts'
import { createSqliteChangeFeed } from '../../../../../shared/adapters/local/sqlite/sqlite-change-feed.ts'
import {
  createSqliteChangeLog,
  type SqliteChangeLog,
} from '../../../../../shared/adapters/local/sqlite/sqlite-change-log.ts'
import { openSqliteDatabase, type SqliteDatabase } from '../../../../../shared/adapters/local/sqlite/sqlite-database.ts'
import { createSqliteIndex } from '../../../../../shared/adapters/local/sqlite/sqlite-index.ts'
import type { RetentionOptions } from '../../../../../shared/adapters/local/sqlite/sqlite-log-retention.ts'
import { createSqliteStore } from '../../../../../shared/adapters/local/sqlite/sqlite-store.ts'
import { keyOf } from '../../../../../shared/model/object-key.ts'
import type { ObjectMeta } from '../../../../../shared/model/object.ts'
import type { StoredObject } from '../../../../../shared/model/stored-object.ts'
import type { ChangeBatch, FollowOptions } from '../../../../../shared/ports/change-feed.ts'
import type { ListQuery, ObjectStore } from '../../../../../shared/ports/object-store.ts'
import { expectCode } from '../../../../support/expect-code.ts'
import { storedWidget, widgetKind, withMetadata, withSpec } from '../../../../support/stored-object.ts'
import { createVirtualClock } from '../../../../support/virtual-clock.ts'

interface Opened {
  readonly database: SqliteDatabase
  readonly changeLog: SqliteChangeLog
  readonly store: ObjectStore
  readonly quarantine: Quarantine
  readonly clock: ReturnType<typeof createVirtualClock>
}

let opened: Opened
function open(retention: RetentionOptions = {}): Opened {
  const database = openSqliteDatabase(':memory:')
  const clock = createVirtualClock(1_000_000)
  const changeLog = createSqliteChangeLog({ database, clock, ...retention })
  const quarantine = createQuarantine()
  return { database, changeLog, clock, quarantine, store: createSqliteStore({ database, changeLog, quarantine }) }
}
beforeEach(() => {
  opened = open()
})
afterEach(() => opened.database.close())

const create = (name: string, metadata?: Partial<ObjectMeta>) => opened.store.create(storedWidget(name, metadata))
const change = (stored: StoredObject, size: number) => opened.store.replace(withSpec(stored, { size }), ['spec'])
const listed = async (query: Partial<ListQuery> = {}) => {
  const { items, more, damaged, resourceVersion } = await opened.store.list({ ...widgetKind, ...query })
  const names = items.map(
    ({ object: { metadata, spec } }) => `${metadata.name}${spec?.['size'] === 1 ? '' : String(spec?.['size'])}`,
  )
  return { names: names.join(' '), more, resourceVersion, ...(damaged && { damaged: damaged.map(({ name }) => name) }) }
}
const namesIn = async (query?: Partial<ListQuery>) => (await listed(query)).names
const run = (sql: string): void => opened.database.readNow(() => void opened.database.prepare(sql).run())

describe('a list', () => {
  it('of a kind without objects is empty, and begins at the first version', async () => {
    expect(await listed()).toEqual({ names: '', more: false, resourceVersion: '1' })
    await create('a')
    expect(await listed({ kind: 'Other' })).toEqual({ names: '', more: false, resourceVersion: '2' })
  })

  it.each<[Partial<ListQuery>, string, boolean]>([
    [{}, 'b c a b', false],
    [{ namespace: 'default' }, 'a b', false],
    [{ namespace: 'another' }, 'b c', false],
    [{ namespace: 'x' }, '', false],
    [{ limit: 4 }, 'b c a b', false],
    [{ limit: 3 }, 'b c a', true],
    [{ limit: 1, namespace: 'default' }, 'a', true],
    [{ after: { namespace: 'another', name: 'b' } }, 'c a b', false],
    [{ after: { namespace: 'another', name: 'c' }, limit: 1 }, 'a', true],
    [{ after: { namespace: 'default', name: 'a' }, namespace: 'default' }, 'b', false],
    [{ after: { namespace: 'another', name: 'c' }, namespace: 'default' }, 'a b', false],
    [{ after: { namespace: 'default', name: 'a' }, namespace: 'another' }, '', false],
  ])('of %j has %s (more: %s)', async (query, names, more) => {
    for (const name of ['b', 'a']) await create(name)
    for (const name of ['c', 'b']) await create(name, { namespace: 'another' })
    expect(await listed(query)).toMatchObject({ names, more })
  })

  it('shows objects as they were at the version of its first page', async () => {
    const a = await create('a')
    const b = await create('b')
    const { resourceVersion: asOf } = await listed()
    const changed = await change(await change(a, 2), 3)
    await create('c')
    await opened.store.remove(b)
    expect(await namesIn({ asOf })).toBe('a')
    expect(await namesIn()).toBe('a3 c')
    expect(await namesIn({ asOf: changed.object.metadata.resourceVersion })).toBe('a3')
  })

  it('has expired where a state of then is lost', async () => {
    const { resourceVersion: asOf } = await listed()
    const a = await create('a')
    const then = (await listed()).resourceVersion
    const second = await change(a, 2)
    await change(second, 3)
    expect(await namesIn({ asOf: then })).toBe('a')
    run(`DELETE FROM changes WHERE rv = ${second.object.metadata.resourceVersion}`)
    await expect(namesIn({ asOf: then })).rejects.toMatchObject({ code: 'EXPIRED' })
    await expect(namesIn({ asOf })).rejects.toMatchObject({ code: 'EXPIRED' })
    expect(await namesIn()).toBe('a3')
  })

  it('has expired where its first page is of another store, which was further', async () => {
    await create('a')
    const { resourceVersion } = await listed()
    const after = { namespace: 'default', name: '0' }
    expect(await namesIn({ after, asOf: resourceVersion })).toBe('a')
    const asOf = String(Number(resourceVersion) + 1)
    for (const kind of [{}, { kind: 'Unknown' }])
      await expect(namesIn({ after, asOf, ...kind })).rejects.toMatchObject({ code: 'EXPIRED' })
  })

  it('has expired where a state of then is damaged', async () => {
    const a = await create('a')
    const then = (await listed()).resourceVersion
    await change(a, 2)
    run(`UPDATE changes SET doc = '{' WHERE rv = ${a.object.metadata.resourceVersion}`)
    await expect(namesIn({ asOf: then })).rejects.toMatchObject({ code: 'EXPIRED' })
    expect(await namesIn()).toBe('a2')
  })

  it('names as damaged what was changed since, and is lost', async () => {
    const a = await create('a')
    const then = (await listed()).resourceVersion
    await change(a, 2)
    run(`DELETE FROM changes WHERE rv = 3`)
    expect(await listed({ asOf: then })).toMatchObject({ names: '', damaged: ['a'] })
  })

  it('has expired where changes since its first page are forgotten', async () => {
    opened.database.close()
    opened = open({ retentionMs: 1_000 })
    await create('a')
    const { resourceVersion: asOf } = await listed()
    const b = await create('b')
    await opened.clock.advance(2_000)
    await create('c')
    expect(opened.changeLog.horizon()).toBe(Number(b.object.metadata.resourceVersion))
    await expect(namesIn({ asOf })).rejects.toMatchObject({ code: 'EXPIRED' })
    expect(await namesIn({ asOf: b.object.metadata.resourceVersion })).toBe('a b')
    expect(await namesIn()).toBe('a b c')
  })

  it('names what is damaged, and notes it', async () => {
    const a = await create('a')
    await create('b')
    run(`UPDATE changes SET doc = '{' WHERE rv = ${a.object.metadata.resourceVersion}`)
    expect(await listed()).toMatchObject({ names: 'b', damaged: ['a'] })
    expect(opened.quarantine.keys()).toEqual([keyOf(a.object)])
    run(`UPDATE objects SET uid = 'other' WHERE name = 'b'`)
    expect(await listed()).toMatchObject({ names: '', damaged: ['a', 'b'] })
  })

  it.each<[string, string]>([
    ['has another name', `UPDATE objects SET name = 'c' WHERE name = 'a'`],
    ['is in another namespace', `UPDATE objects SET namespace = 'other' WHERE name = 'a'`],
    ['points at no state', 'UPDATE heads SET rv = 1000 WHERE rv = 2'],
  ])('names as damaged what %s than its state says', async (_what, sql) => {
    await create('a')
    await create('b')
    run(sql)
    const { items, damaged } = await opened.store.list(widgetKind)
    expect([items.map(({ object }) => object.metadata.name), damaged?.length]).toEqual([['b'], 1])
  })

  it('ends a page early whose objects are large, if it is asked for pages', async () => {
    const large = (name: string) =>
      opened.store.create(withSpec(storedWidget(name), { size: 1, text: 'x'.repeat(350_000) }))
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) await large(name)
    expect(await listed({ limit: 100 })).toMatchObject({ names: 'a b c d e f', more: true })
    expect(await listed()).toMatchObject({ names: 'a b c d e f g', more: false })
    expect(await listed({ limit: 1 })).toMatchObject({ names: 'a', more: true })
  })
})

describe('a long list', () => {
  /** Objects whose states have so many characters each. */
  const createLong = async (...lengths: readonly number[]): Promise<void> => {
    await Promise.all(lengths.map((_, i) => create(String(i).padStart(3, '0'))))
    const pad = opened.database.prepare(
      "UPDATE changes SET sum = NULL, doc = doc || printf('%*s', ?2 - length(doc) - length(coalesce(engine, '')), '') WHERE rv = ?1",
    )
    opened.database.readNow(() => {
      for (const [i, length] of lengths.entries()) pad.run(i + 2, length)
    })
  }
  const long = (count: number, length: number): number[] => Array.from({ length: count }, () => length)
  /** How many objects, whether there are more, and how often others had a turn in between. */
  const walked = async (query: Partial<ListQuery> = {}) => {
    const turns = vi.spyOn(globalThis, 'setImmediate')
    const { items, more } = await opened.store.list({ ...widgetKind, ...query })
    const count = turns.mock.calls.length
    turns.mockRestore()
    return [items.length, more, count]
  }

  it.each<[number, Partial<ListQuery>, readonly [number, boolean, number]]>([
    [500, {}, [500, false, 0]],
    [501, {}, [501, false, 1]],
    [700, { limit: 600 }, [600, true, 1]],
    [700, { limit: 500 }, [500, true, 0]],
  ])('of %d objects with %j lets others in behind every 500', async (count, query, expected) => {
    await Promise.all(long(count, 0).map((_, i) => create(String(i))))
    expect(await walked(query)).toEqual(expected)
  })

  it.each<[readonly number[], Partial<ListQuery>, readonly [number, boolean, number]]>([
    [long(11, 100_000), {}, [11, false, 1]],
    [[...long(9, 100_000), 99_999, 1_000], {}, [11, false, 0]],
    [long(21, 100_000), { limit: 100 }, [20, true, 1]],
    [[...long(19, 100_000), 99_999, 1_000], { limit: 100 }, [21, false, 1]],
    [long(21, 100_000), {}, [21, false, 2]],
    [[2_000_000, 1_000], { limit: 100 }, [1, true, 0]],
  ])('of a million characters at a time, and of two in a page: %#', async (lengths, query, expected) => {
    await createLong(...lengths)
    expect(await walked(query)).toEqual(expected)
  })

  it('has an object on each page, though a long one that is damaged is ahead of it', async () => {
    await createLong(2_000_000, 1_000)
    run(`UPDATE changes SET doc = '{' || substr(doc, 2) || '}' WHERE rv = 2`)
    expect(await listed({ limit: 100 })).toMatchObject({ names: '001', more: false, damaged: ['000'] })
  })

  /** Writes an object again so often. */
  const writeOften = async (name: string, writes: number): Promise<void> => {
    const rv = Number((await create(name)).object.metadata.resourceVersion)
    const insert = opened.database.prepare(
      "INSERT INTO changes SELECT ?1, object_id, kind, at_ms, ?1 - 1, written, 'modified', touched, engine, json_set(doc, '$.spec.size', ?1), NULL FROM changes WHERE rv = ?2",
    )
    opened.database.readNow(() => {
      for (let i = rv + 1; i <= rv + writes; i++) insert.run(i, rv)
    })
    run(`UPDATE heads SET rv = ${rv + writes} WHERE rv = ${rv}`)
    const { database, clock, quarantine } = opened
    const changeLog = createSqliteChangeLog({ database, clock })
    opened = { ...opened, changeLog, store: createSqliteStore({ database, changeLog, quarantine }) }
  }

  it('shows an object as it was a hundred thousand writes ago, and has expired behind', async () => {
    await writeOften('a', 100_001)
    expect(await namesIn({ asOf: '3' })).toBe('a3')
    await expect(namesIn({ asOf: '2' })).rejects.toMatchObject({ code: 'EXPIRED' })
  })

  it('lets others in behind every two thousand steps back in the log', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      let now = await create(name)
      for (let i = 0; i < 900; i++) now = await change(now, i)
    }
    expect(await walked({ asOf: '2' })).toEqual([1, false, 2])
  })

  it.each<[Partial<ListQuery>, readonly [number, boolean, number]]>([
    [{}, [1, false, 4]],
    [{ limit: 1 }, [1, false, 4]],
  ])('lets others in between the steps of one object: %j', async (query, expected) => {
    await writeOften('a', 9_000)
    expect(await walked({ asOf: '2', ...query })).toEqual(expected)
  })

  it('has as many objects as were asked for, though the first was written often', async () => {
    await create('b')
    await create('c')
    await writeOften('a', 5_000)
    expect(await listed({ asOf: '4', limit: 1 })).toMatchObject({ names: 'a', more: true })
    expect(await listed({ asOf: '4', limit: 2 })).toMatchObject({ names: 'a b', more: true })
    expect(await listed({ asOf: '4', limit: 3 })).toMatchObject({ names: 'a b c', more: false })
    expect(await listed({ asOf: '3', limit: 2 })).toMatchObject({ names: 'b c', more: false })
  })
})

describe('an object', () => {
  const get = (name = 'a') => opened.store.get({ ...widgetKind, namespace: 'default', name })

  it('is read as it was written last, from memory or from the file', async () => {
    const written = await change(await create('a'), 2)
    expect(await get()).toEqual(written)
    const store = createSqliteStore(opened)
    expect(await store.get(keyOf(written.object))).toEqual(written)
    expect(await get('b')).toBeUndefined()
    expect(await store.get({ ...keyOf(written.object), kind: 'Other' })).toBeUndefined()
  })

  it('is read once, and is what was written until it is written again', async () => {
    const written = await create('a')
    expect(await get()).toBe(written)
    const store = createSqliteStore(opened)
    const key = keyOf(written.object)
    const read = await store.get(key)
    expect(read).not.toBe(written)
    expect(await store.get(key)).toBe(read)
    const changed = await change(written, 2)
    expect(await get()).toBe(changed)
  })

  it('is written by who has not read it', async () => {
    const written = await create('a')
    const changed = await createSqliteStore(opened).replace(withSpec(written, { size: 2 }), ['spec'])
    await createSqliteStore(opened).remove(changed)
    expect(await createSqliteStore(opened).get(keyOf(written.object))).toBeUndefined()
  })

  it.each<[string, (a: StoredObject) => Promise<unknown>]>([
    ['is written over', (a) => opened.store.replace(a, ['spec'])],
    ['is removed', (a) => opened.store.remove(a)],
  ])('is damaged no more when it %s', async (_what, write) => {
    const a = await create('a')
    run(`UPDATE changes SET doc = '{'`)
    const store = createSqliteStore(opened)
    await expect(async () => store.get(keyOf(a.object))).rejects.toMatchObject({ code: 'DAMAGED' })
    expect(opened.quarantine.keys()).toHaveLength(1)
    await write(a)
    expect(opened.quarantine.keys()).toEqual([])
  })

  it('is due from the first moment on', async () => {
    const index = createSqliteIndex(opened.database)
    for (const wakeAtMs of [0, 1, 10])
      await opened.store.create({ ...storedWidget(`a${wakeAtMs}`), engine: { wakeAtMs } })
    const dueAt = async (...rest: [untilMs: number, limit: number, fromMs?: number]) =>
      (await index.due(widgetKind, ...rest)).map(({ dueAtMs }) => dueAtMs)
    expect([await dueAt(9, 5), await dueAt(10, 2), await dueAt(10, 5, 1), await dueAt(10, 5, 11)]).toEqual([
      [0, 1],
      [0, 1],
      [1, 10],
      [],
    ])
  })

  it('refers to nothing more when it is gone, whoever has its number then', async () => {
    const index = createSqliteIndex(opened.database)
    const [a, target] = [await create('a'), keyOf(storedWidget('t').object)]
    await index.setReferences(keyOf(a.object), [target])
    expect(await index.referrers(target)).toEqual([keyOf(a.object)])
    await opened.store.remove(a)
    const b = await create('b')
    expect([await index.referrers(target), await index.references(keyOf(b.object))]).toEqual([[], []])
  })

  it.each<[string, (a: StoredObject) => Promise<unknown>, string]>([
    ['another version', async (a) => change(await change(a, 2).then(() => a), 3), 'a is at 3, not at 2'],
    ['another object', (a) => change(withMetadata(a, { uid: 'u' }), 3), 'a is another object now'],
  ])('says that it is in %s', async (_what, write, says) => {
    await expect(create('a').then(write)).rejects.toThrow(says)
  })

  it.each<[string, string]>([
    ['its text', `UPDATE changes SET doc = '{'`],
    ['its sum', 'UPDATE changes SET sum = sum + 1'],
    ['its uid', `UPDATE objects SET uid = 'other'`],
    ['its state', 'DELETE FROM changes'],
  ])('is damaged by what happens to %s', async (_what, sql) => {
    await create('a')
    run(sql)
    const store = createSqliteStore(opened)
    const failure = await Promise.resolve()
      .then(() => store.get({ ...widgetKind, namespace: 'default', name: 'a' }))
      .catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 'DAMAGED', remains: { resourceVersion: '2' } })
    expect(opened.quarantine.keys()).toHaveLength(1)
  })

  it('is not served under the name of another', async () => {
    await create('a')
    run(`UPDATE objects SET name = 'b'`)
    const found = Promise.resolve(createSqliteStore(opened).get({ ...widgetKind, namespace: 'default', name: 'b' }))
    await expectCode(found, 'DAMAGED')
  })

  it.each<[string, (a: StoredObject) => Promise<unknown>, string]>([
    ['created twice', () => create('a', { uid: 'u' }), 'ALREADY_EXISTS'],
    ['changed from an old version', async (a) => change(await change(a, 2).then(() => a), 3), 'VERSION_CONFLICT'],
    ['changed as another', (a) => change(withMetadata(a, { uid: 'u' }), 3), 'VERSION_CONFLICT'],
    ['changed when it is gone', async (a) => change(await opened.store.remove(a).then(() => a), 3), 'NOT_FOUND'],
    [
      'removed when it is gone',
      async (a) => opened.store.remove(await opened.store.remove(a).then(() => a)),
      'NOT_FOUND',
    ],
    [
      'removed from an old version',
      async (a) => opened.store.remove(await change(a, 2).then(() => a)),
      'VERSION_CONFLICT',
    ],
    ['changed under a name that is not there', (a) => change(withMetadata(a, { name: 'b' }), 3), 'NOT_FOUND'],
  ])('is not %s', async (_what, write, code) => {
    await expect(create('a').then(write)).rejects.toMatchObject({ code })
  })

  it('is not found for a change if its kind is unknown', async () => {
    const odd = storedWidget('a')
    await expect(opened.store.remove({ ...odd, object: { ...odd.object, kind: 'Odd' } })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
  })

  it('is found by its owners, as they are now', async () => {
    const owner = (uid: string) => ({ apiVersion: 'v1', kind: 'X', name: uid, uid })
    const owners = () =>
      opened.database.readNow(() =>
        opened.database
          .prepare('SELECT owner_uid AS uid FROM owners ORDER BY 1')
          .all()
          .map(({ uid }) => uid),
      )
    const a = await create('a', { ownerReferences: [owner('x'), owner('y')] })
    expect(owners()).toEqual(['x', 'y'])
    const b = await opened.store.replace(withMetadata(a, { ownerReferences: [owner('y'), owner('z')] }), ['meta'])
    expect(owners()).toEqual(['y', 'z'])
    const c = await change(b, 5)
    expect(owners()).toEqual(['y', 'z'])
    await opened.store.remove(c)
    expect(owners()).toEqual([])
  })

  it('is found by its owners, whoever changes them', async () => {
    const owners = (...uids: readonly string[]) => ({
      ownerReferences: uids.map((uid) => ({ apiVersion: 'v1', kind: 'X', name: uid, uid })),
    })
    let a = await create('a', owners('x'))
    for (const uid of ['y', 'z']) {
      const store = createSqliteStore(opened)
      a = await store.replace(withMetadata(a, owners(uid)), ['meta'])
      const index = createSqliteIndex(opened.database)
      const found = await Promise.all(['x', 'y', 'z'].map((one) => index.childrenOf(one)))
      expect(found.map(({ length }) => length)).toEqual(['x', 'y', 'z'].map((one) => (one === uid ? 1 : 0)))
    }
  })

  it('writes of one turn go on from each other', async () => {
    const a = await create('a')
    const [b, c] = await Promise.allSettled([change(a, 2), change(a, 3)])
    expect([b.status, c.status]).toEqual(['fulfilled', 'rejected'])
    expect((await get())?.object.spec).toEqual({ size: 2 })
  })
})

describe('the log of changes', () => {
  const read = (after = 0, more: object = {}) => {
    const { changes, upTo } = opened.changeLog.read({ after, upTo: opened.changeLog.latest(), ...more })
    return `${changes.map(({ type, touched, stored }) => `${type} ${touched.join()} ${stored.object.metadata.name}`).join('; ')} | ${upTo}`
  }

  it('has each change, in order, with what it touched', async () => {
    const a = await create('a')
    await opened.store.remove(await opened.store.replace(withSpec(a, { size: 2 }), ['spec', 'labels']))
    expect(read()).toBe('added spec a; modified spec,labels a; removed delete a | 4')
    expect(read(2)).toBe('modified spec,labels a; removed delete a | 4')
    expect(read(4)).toBe(' | 4')
    expect(read(0, { kindId: 99 })).toBe(' | 4')
    expect(read(0, { upTo: 2 })).toBe('added spec a | 2')
  })

  it('ends a stretch behind a damaged change, and tells of none before it', async () => {
    for (const name of ['a', 'b', 'c']) await create(name)
    run(`UPDATE changes SET doc = '{' WHERE rv = 3`)
    expect(read()).toBe('added spec a | 2')
    expect(() => read(2)).toThrow(expect.objectContaining({ code: 'EXPIRED' }))
    expect(read(3)).toBe('added spec c | 4')
  })

  it('ends a stretch with the state that makes it long', async () => {
    for (const name of ['a', 'b', 'c'])
      await opened.store.create(withSpec(storedWidget(name), { text: 'x'.repeat(130_000) }))
    expect(read()).toBe('added spec a; added spec b | 3')
    expect(read(3)).toBe('added spec c | 4')
  })

  it('ends a stretch behind a thousand numbers', () => {
    expect(opened.changeLog.read({ after: 0, upTo: 5_000 })).toEqual({ changes: [], upTo: 1_000 })
    expect(opened.changeLog.read({ after: 4_500, upTo: 5_000 })).toEqual({ changes: [], upTo: 5_000 })
  })

  it.each([
    [249_999, 3],
    [250_000, 2],
  ])('ends a stretch with 250,000 characters: behind %d it is at %d', async (length, upTo) => {
    await create('a')
    await create('b')
    run(
      `UPDATE changes SET sum = NULL, doc = doc || printf('%*s', ${length} - length(doc) - length(coalesce(engine, '')), '') WHERE rv = 2`,
    )
    expect(opened.changeLog.read({ after: 0, upTo: 3 }).upTo).toBe(upTo)
  })

  it('goes on after a restart where it was', async () => {
    await create('a')
    const { database, clock } = opened
    const again = createSqliteChangeLog({ database, clock })
    expect([again.latest(), again.horizon()]).toEqual([2, 0])
    expect(createSqliteChangeLog({ database: openSqliteDatabase(':memory:'), clock }).latest()).toBe(1)
  })
})

describe('old states', () => {
  const rows = () =>
    opened.database.readNow(() =>
      opened.database
        .prepare('SELECT rv FROM changes ORDER BY rv')
        .all()
        .map(({ rv }) => Number(rv)),
    )
  const minute = 60_000

  it('are forgotten after an hour, but for what is present', async () => {
    const a = await create('a')
    const b = await change(a, 2)
    await create('b')
    await opened.clock.advance(59 * minute)
    await change(b, 3)
    expect([rows(), opened.changeLog.horizon()]).toEqual([[2, 3, 4, 5], 0])
    await opened.clock.advance(minute)
    await create('c')
    expect([rows(), opened.changeLog.horizon()]).toEqual([[3, 4, 5, 6], 4])
    await opened.clock.advance(60 * minute)
    await create('d')
    expect([rows(), opened.changeLog.horizon()]).toEqual([[4, 5, 6, 7], 6])
  })

  it('are forgotten when so much was written since', async () => {
    opened.database.close()
    opened = open({ retainedCharacters: 2_000 })
    const a = await create('a')
    const b = await change(a, 2)
    await opened.clock.advance(100)
    await opened.store.replace(withSpec(b, { size: 3, text: 'x'.repeat(2_000) }), ['spec'])
    expect(rows()).toEqual([3, 4])
  })

  it('of removals are forgotten with them', async () => {
    await opened.store.remove(await create('a'))
    await opened.clock.advance(60 * minute)
    await create('b')
    expect([rows(), opened.changeLog.horizon()]).toEqual([[4], 3])
  })

  it('stay for what a checkpoint has not passed', async () => {
    await change(await create('a'), 2)
    run(`INSERT INTO checkpoints (name, value, keeps_changes) VALUES ('relay', '2', 1)`)
    await opened.clock.advance(60 * minute)
    await create('b')
    expect([rows(), opened.changeLog.horizon()]).toEqual([[2, 3, 4], 2])
  })
})

describe('a feed', () => {
  function follow(options: Partial<FollowOptions> = {}) {
    const abort = new AbortController()
    const feed = createSqliteChangeFeed(opened)
    const batches = feed.follow({ after: '1', signal: abort.signal, ...options })[Symbol.asyncIterator]()
    const show = ({ changes, resourceVersion }: ChangeBatch) =>
      `${changes.map(({ type, stored }) => `${type} ${stored.object.metadata.name}`).join('; ')} | ${resourceVersion}`
    const next = async () => {
      const { done, value } = await batches.next()
      return done === true ? 'over' : show(value)
    }
    return { next, abort, end: () => batches.return?.() }
  }

  it('has what was written, and then what is', async () => {
    await create('a')
    const { next } = follow()
    expect(await next()).toBe('added a | 2')
    const waiting = next()
    await create('b')
    expect(await waiting).toBe('added b | 3')
  })

  it('of a kind has its changes only, and says how far it is', async () => {
    const { next } = follow({ of: { group: 'x', kind: 'Odd' } })
    await create('a')
    expect(await next()).toBe(' | 2')
    const own = follow({ of: widgetKind })
    expect(await own.next()).toBe('added a | 2')
    const waiting = own.next()
    const odd = storedWidget('o')
    await opened.store.create({ ...odd, object: { ...odd.object, kind: 'Odd' } })
    await create('b')
    expect(await waiting).toBe('added b | 4')
  })

  it('hands over what is committed as it was written', async () => {
    const batches = createSqliteChangeFeed(opened).follow({ after: '1', signal: new AbortController().signal })
    const iterator = batches[Symbol.asyncIterator]()
    await iterator.next()
    const waiting = iterator.next()
    const written = await create('a')
    expect((await waiting).value?.changes[0]?.stored).toBe(written)
  })

  it('begins at once, and lets others in before it goes on', async () => {
    for (const name of ['a', 'b', 'c'])
      await opened.store.create(withSpec(storedWidget(name), { text: 'x'.repeat(250_000) }))
    const { next } = follow()
    let turned = 0
    setImmediate(() => turned++)
    expect([await next(), turned]).toEqual(['added a | 2', 0])
    expect([await next(), turned]).toEqual(['added b | 3', 1])
    setImmediate(() => turned++)
    expect([await next(), turned]).toEqual(['added c | 4', 2])
  })

  it('begins where what is forgotten ends', async () => {
    await create('a')
    run('UPDATE horizon SET rv = 1')
    expect(await follow({ after: '1' }).next()).toBe('added a | 2')
  })

  it('is told by one listener at a time, and by none when it has ended', async () => {
    let listeners = 0
    const changeLog: SqliteChangeLog = {
      ...opened.changeLog,
      subscribe: (listener) => {
        listeners++
        const end = opened.changeLog.subscribe(listener)
        return () => {
          listeners--
          end()
        }
      },
    }
    const feed = createSqliteChangeFeed({ database: opened.database, changeLog })
    const iterator = feed.follow({ after: '1', signal: new AbortController().signal })[Symbol.asyncIterator]()
    await iterator.next()
    expect(listeners).toBe(1)
    for (const name of ['a', 'b', 'c', 'd'])
      await opened.store.create(withSpec(storedWidget(name), { text: 'x'.repeat(340_000) }))
    await iterator.next()
    expect(listeners).toBe(0)
    for (let i = 0; i < 3; i++) await iterator.next()
    expect(listeners).toBe(1)
    await iterator.return?.()
    expect(listeners).toBe(0)
  })

  it('reads the log again when it has fallen behind', async () => {
    const { next } = follow()
    expect(await next()).toBe(' | 1')
    const large = (name: string) => opened.store.create(withSpec(storedWidget(name), { text: 'x'.repeat(340_000) }))
    for (const name of ['a', 'b', 'c', 'd']) await large(name)
    expect([await next(), await next(), await next()]).toEqual(['added a | 2', 'added b | 3', 'added c | 4'])
  })

  it('ends when its reader goes', async () => {
    const { next, abort } = follow()
    expect(await next()).toBe(' | 1')
    const waiting = next()
    abort.abort()
    expect([await waiting, await next()]).toEqual(['over', 'over'])
    const other = follow()
    await other.next()
    expect(await other.end()).toEqual({ done: true, value: undefined })
  })

  it.each(['0', '9'])('does not begin at %s, which is not there', async (after) => {
    await create('a')
    run('UPDATE horizon SET rv = 1')
    await expect(follow({ after }).next()).rejects.toMatchObject({ code: 'EXPIRED' })
  })

  it('tells where it ends', async () => {
    await create('a')
    expect(await createSqliteChangeFeed(opened).latest()).toBe('2')
  })
})

it('a state whose commit failed is never read', async () => {
  const live = await change(await create('a'), 1)
  run("CREATE TRIGGER broken AFTER INSERT ON changes BEGIN SELECT RAISE(ABORT, 'broken'); END")
  await expect(change(live, 2)).rejects.toThrow('broken')
  run('DROP TRIGGER broken')
  expect((await opened.store.get(keyOf(live.object)))?.object.spec).toEqual({ size: 1 })
  expect((await change(live, 3)).object.spec).toEqual({ size: 3 })
})
