import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { rebuildTables } from '../../../../../shared/adapters/local/sqlite/rebuilding.ts'
import { systemClock } from '../../../../../shared/adapters/node/system-clock.ts'
import type { StoredObject } from '../../../../../shared/model/stored-object.ts'
import { openLocalPorts } from '../../../../../shared/runtime/local/ports.ts'
import { storedWidget } from '../../../../support/stored-object.ts'
import { temporaryDirectory, type TemporaryDirectory } from '../../../../support/temporary-directory.ts'

let directory: TemporaryDirectory
let file: string
let connection: DatabaseSync

const owner = { apiVersion: 'example.com/v1', kind: 'Gadget', name: 'x', uid: 'uid-x' }

function gadget(name: string): StoredObject {
  const { object, engine } = storedWidget(name)
  return { object: { ...object, kind: 'Gadget' }, engine }
}

/** Gadgets x, y and z have the numbers 1 to 3, and widgets a, b and c, which x owns, have 4 to 6. */
beforeEach(async () => {
  directory = temporaryDirectory('rebuilding', existsSync('/dev/shm') ? '/dev/shm' : tmpdir())
  file = join(directory.path, 'a.db')
  const ports = openLocalPorts(file, systemClock)
  for (const name of ['x', 'y', 'z']) await ports.store.create(gadget(name))
  for (const name of ['a', 'b', 'c']) await ports.store.create(storedWidget(name, { ownerReferences: [owner] }))
  ports.close()
  connection = new DatabaseSync(file)
  connection.exec(
    "INSERT INTO refs VALUES ('t-one', 1), ('t-two', 1); INSERT INTO checkpoints VALUES ('introduced', '[]', 0, NULL)",
  )
})
afterEach(() => {
  connection.close()
  directory[Symbol.dispose]()
})

const tables = ['kinds', 'objects', 'heads', 'changes', 'owners', 'refs', 'horizon', 'checkpoints']

function contents(names = tables): unknown {
  const rows = names.map((name) => [name, connection.prepare(`SELECT * FROM ${name}`).all()])
  const indexes = connection.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'index' ORDER BY name").all()
  return { ...Object.fromEntries(rows), indexes } as unknown
}

const headDiffers = 'UPDATE heads SET kind = 7 WHERE id = 1;'

describe('tables beside the states', () => {
  it('that are as they were written stay so', () => {
    const before = contents()
    expect(rebuildTables(connection, { isShort: true })).toEqual([])
    expect(contents()).toEqual(before)
  })

  it.each<[string, readonly string[]]>([
    [headDiffers, ['an object and its head differ']],
    ["INSERT INTO owners VALUES ('nobody', 1)", ['what no object has', 'not as many']],
    ['DELETE FROM owners WHERE object_id = 5', ['not as many']],
    // It votes for what most states of its number are not of, whichever of the two is read first.
    [`${headDiffers} UPDATE changes SET kind = 1 WHERE object_id = 6`, ['an object and its head differ']],
    [`${headDiffers} UPDATE changes SET kind = 2 WHERE object_id = 1`, ['an object and its head differ']],
    [`${headDiffers} UPDATE kinds SET kind = 'Gizmo' WHERE kind = 'Gadget'`, ['an object and its head differ']],
    [`${headDiffers} DELETE FROM kinds`, ['an object and its head differ']],
    ['UPDATE objects SET kind = 1 WHERE id = 6', ['an object and its head differ']],
    ['UPDATE objects SET kind = 2 WHERE id = 1', ['an object and its head differ']],
    [
      `${headDiffers} UPDATE objects SET name = 'q', namespace = 'q', uid = 'q', slot = 9, owners = NULL WHERE id = 4`,
      ['what no object has', 'not as many', 'an object and its head differ'],
    ],
  ])('are made anew of the states: %s', (damage, found) => {
    const before = contents(tables.slice(0, -1))
    connection.exec(damage)
    expect(rebuildTables(connection, { isShort: true })).toEqual(found.map((says) => expect.stringContaining(says)))
    expect(contents(tables.slice(0, -1))).toEqual(before)
    // Every object runs once.
    expect(contents(['checkpoints'])).toMatchObject({ checkpoints: [] })
    expect(connection.isTransaction).toBe(false)
    expect(rebuildTables(connection, { isShort: true })).toEqual([])
  })

  /** In the first page of a table or an index. */
  function overwrite(table: string, text: string, other: string): void {
    const { rootpage } = connection.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(table) ?? {}
    connection.close()
    const bytes = readFileSync(file)
    bytes.write(other, bytes.indexOf(text, (Number(rootpage) - 1) * 4_096))
    writeFileSync(file, bytes)
    connection = new DatabaseSync(file)
  }

  it('have the references that the table and its index know of', () => {
    // Behind its neighbour, which it is to be ahead of.
    overwrite('refs', 't-one', 'z-one')
    expect(rebuildTables(connection, { isShort: true })).not.toEqual([])
    const targets = connection.prepare('SELECT target FROM refs').all()
    expect(targets.map(({ target }) => target)).toEqual(['t-one', 't-two', 'z-one'])
  })

  it('have indexes that say what they say', () => {
    overwrite('objects_by_name', 'defaultz', 'default~')
    expect(rebuildTables(connection, { isShort: true })).toEqual(['row 3 missing from index objects_by_name'])
    expect(rebuildTables(connection, { isShort: true })).toEqual([])
  })

  it('that no state tells of stay as they are, which is told', () => {
    connection.exec('DELETE FROM heads WHERE id = 1')
    const before = contents()
    expect(() => rebuildTables(connection, { isShort: true })).toThrow('an object has no head')
    expect(contents()).toEqual(before)
  })

  it.each([
    [true, ['a head is not of the newest state of its object'], 9],
    [false, [], 3],
  ])('are compared with all states where the log is short: %s', (isShort, found, rv) => {
    connection.exec(`INSERT INTO changes
      SELECT 9, object_id, kind, at_ms, rv, written, 'modified', touched, engine, doc, sum FROM changes WHERE rv = 3`)
    expect(rebuildTables(connection, { isShort })).toEqual(found)
    expect(connection.prepare('SELECT rv FROM heads WHERE id = 2').get()).toEqual({ rv })
  })

  it('leave what stands beside a state that is damaged, or that is gone', () => {
    connection.exec(`UPDATE changes SET sum = sum + 1 WHERE object_id = 2; UPDATE objects SET uid = 'u' WHERE id = 2;
      DELETE FROM changes WHERE object_id = 3; UPDATE objects SET uid = 'u' WHERE id = 3; ${headDiffers}`)
    expect(rebuildTables(connection, { isShort: true })).toEqual(['an object and its head differ'])
    const rows = connection.prepare('SELECT id, uid FROM objects WHERE id < 4').all()
    expect(rows).toEqual([
      { id: 1, uid: 'uid-default-x' },
      { id: 2, uid: 'u' },
      { id: 3, uid: 'u' },
    ])
  })

  it.each(['ABORT', 'ROLLBACK'])('that cannot be written stay as they are, and what hinders it is told: %s', (how) => {
    connection.exec(`${headDiffers} CREATE TRIGGER full BEFORE DELETE ON refs BEGIN SELECT RAISE(${how}, 'full'); END`)
    const before = contents()
    expect(() => rebuildTables(connection, { isShort: true })).toThrow('full')
    expect(connection.isTransaction).toBe(false)
    expect(contents()).toEqual(before)
  })
})
