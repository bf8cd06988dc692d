import { hasReason } from '../failure.ts'
import { isVerifierOf, scramVerifier } from '../scram.ts'
import { type Endpoint, identifier, inTransaction, literal, type Sql, withConnection } from './connection.ts'
import { beginningOfMark, claimOf, foreign, markOf, type MarkedItem } from './mark.ts'

/** A role as declared. */
export interface WantedRole extends MarkedItem {
  readonly login: boolean
  readonly password: string
  /** Concurrent sessions; -1 is no limit. */
  readonly connectionLimit: number
}

/** What was changed, in words for an event; empty when everything was as wanted. */
export type Changes = readonly string[]

/**
 * Makes the role what is wanted: one without the attributes that reach beyond its databases, whatever was done to it by
 * hand. Roles that somebody made it a member of stay. The object's own under another name is renamed. One that an
 * earlier object of the same key left is taken over. The password is set only when the stored one is another. Throws a
 * conflict when a role of this name is somebody else's.
 */
export async function ensureRole(sql: Sql, wanted: WantedRole): Promise<Changes> {
  const found = await findRole(sql, wanted.name)
  if (found === undefined) {
    const [before] = await findMarkedRoles(sql, wanted)
    return before === undefined ? createRole(sql, wanted) : renameRole(sql, before, wanted)
  }
  const claim = claimOf(found.comment, wanted)
  if (claim === 'foreign') throw foreign('role', found.comment, wanted)
  if (claim === 'left') await comment(sql, wanted.name, markOf(wanted))
  const differences = await compareRole(sql, found, wanted)
  if (differences.length === 0) return []
  await sql.query(`ALTER ROLE ${identifier(wanted.name)} ${differences.map(({ clause }) => clause).join(' ')}`)
  return [`changed role "${wanted.name}": ${differences.map(({ name }) => name).join(', ')}`]
}

/**
 * Drops the object's role, whatever it is called, and ends its sessions; what it owns in databases that stay goes to a
 * role without rights, that nobody can be. Other roles are left alone.
 */
export async function dropRole(admin: Endpoint, owned: MarkedItem, signal: AbortSignal): Promise<Changes> {
  const names = await withConnection(admin, signal, (sql) => findMarkedRoles(sql, owned))
  for (const name of names) {
    const databases = await withConnection(admin, signal, (sql) => startDrop(sql, name))
    for (const database of databases) {
      await withConnection({ ...admin, database }, signal, (sql) => disown(sql, name))
    }
    await withConnection(admin, signal, (sql) => sql.query(`DROP ROLE IF EXISTS ${identifier(name)}`))
  }
  return names.map((name) => `dropped role "${name}"`)
}

/** The names that the object's role has now, whatever they were: somebody may have renamed it. */
async function findMarkedRoles(sql: Sql, owned: MarkedItem): Promise<string[]> {
  const rows = await sql.query<{ name: string }>(
    `SELECT rolname AS name FROM pg_roles WHERE starts_with(shobj_description(oid, 'pg_authid'), $1) ORDER BY 1`,
    [beginningOfMark(owned)],
  )
  return rows.map(({ name }) => name)
}

/** Closes the role to new sessions, ends the present ones, and names the databases where something depends on it. */
async function startDrop(sql: Sql, name: string): Promise<readonly string[]> {
  const found = await findRole(sql, name)
  if (found === undefined) return []
  await sql.query(`ALTER ROLE ${identifier(name)} NOLOGIN`)
  await sql.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usesysid = $1', [found.oid])
  const dependent = await sql.query<{ datname: string }>(
    `SELECT DISTINCT coalesce(d.datname, current_database()) AS datname
       FROM pg_shdepend s LEFT JOIN pg_database d ON d.oid = s.dbid
      WHERE s.refclassid = 'pg_authid'::regclass AND s.refobjid = $1 AND coalesce(d.datallowconn, true)`,
    [found.oid],
  )
  return dependent.map(({ datname }) => datname)
}

/**
 * No superuser: functions, views and indexes run with the rights of their owner, so everybody who may use what was
 * left behind would have the rights of a superuser. No object can declare a role of this name.
 */
const heir = identifier('setpoint left behind')

async function disown(sql: Sql, role: string): Promise<void> {
  const isThere = 'duplicate_object OR unique_violation'
  await sql.query(`DO $$ BEGIN CREATE ROLE ${heir}; EXCEPTION WHEN ${isThere} THEN NULL; END $$`)
  await join(sql, heir)
  await sql.query(`REASSIGN OWNED BY ${identifier(role)} TO ${heir}`)
  await sql.query(`DROP OWNED BY ${identifier(role)}`)
}

