import { existsSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createSqliteCheckpoint } from '../../../../../shared/adapters/local/sqlite/sqlite-checkpoint.ts'
import { openSqliteDatabase, type SqliteDatabase } from '../../../../../shared/adapters/local/sqlite/sqlite-database.ts'
import { temporaryDirectory, type TemporaryDirectory } from '../../../../support/temporary-directory.ts'

let directory: TemporaryDirectory
let file: string
const at = (name: string): string => join(directory.path, name)
beforeEach(() => {
  directory = temporaryDirectory('database')
  file = at('a.db')
})
afterEach(() => directory[Symbol.dispose]())

function raw(sql: string): void {
  using database = new DatabaseSync(file)
  database.exec(sql)
}

const setting = (database: SqliteDatabase, name: string): unknown =>
  Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0]

describe('a database', () => {
  it('is held by one, durable with each commit, and of a bounded log', () => {
    const database = openSqliteDatabase(file)
    const names = [
      'locking_mode',
      'journal_mode',
      'synchronous',
      'cache_size',
      'wal_autocheckpoint',
      'journal_size_limit',
    ]
    expect(names.map((name) => setting(database, name))).toEqual(['exclusive', 'wal', 2, -16_384, 4_000, 67_108_864])
    expect((statSync(file).mode & 0o777).toString(8)).toBe('600')
    expect(['application_id', 'user_version'].map((name) => setting(database, name))).toEqual([0x5e7901, 5])
    expect(() => openSqliteDatabase(file)).toThrow(
      'another process holds it: stop that process, or choose another directory (--data-dir)',
    )
    database.close()
    openSqliteDatabase(file).close()
  })

  it('may be in memory, and leaves no file', () => {
    // Who tries a mutant leaves one.
    rmSync(':memory:', { force: true })
    const databases = [openSqliteDatabase(':memory:'), openSqliteDatabase(':memory:')]
    expect(existsSync(':memory:')).toBe(false)
    databases[0]?.close()
    databases[1]?.leave()
  })

  it('takes no write of any kind while writes are refused', async () => {
    const database = openSqliteDatabase(file)
    const remove = database.prepare('DELETE FROM checkpoints')
    for (const why of ['a reason', undefined, 'a reason', undefined]) {
      database.refuseWrites(why)
      expect(database.whyRefused()).toBe(why)
      if (why === undefined) {
        remove.run()
        await database.write(() => remove.run())
        continue
      }
      expect(() => remove.run()).toThrow('attempt to write a readonly database')
      expect(() => database.writeNow(() => remove.run())).toThrow(`cannot write to ${file}: a reason`)
      await expect(database.write(() => remove.run())).rejects.toThrow(`cannot write to ${file}: a reason`)
    }
    database.close()
  })

  it('that is left is closed, whether it was before or not', () => {
    for (const how of ['close', 'leave'] as const) {
      const database = openSqliteDatabase(file)
      database[how]()
      database.leave()
      database.close()
      expect(() => database.readNow(() => 1)).toThrow(`${file} is closed`)
    }
  })

  it('is nothing more once it is closed', async () => {
    const database = openSqliteDatabase(file)
    database.close()
    database.close()
    const closed = expect.objectContaining({ code: 'UNAVAILABLE', message: `${file} is closed` })
    const work = (): number => 1
    for (const refused of [
      database.read(work),
      Promise.resolve(database.find(work)),
      database.write(work),
      database.copyTo(at('copy')),
      Promise.resolve().then(() => database.readNow(work)),
      Promise.resolve().then(() => database.writeNow(work)),
    ])
      await expect(refused).rejects.toEqual(closed)
    expect(existsSync(at('copy'))).toBe(false)
  })

  it('commits what waits when it is closed', async () => {
    const database = openSqliteDatabase(file)
    const insert = database.prepare("INSERT INTO checkpoints VALUES ('c', '1', 0, NULL)")
    const written = database.write(() => Number(insert.run().changes))
    database.close()
    expect(await written).toBe(1)
    const again = openSqliteDatabase(file)
    expect(again.prepare('SELECT value FROM checkpoints').all()).toEqual([{ value: '1' }])
    again.close()
  })

  it('tells what a look throws, and finds at once what is there', async () => {
    const database = openSqliteDatabase(file)
    const broken = (): never => {
      throw new RangeError('a bug')
    }
    expect([database.find(() => 1), await database.read(() => 2), database.readNow(() => 3)]).toEqual([1, 2, 3])
    await expect(database.read(broken)).rejects.toThrow('a bug')
    await expect(database.find(broken)).rejects.toThrow('a bug')
    database.close()
  })
})

function failureOf(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    return error
  }
}

