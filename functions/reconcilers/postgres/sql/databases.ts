import { PostgresFailure } from '../failure.ts'
import { identifier, literal, type Sql } from './connection.ts'
import { claimOf, findMarked, foreign, markOf, type MarkedItem } from './mark.ts'
import type { Changes } from './roles.ts'

/** A database as declared. */
export interface WantedDatabase extends MarkedItem {
  /** The role that owns it. */
  readonly owner: string
  /** Fixed once the database exists. */
  readonly encoding: string
  /** Concurrent sessions; -1 is no limit. */
  readonly connectionLimit: number
}

/**
 * Makes the database what is wanted. It appears under its name with its mark or not at all: it is made and marked under
 * a name of its uid first. The object's own under another name is renamed, which takes that nobody is connected to it.
 * One that an earlier object of the same key left is taken over. Throws a conflict when one of
 * this name is somebody else's, and terminally when the encoding differs.
 */
export async function ensureDatabase(sql: Sql, wanted: WantedDatabase): Promise<Changes> {
  const found = await findDatabase(sql, wanted.name)
  if (found === undefined) {
    const [before] = (await findMarked(sql, 'pg_database', wanted)).filter((name) => name !== draftName(wanted))
    return before === undefined ? createDatabase(sql, wanted) : renameDatabase(sql, before, wanted)
  }
  const claim = claimOf(found.comment, wanted)
  if (claim === 'foreign') throw foreign('database', found.comment, wanted)
  if (found.broken) {
    await sql.query(`DROP DATABASE ${identifier(wanted.name)}`)
    return createDatabase(sql, wanted)
  }
  requireEncoding(found, wanted)
  if (claim === 'left') await comment(sql, wanted.name, markOf(wanted))
  return alterDatabase(sql, found, wanted)
}

/** Drops the object's database, whatever it is called, with the sessions in it. Others are left alone. */
export async function dropDatabase(sql: Sql, owned: MarkedItem): Promise<Changes> {
  const draft = draftName(owned)
  const names = (await findMarked(sql, 'pg_database', owned)).filter((name) => name !== draft)
  for (const name of names) {
    const found = await findDatabase(sql, name)
    if (found?.template === true) await sql.query(`ALTER DATABASE ${identifier(name)} IS_TEMPLATE false`)
    await drop(sql, name)
  }
  await drop(sql, draft)
  return names.map((name) => `dropped database "${name}"`)
}

async function drop(sql: Sql, name: string): Promise<void> {
  await sql.query(`DROP DATABASE IF EXISTS ${identifier(name)} WITH (FORCE)`)
}

async function renameDatabase(sql: Sql, before: string, wanted: WantedDatabase): Promise<Changes> {
  await sql.query(`ALTER DATABASE ${identifier(before)} RENAME TO ${identifier(wanted.name)}`)
  return [`renamed database "${before}" to "${wanted.name}"`, ...(await ensureDatabase(sql, wanted))]
}

async function createDatabase(sql: Sql, wanted: WantedDatabase): Promise<Changes> {
  const [name, draft] = [identifier(wanted.name), draftName(wanted)]
  if ((await findDatabase(sql, draft)) === undefined) {
    await sql.query(createStatement(draft, wanted))
  }
  await comment(sql, draft, markOf(wanted))
  await sql.query(`ALTER DATABASE ${identifier(draft)} RENAME TO ${name}`)
  return [`created database "${wanted.name}"`]
}

// The servers' own locale is UTF-8 only; any other encoding gets the one locale that fits them all.
function createStatement(draft: string, { owner, encoding, connectionLimit }: WantedDatabase): string {
  const locale = encoding.toUpperCase() === 'UTF8' ? '' : " LOCALE_PROVIDER libc LOCALE 'C'"
  const options = `CONNECTION LIMIT ${Math.trunc(connectionLimit)} ENCODING ${literal(encoding)}${locale}`
  return `CREATE DATABASE ${identifier(draft)} TEMPLATE template0 OWNER ${identifier(owner)} ${options}`
}

function requireEncoding(found: FoundDatabase, { name, encoding }: WantedDatabase): void {
  if (found.encoding === encoding.toUpperCase()) return
  const message = `database "${name}" has encoding ${found.encoding}, which cannot be changed to ${encoding}`
  throw new PostgresFailure('terminal', 'EncodingImmutable', message)
}

function draftName({ uid }: MarkedItem): string {
  return `setpoint_${uid}`
}

async function comment(sql: Sql, name: string, text: string): Promise<void> {
  await sql.query(`COMMENT ON DATABASE ${identifier(name)} IS ${literal(text)}`)
}

interface FoundDatabase {
  readonly comment: string | null
  readonly owner: string
  readonly encoding: string
  readonly connectionLimit: number
  readonly closed: boolean
  /** Nobody can drop it, and everybody who may make databases may copy it. */
  readonly template: boolean
  /** A drop was interrupted: nobody can connect any more, and it can only be dropped. */
  readonly broken: boolean
}

async function findDatabase(sql: Sql, name: string): Promise<FoundDatabase | undefined> {
  const [row] = await sql.query<FoundDatabase>(
    `SELECT shobj_description(oid, 'pg_database') AS comment, pg_get_userbyid(datdba) AS owner,
            pg_encoding_to_char(encoding) AS encoding,
            datconnlimit AS "connectionLimit", NOT datallowconn AS closed, datistemplate AS template, datconnlimit = -2 AS broken
       FROM pg_database WHERE datname = $1`,
    [name],
  )
  return row
}

async function alterDatabase(sql: Sql, found: FoundDatabase, wanted: WantedDatabase): Promise<Changes> {
  const differences = [
    { name: 'owner', differs: found.owner !== wanted.owner, clause: `OWNER TO ${identifier(wanted.owner)}` },
    {
      name: 'connection limit',
      differs: found.connectionLimit !== wanted.connectionLimit,
      clause: `CONNECTION LIMIT ${Math.trunc(wanted.connectionLimit)}`,
    },
    { name: 'connections allowed', differs: found.closed, clause: 'ALLOW_CONNECTIONS true' },
    { name: 'no template', differs: found.template, clause: 'IS_TEMPLATE false' },
  ].filter(({ differs }) => differs)
  for (const { clause } of differences) await sql.query(`ALTER DATABASE ${identifier(wanted.name)} ${clause}`)
  if (differences.length === 0) return []
  return [`changed database "${wanted.name}": ${differences.map(({ name }) => name).join(', ')}`]
}
