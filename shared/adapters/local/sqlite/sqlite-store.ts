import { keyOf, type ObjectKey } from '../../../model/object-key.ts'
import { type StoredObject, withVersion } from '../../../model/stored-object.ts'
import type { Change } from '../../../ports/change-feed.ts'
import type { ObjectStore } from '../../../ports/object-store.ts'
import { createQuarantine, type Quarantine } from './quarantine.ts'
import type { RowPlace } from './recent-rows.ts'
import type { SqliteChangeLog } from './sqlite-change-log.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { openSqliteKinds } from './sqlite-kinds.ts'
import { createSqliteList } from './sqlite-list.ts'
import { keyNotFound, SqliteObjects, type WrittenRow } from './sqlite-objects.ts'

export interface SqliteStoreOptions {
  readonly database: SqliteDatabase
  readonly changeLog: SqliteChangeLog
  /** Where what is found damaged is noted. */
  readonly quarantine?: Quarantine
}

/**
 * The ObjectStore on SQLite. Writers of one turn of the event loop share a commit; reads see committed rows only, and
 * a long list lets others in between its pages. What it keeps in memory does not grow with the number of objects.
 */
export function createSqliteStore({
  database,
  changeLog,
  quarantine = createQuarantine(),
}: SqliteStoreOptions): ObjectStore {
  const kinds = openSqliteKinds(database)
  const rows = new SqliteObjects(database, quarantine)

  const get: ObjectStore['get'] = (key) =>
    database.find(() => {
      const kindId = kinds.find(key)
      return kindId === undefined ? undefined : rows.get({ kindId, key })
    })

  const existing = (key: ObjectKey): RowPlace => {
    const kindId = kinds.find(key)
    if (kindId === undefined) throw keyNotFound(key)
    return { kindId, key }
  }

  /** Numbers a state, writes its row and the change; when both are committed, the change is told. */
  const write = (placeOf: () => RowPlace, given: StoredObject, work: Work): Promise<StoredObject> => {
    const { type, touched } = work
    let place: RowPlace
    let row: WrittenRow
    return database.write(
      () => {
        place = placeOf()
        const rv = changeLog.nextVersion()
        const stored = withVersion(given, rv)
        row = work.write(place, stored)
        const { id: objectId, doc, engine, supersedes } = row
        changeLog.append({ rv, objectId, kindId: place.kindId, type, touched, supersedes, doc, engine })
        return stored
      },
      (stored) => {
        if (type === 'removed') rows.removed(place)
        else rows.written(place, row, stored)
        const { rv, supersedes } = row
        changeLog.publish({ rv, kindId: place.kindId, supersedes, change: { type, touched, stored } })
      },
    )
  }

  return {
    get,
    list: createSqliteList({ database, changeLog, kinds, quarantine }),
    create: async (stored) => {
      const key = keyOf(stored.object)
      const place = { kindId: kinds.intern(key), key }
      return write(() => place, stored, {
        type: 'added',
        touched: ['spec'],
        write: (at, given) => rows.insert(at, given),
      })
    },
    replace: (before, touched) =>
      write(() => existing(keyOf(before.object)), before, {
        type: 'modified',
        touched,
        write: (place, stored) => rows.update(place, before.object, { stored, touched }),
      }),
    remove: (before) =>
      write(() => existing(keyOf(before.object)), before, {
        type: 'removed',
        touched: ['delete'],
        write: (place, stored) => rows.delete(place, before.object, stored),
      }),
  }
}

/** One of the three ways to write, within a commit. */
interface Work extends Pick<Change, 'type' | 'touched'> {
  /** Refuses by throwing, before it has written anything. */
  readonly write: (place: RowPlace, stored: StoredObject) => WrittenRow
}