async function renameRole(sql: Sql, before: string, wanted: WantedRole): Promise<Changes> {
  await sql.query(`ALTER ROLE ${identifier(before)} RENAME TO ${identifier(wanted.name)}`)
  return [`renamed role "${before}" to "${wanted.name}"`, ...(await ensureRole(sql, wanted))]
}

async function createRole(sql: Sql, wanted: WantedRole): Promise<Changes> {
  const clauses = attributes.map(({ clause }) => clause(wanted))
  const password = await passwordClause(wanted.password)
  await inTransaction(sql, async () => {
    await sql.query(`CREATE ROLE ${identifier(wanted.name)} ${clauses.join(' ')} ${password}`)
    await comment(sql, wanted.name, markOf(wanted))
    await join(sql, identifier(wanted.name))
  })
  return [`created role "${wanted.name}"`]
}

/** Who is no superuser, as on RDS, may do for a role only what its members may. */
async function join(sql: Sql, role: string): Promise<void> {
  const [me] = await sql.query<{ rolsuper: boolean }>('SELECT rolsuper FROM pg_roles WHERE rolname = current_user')
  if (me?.rolsuper !== true) await sql.query(`GRANT ${role} TO CURRENT_USER`)
}

async function comment(sql: Sql, name: string, text: string): Promise<void> {
  await sql.query(`COMMENT ON ROLE ${identifier(name)} IS ${literal(text)}`)
}

interface FoundRole {
  readonly oid: number
  readonly comment: string | null
  readonly login: boolean
  readonly connectionLimit: number
  /** What takes from it the rights that an ordinary role has not; empty if it has none. */
  readonly disempowering: string
  readonly inherits: boolean
  readonly expires: boolean
}

async function findRole(sql: Sql, name: string): Promise<FoundRole | undefined> {
  const [row] = await sql.query<FoundRole>(
    `SELECT oid, shobj_description(oid, 'pg_authid') AS comment, rolcanlogin AS login,
            rolconnlimit AS "connectionLimit", rolinherit AS inherits,
            concat_ws(' ', CASE WHEN rolsuper THEN 'NOSUPERUSER' END, CASE WHEN rolcreatedb THEN 'NOCREATEDB' END,
              CASE WHEN rolcreaterole THEN 'NOCREATEROLE' END, CASE WHEN rolreplication THEN 'NOREPLICATION' END,
              CASE WHEN rolbypassrls THEN 'NOBYPASSRLS' END) AS disempowering,
            coalesce(rolvaliduntil <> 'infinity', false) AS expires
       FROM pg_roles WHERE rolname = $1`,
    [name],
  )
  return row
}

interface Attribute {
  readonly name: string
  /** For a role that is found, or for a new one. */
  clause(wanted: WantedRole, found?: FoundRole): string
  differs(found: FoundRole, wanted: WantedRole): boolean
}

const attributes: readonly Attribute[] = [
  {
    name: 'login',
    clause: ({ login }) => (login ? 'LOGIN' : 'NOLOGIN'),
    differs: (found, { login }) => found.login !== login,
  },
  {
    name: 'connection limit',
    clause: ({ connectionLimit }) => `CONNECTION LIMIT ${Math.trunc(connectionLimit)}`,
    differs: (found, { connectionLimit }) => found.connectionLimit !== connectionLimit,
  },
  {
    name: 'powers',
    // Who is no superuser may not say more than there is to say.
    clause: (_, found) => found?.disempowering ?? 'NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS',
    differs: ({ disempowering }) => disempowering !== '',
  },
  { name: 'inheritance', clause: () => 'INHERIT', differs: ({ inherits }) => !inherits },
  { name: 'expiry', clause: () => "VALID UNTIL 'infinity'", differs: ({ expires }) => expires },
]

interface Difference {
  readonly name: string
  readonly clause: string
}

async function compareRole(sql: Sql, found: FoundRole, wanted: WantedRole): Promise<readonly Difference[]> {
  const differing = attributes.filter((attribute) => attribute.differs(found, wanted))
  const differences = differing.map(({ name, clause }) => ({ name, clause: clause(wanted, found) }))
  if (await hasPassword(sql, wanted)) return differences
  return [...differences, { name: 'password', clause: await passwordClause(wanted.password) }]
}

/** By what is stored; who may not see that, as on RDS, sees whether the password lets the role in. */
async function hasPassword(sql: Sql, { name, password }: WantedRole): Promise<boolean> {
  try {
    const stored = 'SELECT rolpassword AS verifier FROM pg_authid WHERE rolname = $1'
    const [row] = await sql.query<{ verifier: string | null }>(stored, [name])
    return await isVerifierOf(row?.verifier ?? null, password)
  } catch (error) {
    if (!hasReason(error, 'InsufficientPrivilege')) throw error
    return sql.knows(name, password)
  }
}

async function passwordClause(password: string): Promise<string> {
  return `PASSWORD ${literal(await scramVerifier(password))}`
}
