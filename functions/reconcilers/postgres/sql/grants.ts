import { identifier, type Sql } from './connection.ts'
import type { Changes } from './roles.ts'

/** What can be granted on a database. */
export type DatabasePrivilege = 'CONNECT' | 'CREATE' | 'TEMPORARY'

/** All that one grantee may do with the database. */
export interface WantedGrant {
  /** A role, or `public`, which is everybody. */
  readonly to: string
  readonly privileges: readonly DatabasePrivilege[]
}

/**
 * Makes the privileges on the connected database exactly what is wanted, for everybody but its owner, who has them all.
 * So nobody else may even connect unless named, though PostgreSQL by itself lets everybody, and nobody else may grant.
 * Retryable (`ObjectNotFound`) while a role that is named does not exist; what goes away has gone by then.
 */
export async function ensureGrants(sql: Sql, wanted: readonly WantedGrant[]): Promise<Changes> {
  const [place, database] = [`DATABASE ${identifier(sql.database)}`, `database "${sql.database}"`]
  const found = await listPrivileges(sql)
  const grantable = found.filter((one) => !one.owned && one.grantable)
  // What was granted on is its grantor's, and goes with the right to do so: nobody else could revoke it.
  for (const { role, privilege } of grantable)
    await sql.query(`REVOKE GRANT OPTION FOR ${privilege} ON ${place} FROM ${grantee(role)} CASCADE`)
  const held = grantable.length === 0 ? found : await listPrivileges(sql)
  const named = wanted.flatMap(({ to, privileges }) => privileges.map((privilege) => ({ role: to, privilege })))
  const surplus = held.filter((one) => !one.owned && !named.some((other) => same(one, other)))
  const missing = named.filter((one) => !held.some((other) => same(one, other)))
  for (const { role, privilege } of surplus) await sql.query(`REVOKE ${privilege} ON ${place} FROM ${grantee(role)}`)
  for (const { role, privilege } of missing) await sql.query(`GRANT ${privilege} ON ${place} TO ${grantee(role)}`)
  return [
    ...grantable.map(({ role, privilege }) => `revoked the right to grant ${privilege} on ${database} from "${role}"`),
    ...surplus.map(({ role, privilege }) => `revoked ${privilege} on ${database} from "${role}"`),
    ...missing.map(({ role, privilege }) => `granted ${privilege} on ${database} to "${role}"`),
  ]
}

/**
 * Takes from everybody the right to connect to the databases that a server comes with, as far as they are the
 * administrator's: on RDS both are. Who has a database of its own needs none of them, and would see the names of the
 * others there. Their owner and superusers connect all the same, and so does a role that was granted it by name.
 */
export async function closeServerDatabases(sql: Sql): Promise<Changes> {
  const open = await sql.query<{ readonly name: string }>(
    `SELECT d.datname AS name FROM pg_database d, aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) a
      WHERE d.datname IN ('postgres', 'template1') AND a.grantee = 0 AND a.privilege_type = 'CONNECT'
        AND pg_has_role(current_user, d.datdba, 'USAGE')
      ORDER BY 1`,
  )
  for (const { name } of open) await sql.query(`REVOKE CONNECT ON DATABASE ${identifier(name)} FROM PUBLIC`)
  return open.map(({ name }) => `revoked CONNECT on database "${name}" from "public"`)
}

interface Privilege {
  readonly role: string
  readonly privilege: DatabasePrivilege
}

interface HeldPrivilege extends Privilege {
  /** Whether it is the owner's, which comes with the database. */
  readonly owned: boolean
  /** Whether the role may grant it on. */
  readonly grantable: boolean
}

async function listPrivileges(sql: Sql): Promise<readonly HeldPrivilege[]> {
  return sql.query<HeldPrivilege>(
    `SELECT CASE a.grantee WHEN 0 THEN 'public' ELSE pg_get_userbyid(a.grantee) END AS role,
            a.privilege_type AS privilege, a.grantee = d.datdba AS owned, bool_or(a.is_grantable) AS grantable
       FROM pg_database d, aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) a
      WHERE d.datname = current_database() GROUP BY 1, 2, 3 ORDER BY 1, 2`,
  )
}

function same(one: Privilege, other: Privilege): boolean {
  return one.role === other.role && one.privilege === other.privilege
}

function grantee(role: string): string {
  return role === 'public' ? 'PUBLIC' : identifier(role)
}
