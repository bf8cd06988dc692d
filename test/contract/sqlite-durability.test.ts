import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createSqliteCheckpoint } from '../../shared/adapters/local/sqlite/sqlite-checkpoint.ts'
import { openSqliteDatabase } from '../../shared/adapters/local/sqlite/sqlite-database.ts'
import { DamagedObjectError, OperatingError } from '../../shared/model/errors.ts'
import { keyOf } from '../../shared/model/object-key.ts'
import type { StoredObject } from '../../shared/model/stored-object.ts'
import { createSeededRandom } from '../../shared/testing/seeded-random.ts'
import { expectCode } from '../support/expect-code.ts'
import { openSqlite, temporaryFile } from '../support/sqlite.ts'
import { storedWidget, versionOf, widgetKind, withSpec } from '../support/stored-object.ts'
import { share } from '../support/strength.ts'

let file: string
let remove: () => void

beforeEach(() => {
  ;({ file, remove } = temporaryFile())
})
afterEach(() => remove())

describe('a process that is killed', () => {
  const rounds = share(20)
  const random = createSeededRandom(7)

  it(`has kept every write it acknowledged, ${rounds} times over`, async () => {
    let acknowledged = 0
    for (let round = 0; round < rounds; round++) {
      const acks = await killedWriter(round, 20 + random.next() * 60)
      acknowledged += acks.size
      const { database, store, feed, close } = openSqlite(file)
      expect(database.prepare('PRAGMA quick_check').all()).toEqual([{ quick_check: 'ok' }])
      for (const [name, version] of acks) {
        const stored = await store.get({ ...widgetKind, namespace: 'default', name })
        expect(versionOf(stored)).toBeGreaterThanOrEqual(version)
        expect(versionOf(stored)).toBeLessThanOrEqual(Number(await feed.latest()))
      }
      close()
    }
    expect(acknowledged).toBeGreaterThan(rounds)
  })

  /**
   * The last acknowledged version of each object, from a writer that is killed so long after its first acknowledgement.
   */
  async function killedWriter(round: number, afterMs: number): Promise<ReadonlyMap<string, number>> {
    const script = fileURLToPath(new URL('crash-writer.ts', import.meta.url))
    const child: ChildProcess = spawn(process.execPath, [script, file, String(round)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let said = ''
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (said += text))
    if (child.stdout !== null) await once(child.stdout, 'data')
    setTimeout(() => child.kill('SIGKILL'), afterMs)
    await once(child, 'close')
    expect(child.signalCode).toBe('SIGKILL')
    // The last line may have been cut off by the kill.
    const lines = said.split('\n').slice(0, -1)
    return new Map(lines.map((line) => line.split(' ')).map(([name = '', version]) => [name, Number(version)]))
  }
})

describe('a restart', () => {
  it('goes on above every resourceVersion ever given, though the last write was a removal', async () => {
    const first = openSqlite(file)
    const last = await first.store.remove(await first.store.create(storedWidget('a')))
    first.close()
    const second = openSqlite(file)
    expect(Number(await second.feed.latest())).toBe(versionOf(last))
    expect(versionOf(await second.store.create(storedWidget('a')))).toBeGreaterThan(versionOf(last))
    second.close()
  })

  it('finds objects, engine state, owners and references as they were', async () => {
    const first = openSqlite(file)
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Owner', name: 'o', uid: 'owner' }]
    const created = await first.store.create({ ...storedWidget('a', { ownerReferences }), engine: { wakeAtMs: 5 } })
    const key = keyOf(created.object)
    await first.index.setReferences(key, [key])
    first.close()
    const { store, index, close } = openSqlite(file)
    expect(await store.get(key)).toEqual(created)
    expect(await Promise.all([index.childrenOf('owner'), index.referrers(key)])).toEqual([[key], [key]])
    expect(await index.due(widgetKind, 5, 1)).toEqual([{ key, dueAtMs: 5 }])
    close()
  })
})

describe('an object whose row is damaged', () => {
  const flip = "replace(doc, 'needle', 'noodle')"

  it.each([
    ['has another value', `UPDATE changes SET doc = ${flip} WHERE rv = ?`],
    ['has another value of the engine', `UPDATE changes SET engine = '{"wakeAtMs":7}' WHERE rv = ?`],
    ['is no JSON', `UPDATE changes SET doc = '{"secret' || x'ff' WHERE rv = ?`],
    ['is gone', 'DELETE FROM changes WHERE rv = ?'],
    [
      'is that of another',
      'UPDATE changes SET (doc, sum) = (SELECT doc, sum FROM changes WHERE rv = ?1 + 1) WHERE rv = ?1',
    ],
  ])('where it %s, is told from others, hurts none of them, and can be removed', async (_, damage) => {
    const first = openSqlite(file)
    const damaged = await first.store.create(withSpec(storedWidget('a'), { text: 'needle' }))
    const whole = await first.store.create(storedWidget('b'))
    first.database.prepare(damage).run(versionOf(damaged))
    first.close()

    const { store, feed, close } = openSqlite(file)
    const key = keyOf(damaged.object)
    const error = await Promise.resolve(store.get(key)).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(DamagedObjectError)
    expect(error).toMatchObject({
      code: 'DAMAGED',
      message: expect.stringMatching(/^example\.com\/Widget\/default\/a is damaged/),
    })
    expect(await store.list(widgetKind)).toMatchObject({ items: [whole], damaged: [key] })
    expect(await store.list({ ...widgetKind, limit: 1 })).toMatchObject({ items: [whole], damaged: [key], more: false })
    expect(await store.get(keyOf(whole.object))).toEqual(whole)

    const left = (error as DamagedObjectError).remains
    const { object } = storedWidget('a', left)
    await store.remove({ object, engine: {} })
    expect(await store.get(key)).toBeUndefined()
    expect(await store.list(widgetKind)).toEqual({ items: [whole], resourceVersion: await feed.latest(), more: false })
    expect(await store.get(keyOf((await store.create(storedWidget('a'))).object))).toBeDefined()
    close()
  })

  it('ends what follows the log there, which begins anew behind it', async () => {
    const { database, store, feed, close } = openSqlite(file)
    const start = await feed.latest()
    const changes: StoredObject[] = []
    for (const name of ['a', 'b', 'c'])
      changes.push(await store.create(withSpec(storedWidget(name), { text: 'needle' })))
    database.prepare(`UPDATE changes SET doc = ${flip} WHERE rv = ?`).run(versionOf(changes[1]))
    const { signal } = new AbortController()
    const follow = feed.follow({ after: start, signal })[Symbol.asyncIterator]()
    expect(await follow.next()).toMatchObject({ value: { changes: [{ stored: changes[0] }] } })
    await expectCode(follow.next(), 'EXPIRED')
    const behind = feed.follow({ after: String(versionOf(changes[1])), signal })[Symbol.asyncIterator]()
    expect(await behind.next()).toMatchObject({ value: { changes: [{ stored: changes[2] }] } })
    close()
  })

  it('is not looked for in a state that was written before there were checksums', async () => {
    const first = openSqlite(file)
    const old = await first.store.create(storedWidget('a'))
    first.database.prepare('UPDATE changes SET sum = NULL').run()
    first.close()
    const { store, close } = openSqlite(file)
    expect(await store.get(keyOf(old.object))).toEqual(old)
    close()
  })
})

describe('closing', () => {
  it('commits what waits, though somebody follows a kind that has had no object', async () => {
    const { store, feed, close } = openSqlite(file)
    const { signal } = new AbortController()
    const batches = feed.follow({ after: await feed.latest(), of: widgetKind, signal })[Symbol.asyncIterator]()
    await batches.next()
    const waiting = [store.create(storedWidget('a')), store.create(storedWidget('b'))]
    close()
    expect(await Promise.all(waiting)).toHaveLength(2)
    // The file is free.
    openSqlite(file).close()
  })

  it('commits what waits, and refuses what comes after', async () => {
    const { store, close } = openSqlite(file)
    const waiting = store.create(storedWidget('a'))
    close()
    close()
    const created = await waiting
    for (const late of [store.create(storedWidget('b')), store.get(keyOf(created.object)), store.list(widgetKind)]) {
      await expectCode(late, 'UNAVAILABLE')
    }
    const again = openSqlite(file)
    expect((await again.store.list(widgetKind)).items).toEqual([created])
    again.close()
  })
})

describe('a full disk', () => {
  it('refuses every write of the batch, shows nothing of it, and goes on when there is room', async () => {
    const { database, store, feed, close } = openSqlite(file)
    const live = await store.create(storedWidget('live'))
    const start = await feed.latest()
    const limitPages = (count: number): unknown => database.prepare(`PRAGMA max_page_count = ${count}`).get()
    limitPages(1)
    const text = 'x'.repeat(100_000)
    const refused = await Promise.allSettled([
      ...Array.from({ length: 8 }, (_, i) => store.create(withSpec(storedWidget(`w${i}`), { text }))),
      store.replace(withSpec(live, { text }), ['spec']),
    ])
    expect(refused.map((result) => result.status === 'rejected' && (result.reason as OperatingError).code)).toEqual(
      Array.from({ length: 9 }, () => 'UNAVAILABLE'),
    )
    expect((await store.list(widgetKind)).items).toEqual([live])
    expect(await feed.latest()).toBe(start)

    limitPages(1_000_000)
    const written = await store.create(withSpec(storedWidget('w0'), { text }))
    expect(await store.replace(withSpec(live, { text }), ['spec'])).toBeDefined()
    for await (const batch of feed.follow({ after: start, signal: new AbortController().signal })) {
      expect(batch.changes[0]).toEqual({ type: 'added', touched: ['spec'], stored: written })
      break
    }
    close()
  })
})

describe('a disk that fails during the commit', () => {
  it('lets no writer of the batch believe in it, keeps what was acknowledged, and is read all the same', async () => {
    const script = fileURLToPath(new URL('full-disk-writer.ts', import.meta.url))
    // The limit of a file's size, in KiB, stands for the end of the disk: the write-ahead log meets it in a COMMIT.
    const command = `trap '' XFSZ; ulimit -f 3000; exec "$0" "$@"`
    const { stdout } = spawnSync('bash', ['-c', command, process.execPath, script, file], { encoding: 'utf8' })
    const { acknowledged, told, listed, followed } = JSON.parse(stdout) as Record<string, unknown>
    expect(acknowledged).toBeGreaterThan(0)
    expect(told).toEqual(['UNAVAILABLE'])
    expect([listed, followed]).toEqual([acknowledged, acknowledged])

    const { store, close } = openSqlite(file)
    // A write that the disk refused does not come back.
    expect((await store.list(widgetKind)).items).toHaveLength(Number(acknowledged))
    close()
  })
})

describe('a commit that is refused', () => {
  it('rejects every write of its batch, shows nothing of it, and hinders no later one', async () => {
    const { database, store, feed, close } = openSqlite(':memory:')
    const start = await feed.latest()
    database.prepare('CREATE TEMP TABLE parents (id INTEGER PRIMARY KEY)').run()
    database
      .prepare('CREATE TEMP TABLE children (parent INTEGER REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED)')
      .run()
    const results = await Promise.allSettled([
      store.create(storedWidget('a')),
      database.write(() => database.prepare('INSERT INTO children VALUES (1)').run()),
      store.create(storedWidget('a')),
    ])
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    expect((await store.list(widgetKind)).items).toEqual([])
    expect(await feed.latest()).toBe(start)
    const created = await store.create(storedWidget('a'))
    expect(await store.get(keyOf(created.object))).toEqual(created)
    close()
  })
})

describe('a write that breaks', () => {
  it('is alone in being rejected: the others of its batch are written without it', async () => {
    const { database, store, close } = openSqlite(':memory:')
    const breaking = (): Promise<unknown> =>
      database.write(() => {
        database.prepare("INSERT INTO checkpoints VALUES ('half', 'done', 0, NULL)").run()
        throw new TypeError('broken')
      })
    const results = await Promise.allSettled([
      store.create(storedWidget('a')),
      breaking(),
      store.create(storedWidget('b')),
      store.create(storedWidget('a')),
    ])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected'])
    expect(results[1]).toMatchObject({ reason: { message: 'broken' } })
    expect(results[3]).toMatchObject({ reason: { code: 'ALREADY_EXISTS' } })
    expect((await store.list(widgetKind)).items).toHaveLength(2)
    expect(database.prepare('SELECT * FROM checkpoints').all()).toEqual([])
    close()
  })
})

describe('writers of one turn', () => {
  it('share a commit', async () => {
    const { store, close } = openSqlite(file)
    const first = await store.create(storedWidget('a'))
    const before = statSync(`${file}-wal`).size
    await store.replace(first, ['spec'])
    const oneWrite = statSync(`${file}-wal`).size - before
    await Promise.all(Array.from({ length: 50 }, (_, i) => store.create(storedWidget(`w${i}`))))
    expect(statSync(`${file}-wal`).size - before - oneWrite).toBeLessThan(10 * oneWrite)
    close()
  })

  it('are seen by nobody before the commit', async () => {
    const { store, close } = openSqlite(file)
    const { object } = storedWidget('a')
    const writing = store.create(storedWidget('a'))
    expect(await store.get(keyOf(object))).toBeUndefined()
    const written = await writing
    expect(await store.get(keyOf(object))).toEqual(written)
    close()
  })
})

/** The tables that layout 3 replaced, as layout 2 had them. */
const layout2 = `
  DROP TABLE objects; DROP TABLE heads; DROP TABLE changes; DROP TABLE identity; ALTER TABLE checkpoints DROP COLUMN sum;
  CREATE TABLE objects (
    id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL, uid TEXT NOT NULL,
    rv INTEGER NOT NULL, created_rv INTEGER NOT NULL, slot INTEGER NOT NULL, next_run_at_ms INTEGER, owners TEXT,
    engine TEXT, doc TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX objects_by_name ON objects (kind, namespace, name);
  CREATE INDEX objects_by_slot ON objects (kind, slot);
  CREATE INDEX objects_by_next_run ON objects (kind, next_run_at_ms) WHERE next_run_at_ms IS NOT NULL;
  CREATE TABLE changes (
    rv INTEGER PRIMARY KEY, object_id INTEGER NOT NULL, kind INTEGER NOT NULL, at_ms INTEGER NOT NULL,
    touched TEXT NOT NULL, removed TEXT
  ) STRICT;
  PRAGMA user_version = 2`

describe('a file of layout 4', () => {
  it('is brought to this layout when it is opened: the checkpoints stay, and have a sum once they are saved', async () => {
    const first = openSqlite(file)
    const live = await first.store.create(storedWidget('a'))
    await createSqliteCheckpoint({ database: first.database, name: 'c' }).save('1')
    first.close()
    const raw = new DatabaseSync(file)
    raw.exec('ALTER TABLE checkpoints DROP COLUMN sum; PRAGMA user_version = 4')
    raw.close()
    const { database, store, close } = openSqlite(file)
    const checkpoint = createSqliteCheckpoint({ database, name: 'c' })
    expect([await checkpoint.load(), await store.get(keyOf(live.object))]).toEqual(['1', live])
    await checkpoint.save('2')
    expect(database.prepare('SELECT sum IS NULL AS lacks FROM checkpoints').get()).toEqual({ lacks: 0 })
    close()
  })
})

describe('a file of layout 2', () => {
  it('is brought to this layout when it is opened: the objects stay, and who followed it looks again', async () => {
    const first = openSqlite(file)
    const live = await first.store.create({
      ...storedWidget('a'),
      engine: { wakeAtMs: 5, memory: { notes: { a: [1] } } },
    })
    const key = keyOf(live.object)
    await first.index.setReferences(key, [key])
    first.close()
    const raw = new DatabaseSync(file)
    raw.exec(layout2)
    const { uid } = live.object.metadata
    const flat = { attempt: 2, generation: 1, waiting: 'Backoff', nextRunAtMs: 5, notes: { a: [1] } }
    raw
      .prepare('INSERT INTO objects VALUES (1, 1, ?, ?, ?, 7, 2, 3, 5, NULL, ?, ?)')
      .run(key.namespace, key.name, uid, JSON.stringify(flat), JSON.stringify(live.object))
    raw.prepare("INSERT INTO changes VALUES (7, 1, 1, 0, 'spec', NULL), (9, 2, 1, 0, 'delete', '{}')").run()
    raw.close()

    const { store, feed, index, close } = openSqlite(file)
    expect(await feed.latest()).toBe('9')
    const stored = await store.get(key)
    expect(stored).toMatchObject({ engine: live.engine, object: { spec: live.object.spec } })
    expect(await index.due(widgetKind, 5, 1)).toEqual([{ key, dueAtMs: 5 }])
    expect(await index.referrers(key)).toEqual([key])
    const follow = feed.follow({ after: '7', signal: new AbortController().signal })[Symbol.asyncIterator]()
    await expectCode(follow.next(), 'EXPIRED')
    close()
  })
})

describe('opening', () => {
  const message = (): string => {
    try {
      openSqliteDatabase(file).close()
      return 'it opened'
    } catch (error) {
      expect(error).toBeInstanceOf(OperatingError)
      expect(error).toMatchObject({ code: 'UNAVAILABLE' })
      return (error as OperatingError).message
    }
  }

  it('refuses a file that this process has open', () => {
    const first = openSqlite(file)
    expect(message()).toBe(
      `cannot open ${file}: another process holds it: stop that process, or choose another directory (--data-dir)`,
    )
    first.close()
    expect(message()).toBe('it opened')
  })

  it('refuses a file that another process has open, at once', () => {
    const { close } = openSqlite(file)
    const module = new URL('../../shared/adapters/local/sqlite/sqlite-database.ts', import.meta.url)
    const script = `import { openSqliteDatabase } from '${module.href}'; try { openSqliteDatabase(process.argv[1]) } catch (error) { console.log(error.code, error.message) }`
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script, file], {
      encoding: 'utf8',
    })
    expect(stdout.trim()).toBe(
      `UNAVAILABLE cannot open ${file}: another process holds it: stop that process, or choose another directory (--data-dir)`,
    )
    close()
  })

  it('makes a file that only its user can read', async () => {
    const { store, close } = openSqlite(file)
    await store.create(storedWidget('a'))
    expect([file, `${file}-wal`].map((name) => (statSync(name).mode & 0o777).toString(8))).toEqual(['600', '600'])
    close()
  })

  it("refuses another program's database, and leaves it alone", () => {
    const other = new DatabaseSync(file)
    other.exec('CREATE TABLE theirs (id INTEGER)')
    other.close()
    expect(message()).toBe(`${file} is another program's database: choose another file`)
  })

  it('refuses the layout of a newer version', () => {
    openSqlite(file).close()
    const raw = new DatabaseSync(file)
    raw.exec('PRAGMA user_version = 99')
    raw.close()
    expect(message()).toContain('has layout 99')
  })

  it('refuses a file that is no database', () => {
    writeFileSync(file, 'not a database, but long enough to have a header of its own'.repeat(20))
    expect(message()).toBe(`cannot open ${file}: file is not a database: put back a copy of it, or choose another file`)
  })

  it.each([1, 2, 3, 4, 5, 6, 7, 8, 9])('refuses a file that is damaged: page %i is overwritten', (page) => {
    openSqlite(file).close()
    const bytes = readFileSync(file)
    writeFileSync(file, bytes.fill(0x5a, page * 4_096, (page + 1) * 4_096))
    expect(message()).toMatch(/^cannot open .*: .+: put back a copy of it, or choose another file$/)
  })

  const asRoot = { skip: process.getuid?.() === 0, meta: { skipped: 'root may write every file' } }
  it('refuses a file that its user may not write', asRoot, () => {
    openSqlite(file).close()
    chmodSync(file, 0o400)
    expect(message()).toBe(`cannot open ${file}: EACCES: permission denied, access '${file}'`)
  })

  it('refuses a path where no file can be', () => {
    file = `${file}/nowhere/setpoint.db`
    expect(message()).toContain(`cannot open ${file}: `)
  })
})
