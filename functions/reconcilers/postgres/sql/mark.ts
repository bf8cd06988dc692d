import { PostgresFailure } from '../failure.ts'

/** Who declares a role or database of this name. */
export interface Owned {
  readonly name: string
  /** The object that declares it. */
  readonly uid: string
  /** That object's namespace and name, which a released role or database waits for; without it none is taken over. */
  readonly key?: string | undefined
}

/** What a role or database says about its owner: it is this one's, it waits for an object of this key, or neither. */
export type Claim = 'ours' | 'released' | 'foreign'

/**
 * The comment of what this object declares. Comments are the only thing that decides: we never change or drop a role or
 * database that does not carry the mark, whatever its name.
 */
export function markOf({ uid }: Owned): string {
  return `setpoint:${uid}`
}

/** The comment of what outlives the object that declared it, for the next object of the same key. */
export function releasedMarkOf(key: string): string {
  return `setpoint:released:${key}`
}

/** What `release` needs to know: a key is a must there. */
export type Released = Owned & { readonly key: string }

/** Reads the comment found on something of the owner's name. */
export function claimOf(comment: string | null, owned: Owned): Claim {
  if (comment === markOf(owned)) return 'ours'
  return owned.key !== undefined && comment === releasedMarkOf(owned.key) ? 'released' : 'foreign'
}

/** The refusal to touch what somebody else has. */
export function foreign(what: 'role' | 'database', comment: string | null, { name }: Owned): PostgresFailure {
  const whose = comment?.startsWith('setpoint:') === true ? 'belongs to another object' : 'was not made by Setpoint'
  return new PostgresFailure('conflict', 'AlreadyExists', `${what} "${name}" exists and ${whose}`)
}
