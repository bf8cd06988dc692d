import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { findClientPrograms, type ClientProgram } from '../../postgres/server/client-programs.ts'
import type { Endpoint } from '../../postgres/sql/connection.ts'
import { chooseForm } from './form.ts'
import { commentedObjects, commentTypes, takeInventory } from './inventory.ts'
import { readDependencies, readObjects, userObjects, type DatabaseObject } from './objects.ts'
import { CycleError, inOrder } from './order.ts'
import { preparePgDump } from './pg-dump.ts'
import { writeScript, writeToolScript, type ScriptPart } from './script.ts'
import { withSession, type Session } from './session.ts'

/** A dump that can be read while its transaction is open. */
export interface OpenDump {
  /** What the database has and the dump has not, in words. */
  readonly leftOut: readonly string[]
  /** What wrote it: `pg_dump 18.6`; left out where it was ours. */
  readonly madeBy?: string
  /** The script (`script.ts`), compressed; to be read once. */
  readonly content: AsyncIterable<Uint8Array>
}

export interface DumpRequest {
  readonly endpoint: Endpoint
  /** Milliseconds since the epoch, for the header. */
  readonly takenMs: number
  readonly signal: AbortSignal
  /** Where `pg_dump` is looked for, once it is needed. Default: on this machine. */
  readonly findPrograms?: (signal: AbortSignal) => Promise<readonly ClientProgram[]>
}

/**
 * Lends a dump of one database as it is at one moment, whatever is written meanwhile: schemas, extensions, types,
 * functions, sequences, tables with their rows, views, constraints, indexes, triggers, comments. Ownership and
 * privileges are not in it: restored objects belong to the role that restores. A database with objects that our script
 * cannot hold is dumped by `pg_dump`, if this machine has one that fits; else a PostgresFailure, terminal, names the
 * objects. Memory does not grow with the database.
 */
export async function withDump<T>(request: DumpRequest, use: (dump: OpenDump) => Promise<T>): Promise<T> {
  const { endpoint, takenMs, signal, findPrograms = findPgDump } = request
  const { database } = endpoint
  return withSession({ endpoint, purpose: 'dump', signal }, async (session) => {
    await session.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    await lockTables(session)
    const { unsupported, leftOut, leftOutByPgDump } = await takeInventory(session)
    const { version, major } = await readVersion(session)
    const about = { database, version, takenAt: new Date(takenMs).toISOString() }
    const { objects, circles } = unsupported.length === 0 ? await readInOrder(session) : unread
    const unfit = [...unsupported, ...circles]
    const form = await chooseForm({ database, unsupported: unfit, major }, () => findPrograms(signal))
    if (form.kind === 'pg_dump') {
      const { mark: tool, content } = await preparePgDump(session, { program: form.program, endpoint, signal })
      const header = { ...about, leftOut: leftOutByPgDump, tool }
      const madeBy = `${tool.program} ${tool.version}`
      return use({ leftOut: leftOutByPgDump, madeBy, content: compress(writeToolScript(header, content)) })
    }
    return use({ leftOut, content: compress(writeScript({ ...about, leftOut }, partsOf(objects, session))) })
  })
}

interface Read {
  readonly objects: readonly DatabaseObject[]
  /** What stands in no order, in words: a domain whose check calls a function that takes the domain. */
  readonly circles: readonly string[]
}

const unread: Read = { objects: [], circles: [] }

async function readInOrder(session: Session): Promise<Read> {
  const [objects, dependencies] = [await readObjects(session), await readDependencies(session)]
  try {
    return { objects: inOrder(objects, dependencies), circles: [] }
  } catch (error) {
    if (!(error instanceof CycleError)) throw error
    return { objects: [], circles: [`objects that need each other (${error.some})`] }
  }
}

function findPgDump(signal: AbortSignal): Promise<readonly ClientProgram[]> {
  return findClientPrograms('pg_dump', signal)
}

async function readVersion(session: Session): Promise<{ readonly version: string; readonly major: number }> {
  const [{ version, number } = { version: '', number: 0 }] = await session.query<{ version: string; number: number }>(
    `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number`,
  )
  return { version, major: Math.floor(number / 10_000) }
}

/** Nobody alters or drops a table while it is dumped; everybody may read and write it. */
async function lockTables(session: Session): Promise<void> {
  const tables = await session.query<{ qname: string }>(
    `WITH ${userObjects} SELECT qname FROM relations WHERE relkind IN ('r', 'p') ORDER BY oid`,
  )
  if (tables.length === 0) return
  await session.query(`LOCK TABLE ONLY ${tables.map(({ qname }) => qname).join(', ONLY ')} IN ACCESS SHARE MODE`)
}

async function* partsOf(objects: readonly DatabaseObject[], session: Session): AsyncGenerator<ScriptPart> {
  for (const setting of settings) yield { statement: setting }
  for (const object of objects) yield await partOf(object, session)
  for (const { kind, name } of objects)
    if (kind === 'materialized view' && name !== '') yield { statement: `REFRESH MATERIALIZED VIEW ${name}` }
  for (const { statement } of await session.query<{ statement: string }>(comments)) yield { statement }
}

/** What the reader of the script needs to take it as it was written. */
const settings = [
  `SET search_path = pg_catalog`,
  `SET client_encoding = 'UTF8'`,
  'SET standard_conforming_strings = on',
  'SET check_function_bodies = off',
  'SET xmloption = content',
  'SET row_security = off',
  'SET statement_timeout = 0',
]

async function partOf({ kind, text, name }: DatabaseObject, session: Session): Promise<ScriptPart> {
  switch (kind) {
    case 'statement':
    case 'materialized view':
      return { statement: text }
    case 'rows':
      return { copy: `COPY ${name} FROM stdin`, data: session.copyOut(`COPY ${name} TO STDOUT`) }
    case 'position': {
      const [row] = await session.query<{ statement: string }>(
        `SELECT format('SELECT pg_catalog.setval(%L, %s, %L)', $1::text, last_value, is_called) AS statement FROM ${name}`,
        [name],
      )
      return { statement: row?.statement ?? '' }
    }
  }
}

const comments = `
  SELECT format('COMMENT ON %s %s IS %L',
                CASE WHEN i.type LIKE '% column' THEN 'COLUMN' WHEN i.type = 'table constraint' THEN 'CONSTRAINT' ELSE upper(i.type) END,
                i.identity, d.description) AS statement
    FROM ${commentedObjects} AND i.type IN (${commentTypes})
     AND NOT (d.classoid = 'pg_class'::regclass AND EXISTS (SELECT FROM pg_index x WHERE x.indexrelid = d.objoid AND NOT x.indisvalid))
   ORDER BY 1`

async function* compress(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  // Twice as fast as the usual level and 7 % larger: time is what a run on Lambda is short of.
  const gzip = createGzip({ level: 1 })
  // What fails destroys the stream that is read below, which then throws the same.
  void pipeline(content, gzip).catch(() => {})
  yield* gzip as AsyncIterable<Uint8Array>
}
