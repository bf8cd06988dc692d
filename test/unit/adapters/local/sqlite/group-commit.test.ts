import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { createGroupCommit } from '../../../../../shared/adapters/local/sqlite/group-commit.ts'
import { OperatingError } from '../../../../../shared/model/errors.ts'

function table(): { readonly connection: DatabaseSync; insert(id: number): number; ids(): readonly unknown[] } {
  const connection = new DatabaseSync(':memory:')
  connection.exec('CREATE TABLE a (id INTEGER PRIMARY KEY)')
  return {
    connection,
    insert: (id) => Number(connection.prepare('INSERT INTO a VALUES (?)').run(id).changes),
    ids: () =>
      connection
        .prepare('SELECT id FROM a ORDER BY id')
        .all()
        .map(({ id }) => id),
  }
}

it('one commit serves all writes of a turn; each writer is told in their order', async () => {
  const { connection, insert, ids } = table()
  const { write } = createGroupCommit(connection, 'f')
  const told: number[] = []
  const all = [1, 2, 3].map((id) =>
    write(
      () => insert(id),
      () => told.push(id),
    ),
  )
  expect([ids(), told]).toEqual([[], []])
  expect(await Promise.all(all)).toEqual([1, 1, 1])
  expect([ids(), told]).toEqual([
    [1, 2, 3],
    [1, 2, 3],
  ])
})

it.each([
  ['is refused', () => new OperatingError('VERSION_CONFLICT', 'no'), 'no', 1],
  ['breaks', () => new RangeError('a bug'), 'a bug', 2],
])('a write that %s takes no other with it', async (_what, errorOf, message, times) => {
  const { connection, insert, ids } = table()
  const { write } = createGroupCommit(connection, 'f')
  let runs = 0
  const first = write(() => {
    runs++
    return insert(1)
  })
  const broken = write(() => {
    throw errorOf()
  })
  const last = write(() => insert(2))
  await expect(broken).rejects.toThrow(message)
  expect(await Promise.all([first, last])).toEqual([1, 1])
  expect(ids()).toEqual([1, 2])
  expect(runs).toBe(times)
})

it('a thousand writes are one commit, and the others come with the next turn', async () => {
  const { connection, insert, ids } = table()
  const { write } = createGroupCommit(connection, 'f')
  const all = Array.from({ length: 1_001 }, (_, id) => write(() => insert(id)))
  // Whoever waits for a turn of the event loop has it in between.
  await new Promise((resolve) => setImmediate(resolve))
  expect(ids()).toHaveLength(1_000)
  await all[1_000]
  expect(ids()).toHaveLength(1_001)
})

it('what waits is committed at once when that is asked for', () => {
  const { connection, insert, ids } = table()
  const { write, flush } = createGroupCommit(connection, 'f')
  for (let id = 0; id < 1_500; id++) void write(() => insert(id))
  flush()
  expect(ids()).toHaveLength(1_500)
})

it.each([11, 26, 10 | (1 << 8), 10 | (2 << 8)])(
  'a write that comes upon what cannot be read, as SQLite says by %d, is UNAVAILABLE, and takes no other with it',
  async (errcode) => {
    const { connection, insert, ids } = table()
    const { write } = createGroupCommit(connection, 'f')
    const all = await Promise.allSettled([
      write(() => insert(1)),
      write(() => {
        insert(2)
        throw Object.assign(new Error('malformed'), { errcode })
      }),
      write(() => insert(3)),
    ])
    expect(all).toMatchObject([
      { value: 1 },
      { reason: { code: 'UNAVAILABLE', message: 'cannot write to f: malformed' } },
      { value: 1 },
    ])
    expect(ids()).toEqual([1, 3])
  },
)

/** What both writers of a commit are told when SQLite says so, in a write or in the commit itself. */
it.each([
  ['INSERT', 10, 'UNAVAILABLE'],
  ['INSERT', 13, 'UNAVAILABLE'],
  ['COMMIT', 10, 'WRITE_UNKNOWN'],
  ['COMMIT', 13, 'UNAVAILABLE'],
  ['COMMIT', 10 | (3 << 8), 'UNAVAILABLE'],
])('when %s fails with %d, every write of the commit is %s', async (at, errcode, code) => {
  const did: string[] = []
  const run = (sql: string) => () => {
    did.push(sql)
    if (sql === at) throw Object.assign(new Error('disk'), { errcode })
  }
  const connection = {
    prepare: (sql: string) => ({ run: run(sql) }),
    exec: (sql: string) => did.push(sql),
    isTransaction: true,
  } as unknown as DatabaseSync
  const { write } = createGroupCommit(connection, 'f')
  const told = await Promise.allSettled([write(() => 1), write(run('INSERT'))])
  expect(told).toMatchObject([{ reason: { code } }, { reason: { code } }])
  expect(did).toEqual(['BEGIN IMMEDIATE', 'INSERT', ...(at === 'COMMIT' ? ['COMMIT'] : []), 'ROLLBACK'])
})

it('a batch that SQLite has put back itself is not put back again', async () => {
  const { connection, insert, ids } = table()
  connection.exec("CREATE TRIGGER full BEFORE INSERT ON a WHEN new.id = 2 BEGIN SELECT RAISE(ROLLBACK, 'full'); END")
  const { write } = createGroupCommit(connection, 'f')
  const all = await Promise.allSettled([1, 2, 3].map((id) => write(() => insert(id))))
  expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(ids()).toEqual([1, 3])
})