describe('a file is refused', () => {
  it.each<[string, () => void, string]>([
    [
      'that is no database',
      () => writeFileSync(file, 'x'.repeat(1_000)),
      ': file is not a database: put back a copy of it, or',
    ],
    [
      'of another program that has written nothing yet',
      () => raw('PRAGMA user_version = 4'),
      " is another program's database: choose another file",
    ],
    [
      'whose head names another program',
      () => {
        openSqliteDatabase(file).close()
        raw('PRAGMA application_id = 1')
      },
      ' is damaged in its head: put back a copy of it, or choose another file',
    ],
    ['of another program', () => raw('CREATE TABLE t (x)'), " is another program's database: choose another file"],
    [
      'of a newer version',
      () => {
        openSqliteDatabase(file).close()
        raw('PRAGMA user_version = 6')
      },
      ' has layout 6, this version knows layout 5: start a newer version',
    ],
    [
      'of a version that is forgotten',
      () => {
        openSqliteDatabase(file).close()
        raw('PRAGMA user_version = 1')
      },
      ' has layout 1, this version knows layout 5: choose another file',
    ],
    [
      'with a table of other columns',
      () => {
        openSqliteDatabase(file).close()
        raw('ALTER TABLE checkpoints RENAME COLUMN keeps_changes TO other')
      },
      ': it is damaged: put back a copy of it, or choose another file',
    ],
    [
      'with a damaged page',
      () => {
        openSqliteDatabase(file).close()
        const bytes = readFileSync(file)
        writeFileSync(file, bytes.fill(0x5a, 3 * 4_096, 4 * 4_096))
      },
      ': it is damaged: put back a copy of it, or choose another file',
    ],
    ['in a directory that is not there', () => (file = at('none/a.db')), ': ENOENT: no such file or directory'],
  ])('%s', (_what, make, says) => {
    make()
    // Each time: it is let go.
    for (let i = 0; i < 2; i++) {
      const thrown = failureOf(() => openSqliteDatabase(file))
      expect(thrown).toMatchObject({ code: 'UNAVAILABLE', message: expect.stringContaining(`${file}${says}`) })
      // A backup helps where the file is damaged, and nowhere else.
      expect(String(thrown).includes('put back')).toBe(says.includes('put back'))
    }
  })
})

it.each([
  [24_414, true],
  [24_415, false],
])('each page of a file up to 100 MB is looked at: %i of them, of which nobody has a use: %s', (pages, isRefused) => {
  openSqliteDatabase(file).close()
  const bytes = readFileSync(file)
  bytes.writeUInt32BE(pages, 28)
  writeFileSync(file, bytes)
  truncateSync(file, pages * 4_096)
  const open = (): void => openSqliteDatabase(file).close()
  if (isRefused) expect(open).toThrow('it is damaged: put back a copy of it')
  else expect(open).not.toThrow()
})

describe('a copy', () => {
  it('goes where it can, or says why not', async () => {
    const database = openSqliteDatabase(file)
    await database.copyTo(at('copy.db'))
    await expect(database.copyTo(at('none/copy.db'))).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: `cannot copy ${file} to ${at('none/copy.db')}: unable to open database file`,
    })
    database.close()
    openSqliteDatabase(at('copy.db')).close()
  })

  it('is given up after a hundred tries without a pause between writes', async () => {
    const database = openSqliteDatabase(file)
    database.prepare('BEGIN IMMEDIATE').run()
    const turns = vi.spyOn(globalThis, 'setImmediate')
    await expect(database.copyTo(at('copy.db'))).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: `cannot copy to ${at('copy.db')}: writes leave no pause: try again`,
    })
    expect(turns).toHaveBeenCalledTimes(100)
    turns.mockRestore()
    database.prepare('ROLLBACK').run()
    database.close()
  })
})

describe('a checkpoint', () => {
  it.each([
    [undefined, 0],
    [false, 0],
    [true, 1],
  ])('that keeps changes (%s) is saved as one, and loaded', async (keepsChanges, kept) => {
    const database = openSqliteDatabase(':memory:')
    const options = { database, name: 'c', ...(keepsChanges !== undefined && { keepsChanges }) }
    const checkpoint = createSqliteCheckpoint(options)
    expect(await checkpoint.load()).toBeUndefined()
    await checkpoint.save('1')
    await checkpoint.save('2')
    expect(await createSqliteCheckpoint(options).load()).toBe('2')
    expect(await createSqliteCheckpoint({ ...options, name: 'other' }).load()).toBeUndefined()
    expect(database.prepare('SELECT * FROM checkpoints').all()).toEqual([
      { name: 'c', value: '2', keeps_changes: kept, sum: expect.any(Number) as unknown },
    ])
    database.close()
  })

  it.each([
    ["value = '3'", undefined],
    ['keeps_changes = 1', undefined],
    ['sum = 7', undefined],
    ["name = 'd'", undefined],
    ["value = '3', sum = NULL", '3'],
  ])('that is damaged is as one that was never saved: %s', async (damage, found) => {
    const database = openSqliteDatabase(':memory:')
    await createSqliteCheckpoint({ database, name: 'c' }).save('2')
    await createSqliteCheckpoint({ database, name: 'e' }).save('2')
    database.prepare(`UPDATE checkpoints SET ${damage} WHERE name = 'c'`).run()
    const name = damage.startsWith('name') ? 'd' : 'c'
    expect(await createSqliteCheckpoint({ database, name }).load()).toBe(found)
    expect(await createSqliteCheckpoint({ database, name: 'e' }).load()).toBe('2')
    database.close()
  })
})
