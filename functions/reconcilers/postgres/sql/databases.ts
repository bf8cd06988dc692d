import { PostgresFailure } from '../failure.ts'
import { identifier, literal, type Sql } from './connection.ts'
import { beginningOfMark, claimOf, foreign, markOf, type MarkClaim, type MarkedItem } from './mark.ts'
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
 * One that an earlier object of the same key left is taken over. Throws a conflict when one of this name is somebody
 * else's, or when several are the object's own, and terminally when the encoding differs.
 */
export async function ensureDatabase(sql: Sql, wanted: WantedDatabase): Promise<Changes> {
  const found = await findDatabase(sql, wanted.name)
  if (found === undefined) {
    const [before, ...more] = await findOwn(sql, wanted)
    if (before === undefined) return createDatabase(sql, wanted)
    if (more.length > 0) throw severalMarked([before, ...more])
    return renameDatabase(sql, before.name, wanted)
  }
  const claim = claimOfDatabase(found, wanted)
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
  const own = await findOwn(sql, owned)
  for (const { name, template } of own) {
    if (template) await sql.query(`ALTER DATABASE ${identifier(name)} IS_TEMPLATE false`)
    await drop(sql, name)
  }
  await drop(sql, draftName(owned))
  return own.map(({ name }) => `dropped database "${name}"`)
}

/** What has the object's mark, by whatever names, but for what is only begun. */
async function findOwn(sql: Sql, owned: MarkedItem): Promise<readonly FoundDatabase[]> {
  const marked = `starts_with(shobj_description(d.oid, 'pg_database'), $1)`
  const found = await selectDatabases(sql, marked, beginningOfMark(owned))
  return found.filter((one) => one.name !== draftName(owned) && claimOfDatabase(one, owned) === 'ours')
}

/**
 * What the comment says counts only if the owner may be believed: an administrator, or a role that the object has, too.
 * Any other owner could give its database away by a comment, and with it the name and the sessions of another object.
 */
function claimOfDatabase(found: FoundDatabase, wanted: MarkedItem): MarkClaim {
  const isBelieved = found.byAdministrator || claimOf(found.ownerComment, wanted) !== 'foreign'
  return isBelieved ? claimOf(found.comment, wanted) : 'foreign'
}

function severalMarked(found: readonly FoundDatabase[]): PostgresFailure {
  const names = found.slice(0, 5).map(({ name }) => `"${name}"`)
  const message = `${found.length} databases have the mark of this object, among them ${names.join(', ')}: remove the comment of all but one`
  return new PostgresFailure('conflict', 'SeveralMarked', message)
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
  readonly name: string
  readonly comment: string | null
  /** That of the role that owns it. */
  readonly ownerComment: string | null
  /** Its owner is a superuser, or who we are. */
  readonly byAdministrator: boolean
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
  const [found] = await selectDatabases(sql, 'd.datname = $1', name)
  return found
}

async function selectDatabases(sql: Sql, condition: string, value: string): Promise<readonly FoundDatabase[]> {
  return sql.query<FoundDatabase>(
    `SELECT d.datname AS name, shobj_description(d.oid, 'pg_database') AS comment, o.rolname AS owner,
            shobj_description(o.oid, 'pg_authid') AS "ownerComment",
            o.rolsuper OR o.rolname = current_user AS "byAdministrator", pg_encoding_to_char(d.encoding) AS encoding,
            d.datconnlimit AS "connectionLimit", NOT d.datallowconn AS closed, d.datistemplate AS template,
            d.datconnlimit = -2 AS broken
       FROM pg_database d JOIN pg_roles o ON o.oid = d.datdba WHERE ${condition} ORDER BY 1`,
    [value],
  )
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
