import { describe, expect, it } from 'vitest'
import { keyOf } from '../../shared/model/object-key.ts'
import { openSqlite, openSqliteFile } from '../support/sqlite.ts'
import { storedWidget } from '../support/stored-object.ts'
import { objectIndexContract } from './object-index.contract.ts'

const caughtUp = (): Promise<void> => Promise.resolve()

objectIndexContract('SQLite in memory', () => ({ ...openSqlite(':memory:'), caughtUp }))
objectIndexContract('SQLite in a file', () => ({ ...openSqliteFile(), caughtUp }))

describe('references on SQLite', () => {
  it('are not written again when they are the same', async () => {
    const { database, store, index, close } = openSqlite(':memory:')
    const written = (): unknown => database.prepare('SELECT total_changes() AS count').get()?.['count']
    const target = { group: '', kind: 'ConfigMap', namespace: 'default', name: 'settings' }
    const { object } = await store.create(storedWidget('a'))
    await index.setReferences(keyOf(object), [target])
    const before = written()
    await index.setReferences(keyOf(object), [target])
    await index.setReferences({ ...keyOf(object), name: 'absent' }, [target])
    expect(written()).toBe(before)
    close()
  })
})
