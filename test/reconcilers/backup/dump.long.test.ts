import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { withDump } from '../../../functions/reconcilers/backup/dump/dump.ts'
import { restoreDump } from '../../../functions/reconcilers/backup/dump/restore.ts'
import { withSession } from '../../../functions/reconcilers/backup/dump/session.ts'
import type { Endpoint } from '../../../functions/reconcilers/postgres/sql/connection.ts'
import { bringUp, deadline, openWorkbench, type Workbench } from '../postgres/temporary-server.ts'
import { connected, expectCutOff, freshDatabase as createDatabase, rows } from './fresh-database.ts'
import { richSchema } from './rich-schema.ts'

/**
 * A dump is proven by what comes out of it: the restored database is dumped again, and the two scripts must be equal
 * but for their first and last lines; and, so that a dump that forgets something cannot agree with itself, the catalogs
 * and rows of both databases are compared by queries that share nothing with the dump.
 */

const psql = 'psql'
const noPsql = spawnSync(psql, ['--version']).status !== 0

let bench: Workbench
let admin: Endpoint

beforeAll(async () => {
  bench = await openWorkbench()
  admin = await bringUp(bench.server('main'))
})
afterAll(() => bench[Symbol.asyncDispose]())

const freshDatabase = (setUp = ''): Promise<Endpoint> => createDatabase(admin, setUp)

async function dump(endpoint: Endpoint): Promise<Buffer> {
  const request = { endpoint, takenMs: 0, signal: deadline(), findPrograms: async () => [] }
  return withDump(request, async ({ content }) => {
    return Buffer.concat(await Readable.from(content).toArray())
  })
}

function restore(endpoint: Endpoint, ...chunks: readonly Uint8Array[]): Promise<unknown> {
  return restoreDump(() => Readable.from(chunks), { endpoint, signal: deadline() })
}

const inner = (dumped: Buffer): readonly string[] => gunzipSync(dumped).toString().split('\n').slice(1, -2)

/** What PostgreSQL itself says of a database, by ways that the dump does not go. */
const views = {
  columns: `SELECT table_schema, table_name, column_name, ordinal_position, column_default, is_nullable, data_type, udt_name,
      collation_name, is_identity, identity_generation, identity_start, is_generated, generation_expression, numeric_precision
      FROM information_schema.columns WHERE table_schema IN ('shop', 'Odd "name') ORDER BY 1, 2, 4`,
  constraints: `SELECT n.nspname, r.relname, c.conname, c.contype, c.condeferrable, c.convalidated, pg_get_constraintdef(c.oid)
      FROM pg_constraint c JOIN pg_namespace n ON n.oid = c.connamespace LEFT JOIN pg_class r ON r.oid = c.conrelid
      WHERE n.nspname IN ('shop', 'Odd "name') ORDER BY 1, 2, 3`,
  relations: `SELECT n.nspname, c.relname, c.relkind, c.relpersistence, c.reloptions, c.relispopulated FROM pg_class c
      JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname IN ('shop', 'Odd "name') ORDER BY 1, 2`,
  indexes: `SELECT schemaname, indexname, indexdef FROM pg_indexes WHERE schemaname IN ('shop', 'Odd "name') ORDER BY 1, 2`,
  triggers: `SELECT tgname, tgenabled, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1`,
  functions: `SELECT p.proname, pg_get_functiondef(p.oid) FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
      WHERE n.nspname = 'shop' ORDER BY 1`,
  views: `SELECT viewname, definition FROM pg_views WHERE schemaname = 'shop' ORDER BY 1`,
  sequences: `SELECT schemaname, sequencename, data_type, start_value, min_value, max_value, increment_by, cycle, last_value
      FROM pg_sequences ORDER BY 1, 2`,
  comments: `SELECT i.type, i.identity, d.description FROM pg_description d,
      LATERAL pg_identify_object(d.classoid, d.objoid, d.objsubid) i WHERE d.objoid >= 16384 ORDER BY 1, 2`,
  customers: 'SELECT c::text, c.raw FROM shop.customer c ORDER BY id',
  things: `SELECT t::text FROM "Odd ""name"."Table; --" t ORDER BY n`,
  empties: 'SELECT count(*) FROM shop.empty',
  policies: 'SELECT * FROM pg_policies ORDER BY 1, 2, 3',
  secured: `SELECT relname, relrowsecurity, relforcerowsecurity FROM pg_class WHERE relrowsecurity ORDER BY 1`,
  rules: 'SELECT r.rulename, r.ev_enabled, pg_get_ruledef(r.oid) FROM pg_rewrite r WHERE r.oid >= 16384 ORDER BY 1, 3',
  notes: 'SELECT * FROM shop.secured ORDER BY 1',
  partitions: `SELECT c.relname, h.inhparent::regclass::text, pg_get_expr(c.relpartbound, c.oid), pg_get_partkeydef(c.oid)
      FROM pg_class c LEFT JOIN pg_inherits h ON h.inhrelid = c.oid WHERE c.relispartition OR c.relkind IN ('p', 'I') ORDER BY 1`,
  validIndexes: `SELECT indexrelid::regclass::text, indisvalid, indisprimary FROM pg_index
      WHERE indexrelid >= 16384 AND indexrelid::regclass::text NOT LIKE 'pg_toast%' ORDER BY 1`,
  inherited: `SELECT conrelid::regclass::text, conname, conislocal, coninhcount, conparentid <> 0 FROM pg_constraint
      WHERE conrelid >= 16384 ORDER BY 1, 2`,
  sales: 'SELECT tableoid::regclass::text, s::text FROM shop.sale s ORDER BY day',
  tree: 'SELECT * FROM shop.self ORDER BY id',
  counted: 'SELECT * FROM shop.counted ORDER BY id',
  lengths: 'SELECT * FROM shop.lengths ORDER BY 1',
  enum: `SELECT enum_range(NULL::shop.mood)::text`,
}

