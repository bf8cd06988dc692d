import type { StatementSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createQuarantine } from '../../../../../shared/adapters/local/sqlite/quarantine.ts'
import { createSqliteChangeFeed } from '../../../../../shared/adapters/local/sqlite/sqlite-change-feed.ts'
import { createSqliteChangeLog } from '../../../../../shared/adapters/local/sqlite/sqlite-change-log.ts'
import { openSqliteDatabase, type SqliteDatabase } from '../../../../../shared/adapters/local/sqlite/sqlite-database.ts'
import { createSqliteStore } from '../../../../../shared/adapters/local/sqlite/sqlite-store.ts'
import { DamagedObjectError } from '../../../../../shared/model/errors.ts'
import { keyOf } from '../../../../../shared/model/object-key.ts'
import type { StoredObject } from '../../../../../shared/model/stored-object.ts'
import { storedWidget, widgetKind, withSpec } from '../../../../support/stored-object.ts'
import { createVirtualClock } from '../../../../support/virtual-clock.ts'

/** A page where a state stands is no page any more: SQLite says so of each statement that comes upon it. */

type Row = Record<string, unknown>

function refuse(row: Row | undefined, errcode: number): void {
  if (typeof row?.['doc'] === 'string' && row['doc'].includes('bad sector'))
    throw Object.assign(new Error('disk I/O error'), { errcode })
}

function failing(database: SqliteDatabase, errcode: number): SqliteDatabase {
  const wrap = (statement: StatementSync): StatementSync =>
    ({
      run: (...values: never[]) => statement.run(...values),
      all: (...values: never[]) => statement.all(...values),
      get: (...values: never[]) => {
        const row = statement.get(...values) as Row | undefined
        refuse(row, errcode)
        return row
      },
      *iterate(...values: never[]) {
        for (const row of statement.iterate(...values) as Iterable<Row>) {
          refuse(row, errcode)
          yield row
        }
      },
    }) as unknown as StatementSync
  return { ...database, prepare: (sql) => wrap(database.prepare(sql)) }
}

let database: SqliteDatabase
beforeEach(() => {
  database = openSqliteDatabase(':memory:')
})
afterEach(() => database.close())

const sick = (name: string): StoredObject => withSpec(storedWidget(name), { text: 'bad sector' })

function open(errcode: number) {
  const own = failing(database, errcode)
  const changeLog = createSqliteChangeLog({ database: own, clock: createVirtualClock(1_000_000) })
  const quarantine = createQuarantine()
  const store = createSqliteStore({ database: own, changeLog, quarantine })
  return { store, quarantine, feed: createSqliteChangeFeed({ database: own, changeLog }) }
}

describe('an object whose page is damaged', () => {
  const errcode = 11

  const written = async () => {
    const { store } = open(errcode)
    const all = [storedWidget('a'), sick('b'), storedWidget('c')]
    return Promise.all(all.map((one) => store.create(one)))
  }

  it('is damaged, and can be deleted by what the error says', async () => {
    await written()
    const { store, quarantine } = open(errcode)
    const key = keyOf(sick('b').object)
    const found = await Promise.resolve(store.get(key)).catch((error: unknown) => error)
    expect(found).toBeInstanceOf(DamagedObjectError)
    expect(quarantine.keys()).toEqual([key])
    expect(await store.get(keyOf(storedWidget('a').object))).toBeDefined()
  })

  it.each([{}, { limit: 2 }, { namespace: 'default' }])('hurts no other of its kind in a list: %j', async (query) => {
    const [a, , c] = await written()
    const { store, quarantine } = open(errcode)
    const key = keyOf(sick('b').object)
    expect(await store.list({ ...widgetKind, ...query })).toMatchObject({ items: [a, c], damaged: [key], more: false })
    expect(quarantine.keys()).toEqual([key])
  })

  it('ends the pages of a list where what it was then cannot be read, and not a list that begins', async () => {
    const { store } = open(errcode)
    const [before] = [await store.create(sick('a'))]
    const asOf = before.object.metadata.resourceVersion
    const now = await store.replace(withSpec(before, { text: 'whole' }), ['spec'])
    await expect(open(errcode).store.list({ ...widgetKind, asOf })).rejects.toMatchObject({ code: 'EXPIRED' })
    expect(await open(errcode).store.list(widgetKind)).toMatchObject({ items: [now] })
  })

  it('has who follows the log told what is ahead of it, and that they are to look anew', async () => {
    const [a] = await written()
    const { feed } = open(errcode)
    const batches = feed.follow({ after: '1', signal: new AbortController().signal })[Symbol.asyncIterator]()
    const { value: first } = await batches.next()
    expect(first).toMatchObject({ changes: [{ stored: a }], resourceVersion: a?.object.metadata.resourceVersion })
    await expect(batches.next()).rejects.toMatchObject({ code: 'EXPIRED' })
  })
})

it('a disk that does not read just now says nothing of an object', async () => {
  const { store, quarantine } = open(266)
  await store.create(sick('a'))
  const { store: again, feed } = open(266)
  const unavailable = { code: 'UNAVAILABLE', message: 'cannot read :memory:: disk I/O error' }
  await expect(Promise.resolve(again.get(keyOf(sick('a').object)))).rejects.toMatchObject(unavailable)
  await expect(again.list(widgetKind)).rejects.toMatchObject(unavailable)
  const batches = feed.follow({ after: '1', signal: new AbortController().signal })[Symbol.asyncIterator]()
  await expect(batches.next()).rejects.toMatchObject(unavailable)
  expect(quarantine.keys()).toEqual([])
})
