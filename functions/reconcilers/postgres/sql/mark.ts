import { PostgresFailure } from '../failure.ts'
import type { Sql } from './connection.ts'

/** Who declares a role or database of this name. */
export interface MarkedItem {
  readonly name: string
  /** The object that declares it. */
  readonly uid: string
  /** That object's namespace and name. What an object leaves behind, the next one of its key takes over. */
  readonly key: string
}

/**
 * What a role or database says about its owner: it is this one's, it was left by an earlier object of its key, or
 * neither.
 */
export type MarkClaim = 'ours' | 'left' | 'foreign'

/**
 * The comment of what this object declares. Comments are the only thing that decides: we never change or drop a role or
 * database that does not carry the mark, whatever its name.
 */
export function markOf({ uid, key }: MarkedItem): string {
  return `setpoint:${uid}:${key}`
}

/** The names that what carries the object's mark has now, whatever they were: somebody may have renamed it. */
export async function findMarked(
  sql: Sql,
  catalogue: 'pg_database' | 'pg_roles',
  owned: MarkedItem,
): Promise<string[]> {
  const [name, described] = catalogue === 'pg_roles' ? ['rolname', 'pg_authid'] : ['datname', catalogue]
  const rows = await sql.query<{ name: string }>(
    `SELECT ${name} AS name FROM ${catalogue} WHERE starts_with(shobj_description(oid, '${described}'), $1) ORDER BY 1`,
    [`setpoint:${owned.uid}:`],
  )
  return rows.map((row) => row.name)
}

/**
 * Reads the comment found on something of the owner's name. There is one object of a key at a time, so another one of
 * it is gone.
 */
export function claimOf(comment: string | null, { uid, key }: MarkedItem): MarkClaim {
  const [, itsUid, itsKey] = /^setpoint:([^:]*):(.*)$/s.exec(comment ?? '') ?? []
  if (itsUid === uid) return 'ours'
  return itsKey === key ? 'left' : 'foreign'
}

/** The refusal to touch what somebody else has. */
export function foreign(what: 'role' | 'database', comment: string | null, { name }: MarkedItem): PostgresFailure {
  const whose = comment?.startsWith('setpoint:') === true ? 'belongs to another object' : 'was not made by Setpoint'
  return new PostgresFailure('conflict', 'AlreadyExists', `${what} "${name}" exists and ${whose}`)
}