describe('a dump', () => {
  it('restored by somebody else into a fresh database is the same database', async () => {
    const from = await freshDatabase(richSchema)
    const to = await freshDatabase()
    const dumped = await dump(from)
    await restore(to, dumped)
    for (const [name, query] of Object.entries(views))
      expect([name, await rows(to, query)]).toEqual([name, await rows(from, query)])
    expect(inner(await dump(to))).toEqual(inner(dumped))
    // It goes on living: identity, sequence, default, trigger and domain do their work.
    const added = await rows(
      to,
      `INSERT INTO shop.customer (name) VALUES ('new') RETURNING id, mood, seen IS NOT NULL, doubled`,
    )
    expect(added).toEqual([['105', 'so so', true, 6]])
    expect(
      await rows(to, `INSERT INTO shop.sale (day, amount) VALUES ('2030-01-01', 1.5) RETURNING id, amount`),
    ).toEqual([['4', '2.00']])
    await expect(rows(to, `INSERT INTO "Odd ""name"."Table; --" (price) VALUES (-1)`)).rejects.toThrow('not_negative')
  })

  it('carries rows of all lengths, however they fall into the portions of the protocol', async () => {
    const from = await freshDatabase(
      `CREATE TABLE t AS SELECT n, repeat(chr(65 + n % 26), (n * 7919) % 40000) AS text FROM generate_series(1, 500) n`,
    )
    const to = await freshDatabase()
    await restore(to, await dump(from))
    const sum = 'SELECT count(*)::int, sum(length(text))::int, md5(string_agg(t::text, $$,$$ ORDER BY n)) FROM t'
    const [found] = await rows(to, sum)
    expect([found]).toEqual(await rows(from, sum))
    expect(found).toEqual([500, expect.any(Number), expect.any(String)])
  })

  it('is a script that psql can run: what a reader of SQL sees is SQL', async () => {
    const from = await freshDatabase(`CREATE TABLE t (a int); INSERT INTO t VALUES (1), (NULL)`)
    const text = gunzipSync(await dump(from)).toString()
    expect(text).toMatch(/^-- setpoint dump 1 \{"database":"d\d+","version":"18[^\n]*"leftOut":\[\]\}\n/)
    expect(text).toContain('CREATE TABLE public.t (a integer);\n')
    expect(text).toContain('COPY public.t (a) FROM stdin;\n1\n\\N\n\\.\n')
    const at = text.lastIndexOf('-- setpoint end')
    const digest = createHash('sha256').update(text.slice(0, at)).digest('hex')
    expect(text.slice(at)).toBe(`-- setpoint end sha256 ${digest}\n`)
  })

  it.skipIf(noPsql)('is restored by psql as well', { meta: { skipped: 'no psql on PATH' } }, async () => {
    const from = await freshDatabase(richSchema)
    const to = await freshDatabase()
    const dumped = await dump(from)
    const { host, port, user, password, database } = to
    const ran = spawnSync(psql, ['-X', '-q', '-1', '-v', 'ON_ERROR_STOP=1', '-d', database, '-o', '/dev/null'], {
      input: gunzipSync(dumped),
      env: { ...process.env, PGHOST: host, PGPORT: String(port), PGUSER: user, PGPASSWORD: password },
      encoding: 'utf8',
    })
    expect(ran).toMatchObject({ status: 0, stderr: '' })
    expect(inner(await dump(to))).toEqual(inner(dumped))
  })

  const indexes = `SELECT indexrelid::regclass::text, indisvalid, inhparent::regclass::text FROM pg_index LEFT JOIN pg_inherits ON inhrelid = indexrelid
      WHERE indexrelid >= 16384 AND indrelid::regclass::text !~ '^pg_toast' ORDER BY 1`
  const keys = `SELECT conname, conrelid::regclass::text, conparentid <> 0, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid >= 16384 ORDER BY 1, 2`
  const triggers = `SELECT tgrelid::regclass::text, tgenabled FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1`
  const parts = `CREATE TABLE p (a int NOT NULL, r int4range) PARTITION BY LIST (a); CREATE TABLE c PARTITION OF p FOR VALUES IN (1);
      CREATE TABLE m PARTITION OF p FOR VALUES IN (2) PARTITION BY LIST (a); CREATE TABLE l PARTITION OF m FOR VALUES IN (2);
      INSERT INTO p VALUES (1, '[1,2)'), (2, '[1,2)');`
  const gist = 'CREATE EXTENSION btree_gist SCHEMA public;'

  it.each([
    [
      'a constraint that excludes, of partitions',
      `${gist} ${parts} ALTER TABLE p ADD EXCLUDE USING gist (a WITH =, r WITH &&)`,
      [keys, indexes],
    ],
    [
      'a key without overlaps, of partitions',
      `${gist} ${parts} ALTER TABLE p ADD PRIMARY KEY (a, r WITHOUT OVERLAPS)`,
      [keys, indexes],
    ],
    [
      'triggers that are on in some partitions only',
      `${parts} CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
       CREATE TRIGGER t BEFORE INSERT ON p FOR EACH ROW EXECUTE FUNCTION f(); ALTER TABLE p DISABLE TRIGGER t;
       ALTER TABLE m ENABLE ALWAYS TRIGGER t; ALTER TABLE l ENABLE TRIGGER t`,
      [triggers],
    ],
    [
      'backslashes, where the database reads them as escapes by itself',
      `ALTER DATABASE "DATABASE" SET standard_conforming_strings = off; SET standard_conforming_strings = on;
       CREATE TABLE t (a text DEFAULT 'a\\b' CHECK (a ~ '^\\w')); CREATE VIEW v AS SELECT 'x\\y' AS x; INSERT INTO t DEFAULT VALUES`,
      ['SELECT * FROM v, t', `SELECT a ~ 'b' FROM t`],
    ],
  ])('carries %s', async (_, setUp, queries) => {
    const from = await freshDatabase()
    await connected(from, (client) => client.query(setUp.replace('DATABASE"', `${from.database}"`)))
    const to = await freshDatabase()
    await restore(to, await dump(from))
    for (const query of queries) expect(await rows(to, query)).toEqual(await rows(from, query))
  })

  it('leaves out an index that is not whole, also one whose parts are joined already', async () => {
    const from =
      await freshDatabase(`${parts} CREATE INDEX pi ON ONLY p (a); CREATE INDEX ci ON c (a); ALTER INDEX pi ATTACH PARTITION ci;
      COMMENT ON INDEX pi IS 'soon'; INSERT INTO l VALUES (2, '[3,4)'); ALTER TABLE ONLY p ADD PRIMARY KEY (a)`)
    const to = await freshDatabase()
    await restore(to, await dump(from))
    expect(await rows(to, indexes)).toEqual([['ci', true, null]])
  })

  it('takes its time, whatever the role gives a transaction', async () => {
    const endpoint = await freshDatabase()
    await rows(endpoint, `ALTER ROLE ${endpoint.user} SET transaction_timeout = '10min'`)
    const limit = withSession({ endpoint, purpose: 'dump', signal: deadline() }, (session) =>
      session.query('SHOW transaction_timeout'),
    )
    expect(await limit).toEqual([{ transaction_timeout: '0' }])
  })

  it('shows one moment, whatever is written while it is read', async () => {
    const from = await freshDatabase('CREATE TABLE a (n int); CREATE TABLE b (n int)')
    const text = await withDump({ endpoint: from, takenMs: 0, signal: deadline() }, async ({ content }) => {
      await rows(from, 'WITH x AS (INSERT INTO a VALUES (1)) INSERT INTO b VALUES (1)')
      const chunks: Uint8Array[] = []
      for await (const chunk of content) chunks.push(chunk)
      return gunzipSync(Buffer.concat(chunks)).toString()
    })
    expect(text).toContain('COPY public.a (n) FROM stdin;\n\\.\n')
    expect(text).toContain('COPY public.b (n) FROM stdin;\n\\.\n')
  })

  it('keeps memory flat, whatever the size of a table', async () => {
    const from = await freshDatabase(
      `CREATE TABLE big AS SELECT n, repeat(md5(n::text), 30) AS text FROM generate_series(1, 150000) n`,
    )
    const before = process.memoryUsage().rss
    let most = 0
    let size = 0
    await withDump({ endpoint: from, takenMs: 0, signal: deadline() }, async ({ content }) => {
      for await (const chunk of content) {
        size += chunk.length
        most = Math.max(most, process.memoryUsage().rss)
      }
    })
    expect(size).toBeGreaterThan(2_000_000)
    // 145 MB of rows.
    expect(most - before).toBeLessThan(90_000_000)
  })

  it('is handed on in large portions, though each row is a message', async () => {
    const endpoint = await freshDatabase()
    const portions = await withSession({ endpoint, purpose: 'dump', signal: deadline() }, async (session) => {
      let count = 0
      for await (const _ of session.copyOut('COPY (SELECT generate_series(1, 100000)) TO STDOUT')) count++
      return count
    })
    expect(portions).toBeLessThan(1_000)
  })

  it('ends at once when its time is over, and leaves no session behind', async () => {
    const from = await freshDatabase(
      'CREATE TABLE big AS SELECT n, md5(n::text) AS text FROM generate_series(1, 300000) n',
    )
    await expectCutOff(from, admin)
  })
})

describe('a dump that fails', () => {
  it('says of whom: the disk is not the connection', async () => {
    const from = await freshDatabase('CREATE TABLE t (a int)')
    const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
    const failing = withDump({ endpoint: from, takenMs: 0, signal: deadline() }, async () => Promise.reject(full))
    await expect(failing).rejects.toBe(full)
    const lost = withDump({ endpoint: from, takenMs: 0, signal: deadline() }, async ({ content }) => {
      await rows(admin, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${from.database}'`)
      for await (const _ of content);
    })
    await expect(lost).rejects.toMatchObject({ name: 'PostgresFailure', kind: 'retryable' })
  })
})

describe('what a dump cannot hold', () => {
  it.each([
    ['CREATE TYPE a AS (x int); CREATE TABLE t OF a', 'table public.t'],
    ['CREATE TABLE p (a int); CREATE TABLE c () INHERITS (p)', 'table public.c'],
    ['CREATE TYPE r AS RANGE (subtype = float8)', 'type'],
    ['CREATE AGGREGATE s (int) (SFUNC = int4pl, STYPE = int)', 'public.s(integer)'],
    ['CREATE OPERATOR === (LEFTARG = int, RIGHTARG = int, FUNCTION = int4eq)', 'operator'],
    ['CREATE TABLE t (a int); ALTER TABLE t ADD CONSTRAINT n NOT NULL a NOT VALID', 'constraint n'],
    [
      `CREATE TYPE e AS ENUM ('a'); CREATE TABLE t (a e) PARTITION BY HASH (a)`,
      'table public.t, whose rows are parted by the hash of an enum',
    ],
    [
      'CREATE DOMAIN d AS int; CREATE FUNCTION f(d) RETURNS bool LANGUAGE sql RETURN true; ALTER DOMAIN d ADD CHECK (f(VALUE))',
      'objects that need each other (CREATE DOMAIN public.d',
    ],
    ['SELECT lo_create(0)', 'large object'],
    ['SELECT lo_create(7)', 'large object 7'],
    ['SELECT lo_create(n) FROM generate_series(1, 3000) n', '3000 large objects'],
    [`CREATE COLLATION c FROM "C"`, 'collation public.c'],
    ['CREATE TEXT SEARCH CONFIGURATION c (COPY = simple)', 'text search configuration public.c'],
    [
      'CREATE FUNCTION f(int) RETURNS text LANGUAGE sql RETURN 1; CREATE TYPE e AS ENUM (); CREATE FUNCTION g(e) RETURNS int LANGUAGE sql RETURN 1; CREATE CAST (e AS int) WITH FUNCTION g(e)',
      'cast',
    ],
  ])('%s is refused by name', async (setUp, named) => {
    const from = await freshDatabase(setUp)
    const refusal = dump(from)
    await expect(refusal).rejects.toMatchObject({ kind: 'terminal', reason: 'UnsupportedObjects' })
    await expect(refusal).rejects.toThrow(named)
    await expect(refusal).rejects.toThrow(/none that fits PostgreSQL \d+: install pg_dump \d+ or newer/)
  })

  it('is named in its first line where it is no object: privileges, statistics, storage', async () => {
    const from =
      await freshDatabase(`CREATE TABLE t (a int, b text); GRANT SELECT ON t TO PUBLIC; GRANT UPDATE (a) ON t TO PUBLIC;
      CREATE STATISTICS s ON a, b FROM t; ALTER TABLE t ALTER b SET STORAGE EXTERNAL; ALTER TABLE t REPLICA IDENTITY FULL;
      CREATE TABLE p (a int) PARTITION BY LIST (a); ALTER TABLE p REPLICA IDENTITY FULL; ALTER TABLE p ALTER a SET STATISTICS 9;
      CREATE INDEX i ON t ((a + 1)); ALTER INDEX i ALTER COLUMN 1 SET STATISTICS 9;
      CREATE EXTENSION hstore; CREATE EXTENSION pg_trgm; COMMENT ON EXTENSION pg_trgm IS 'three at once';
      COMMENT ON STATISTICS s IS 'both'; ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO PUBLIC`)
    const leftOut = await withDump({ endpoint: from, takenMs: 0, signal: deadline() }, async (open) => open.leftOut)
    expect(leftOut).toEqual([
      'comments on extensions: 1',
      'comments on statistics objects: 1',
      'default privileges: 1',
      'extended statistics: 1',
      'objects with granted privileges: 2',
      'replica identities: 2',
      'storage settings of columns: 3',
    ])
  })

  it('may be rows that the role cannot read: it says so', async () => {
    const from = await freshDatabase()
    await connected({ ...admin, database: from.database }, (client) =>
      client.query('CREATE TABLE public.secret (a int)'),
    )
    await expect(dump(from)).rejects.toMatchObject({ kind: 'terminal', reason: 'InsufficientPrivilege' })
  })
})

describe('a restore', () => {
  it('takes a damaged dump for what it is, and leaves nothing of it', async () => {
    const dumped = await dump(await freshDatabase(`CREATE TABLE t (a text); INSERT INTO t VALUES ('precious')`))
    const text = gunzipSync(dumped).toString()
    const to = await freshDatabase()
    const damaged: readonly (readonly [Buffer, string])[] = [
      [dumped.subarray(0, -20), 'damaged'],
      [gzipSync(text.slice(0, text.lastIndexOf('-- setpoint end'))), 'cut off'],
      [gzipSync(text.replace('precious', 'previous')), 'digest'],
      [gzipSync(`${text}SELECT 1;\n`), 'goes on after its end'],
      [gzipSync(text.replace('-- setpoint dump 1', '-- setpoint dump 9')), 'not a dump'],
      [gzipSync(text.replace('-- setpoint dump 1', '-- setpoint dump 2')), 'who made it'],
      [gzipSync(text.replace('"leftOut":', '"leftOut')), 'first line cannot be read'],
      [gzipSync('x'.repeat(3_000_000)), 'its first line has no end'],
      [Buffer.from('SELECT 1'), 'damaged'],
    ]
    for (const [content, message] of damaged) {
      await expect(restore(to, content)).rejects.toThrow(message)
      expect(await rows(to, `SELECT count(*)::int FROM pg_tables WHERE schemaname = 'public'`)).toEqual([[0]])
    }
    await restore(to, ...Array.from(dumped, (byte) => Buffer.from([byte])))
    expect(await rows(to, 'SELECT * FROM t')).toEqual([['precious']])
  })

  it('touches no database that has something in it', async () => {
    const dumped = await dump(await freshDatabase('CREATE TABLE t (a text)'))
    const to = await freshDatabase('CREATE TABLE other (a text)')
    await expect(restore(to, dumped)).rejects.toThrow('is not empty: it has public.other')
    const priceOf = (price: number) =>
      `CREATE FUNCTION price(int) RETURNS int LANGUAGE sql AS $$ SELECT ${price} $$; CREATE TYPE mood AS ENUM ('fine')`
    const dumpedFunction = await dump(await freshDatabase(priceOf(1)))
    const own = await freshDatabase(priceOf(2))
    await expect(restore(own, dumpedFunction)).rejects.toThrow(
      /is not empty: it has function (public\.)?price\(integer\), type (public\.)?mood/,
    )
    expect(await rows(own, 'SELECT price(0)')).toEqual([[2]])
  })
})
