import { PostgresFailure } from '../failure.ts'

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
 * The comment of what this object declares. Comments decide: we never change or drop a role or database that does not
 * carry the mark, whatever its name. Only administrators can comment on roles, but a database has the comment that its
 * owner gives it: see `claimOfDatabase`.
 */
export function markOf({ uid, key }: MarkedItem): string {
  return `setpoint:${uid}:${key}`
}

/** How every mark of the object begins. */
export function beginningOfMark({ uid }: MarkedItem): string {
  return `setpoint:${uid}:`
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
