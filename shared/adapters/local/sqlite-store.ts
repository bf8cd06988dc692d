import { keyOf } from '../../model/object-key.ts'
import type { StoredObject } from '../../model/stored-object.ts'
import type { Change } from '../../ports/change-feed.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { ChangeEntry, PublishedChange, SqliteChangeLog } from './sqlite-change-log.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { createSqliteKinds } from './sqlite-kinds.ts'
import { createSqliteList } from './sqlite-list.ts'
import { createSqliteObjects, notFound } from './sqlite-objects.ts'
import { columnsOf, withVersion } from './sqlite-rows.ts'

export interface SqliteStoreOptions {
  readonly database: SqliteDatabase
  readonly changeLog: SqliteChangeLog
}

/**
 * The ObjectStore on SQLite. Writers of one turn of the event loop share a commit; reads see committed rows only, and
 * a long list lets others in between its pages. Keeps nothing per object in memory.
 */
export function createSqliteStore({ database, changeLog }: SqliteStoreOptions): ObjectStore {
  const kinds = createSqliteKinds(database)
  const rows = createSqliteObjects(database)

  const log = (entry: Omit<ChangeEntry, 'removed'>, type: Change['type'], stored: StoredObject): PublishedChange => {
    changeLog.append(type === 'removed' ? { ...entry, removed: JSON.stringify(stored) } : entry)
    return { rv: entry.rv, kindId: entry.kindId, change: { type, touched: entry.touched, stored } }
  }

  const get: ObjectStore['get'] = (key) =>
    database.read(() => {
      const kindId = kinds.find(key)
      return kindId === undefined ? undefined : rows.get(kindId, key)
    })

  const create: ObjectStore['create'] = async (stored) => {
    const key = keyOf(stored.object)
    const kindId = kinds.intern(key)
    const written = await database.write(() => {
      const rv = changeLog.nextVersion()
      const numbered = withVersion(stored, rv)
      const objectId = rows.insert({ kindId, key, rv, uid: stored.object.metadata.uid }, columnsOf(numbered))
      return log({ rv, objectId, kindId, touched: ['spec'] }, 'added', numbered)
    }, changeLog.publish)
    return written.change.stored
  }

  const replace: ObjectStore['replace'] = async (stored, touched) => {
    const key = keyOf(stored.object)
    const kindId = kinds.find(key)
    if (kindId === undefined) throw notFound(key)
    const written = await database.write(() => {
      const current = rows.current(kindId, key, stored)
      const rv = changeLog.nextVersion()
      const numbered = withVersion(stored, rv)
      rows.update(current, rv, columnsOf(numbered))
      return log({ rv, objectId: current.id, kindId, touched }, 'modified', numbered)
    }, changeLog.publish)
    return written.change.stored
  }

  const remove: ObjectStore['remove'] = async (stored) => {
    const key = keyOf(stored.object)
    const kindId = kinds.find(key)
    if (kindId === undefined) throw notFound(key)
    const written = await database.write(() => {
      const current = rows.current(kindId, key, stored)
      rows.delete(current)
      const rv = changeLog.nextVersion()
      return log({ rv, objectId: current.id, kindId, touched: ['delete'] }, 'removed', withVersion(stored, rv))
    }, changeLog.publish)
    return written.change.stored
  }

  return { get, list: createSqliteList({ database, changeLog, kinds }), create, replace, remove }
}
