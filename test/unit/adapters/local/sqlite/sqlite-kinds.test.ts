import { expect, it } from 'vitest'
import { openSqliteDatabase } from '../../../../../shared/adapters/local/sqlite/sqlite-database.ts'
import { openSqliteKinds } from '../../../../../shared/adapters/local/sqlite/sqlite-kinds.ts'

const gadget = { group: 'example.com', kind: 'Gadget' }

it('gives a kind a number that all of the database know, those too who asked before', () => {
  const database = openSqliteDatabase(':memory:')
  const [one, other] = [openSqliteKinds(database), openSqliteKinds(database)]
  expect(other.find(gadget)).toBeUndefined()
  const id = one.intern(gadget)
  expect([other.find(gadget), one.find(gadget), other.intern(gadget)]).toEqual([id, id, id])
  expect(other.find({ ...gadget, group: '' })).toBeUndefined()
  database.close()
})

it('knows no number of another database', () => {
  const [here, there] = [openSqliteDatabase(':memory:'), openSqliteDatabase(':memory:')]
  openSqliteKinds(here).intern(gadget)
  expect(openSqliteKinds(there).find(gadget)).toBeUndefined()
  here.close()
  there.close()
})

it('looks once more for a kind whose number may be there, since its write failed', () => {
  const database = openSqliteDatabase(':memory:')
  const insert = database.prepare('INSERT INTO kinds (id, api_group, kind) VALUES (7, ?, ?)')
  let fails = true
  const kinds = openSqliteKinds({
    ...database,
    writeNow: (work) => {
      if (!fails) return database.writeNow(work)
      fails = false
      insert.run(gadget.group, gadget.kind)
      throw new Error('the answer is lost')
    },
  })
  expect(kinds.find(gadget)).toBeUndefined()
  expect(() => kinds.intern(gadget)).toThrow('the answer is lost')
  expect(kinds.intern(gadget)).toBe(7)
  database.close()
})

it('remembers a bounded number of kinds that are not there, and those that are', () => {
  const database = openSqliteDatabase(':memory:')
  let looks = 0
  const readNow: typeof database.readNow = (look) => {
    looks++
    return database.readNow(look)
  }
  const kinds = openSqliteKinds({ ...database, readNow })
  const id = kinds.intern(gadget)
  for (let i = 0; i < 2_500; i++) expect(kinds.find({ group: '', kind: `Kind${i}` })).toBeUndefined()
  expect(kinds.find(gadget)).toBe(id)
  const before = looks
  expect(kinds.find(gadget)).toBe(id)
  expect(looks).toBe(before)
  database.close()
})

it('refuses to say that a kind is not there when the database is closed', () => {
  const database = openSqliteDatabase(':memory:')
  const kinds = openSqliteKinds(database)
  expect(kinds.find(gadget)).toBeUndefined()
  database.close()
  expect(() => kinds.find(gadget)).toThrow('is closed')
})

it('remembers a thousand kinds that are not there, and begins anew with the next', () => {
  const database = openSqliteDatabase(':memory:')
  let looks = 0
  const kinds = openSqliteKinds({
    ...database,
    prepare: (sql) => {
      const statement = database.prepare(sql)
      const get = statement.get.bind(statement)
      return Object.assign(statement, {
        get: (...given: readonly string[]) => {
          looks++
          return get(...given)
        },
      })
    },
  })
  const find = (from: number, to: number): number => {
    const before = looks
    for (let i = from; i < to; i++) kinds.find({ group: '', kind: `Kind${i}` })
    return looks - before
  }
  kinds.intern(gadget)
  kinds.find(gadget)
  // A kind that was interned was missed before.
  expect([find(0, 999), find(0, 999), find(999, 1_000)]).toEqual([999, 0, 1])
  // The one that was too many is remembered alone.
  expect([find(999, 1_000), find(0, 1)]).toEqual([0, 1])
  expect([find(1, 999), find(1, 999), find(1_000, 1_001), find(1, 2)]).toEqual([998, 0, 1, 1])
  database.close()
})
