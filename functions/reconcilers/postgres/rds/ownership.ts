import { createHash } from 'node:crypto'
import { PostgresFailure } from '../failure.ts'
import type { ClusterIdentity } from '../provider.ts'
import type { RdsSettings } from './settings.ts'

/** Which resources are an object's: by a name that follows from the object's, and by a tag. */
export type Tag = { readonly Key: string; readonly Value: string }

const ownerTag = 'setpoint.dev/owner'
const tagLengthMax = 256

/**
 * Chosen once and for all by the object's name, so that a create that nobody saw end makes no second one: RDS takes 63
 * letters, digits and single hyphens, and makes capitals small.
 */
export function identifierOf(cluster: ClusterIdentity, settings: RdsSettings): string {
  const readable = `${cluster.namespace}-${cluster.name}`.replaceAll(/[^a-z0-9]+/g, '-').slice(0, 40)
  const unique = createHash('sha256').update(ownerTagOf(cluster, settings)).digest('hex').slice(0, 12)
  return `sp-${readable}-${unique}`.replaceAll(/-{2,}/g, '-')
}

/** What a resource of ours is tagged with. The next object of this name finds again what was retained of the last. */
export function ownerTagOf({ namespace, name }: ClusterIdentity, { controlPlane }: RdsSettings): string {
  const owner = `${controlPlane}/${namespace}/${name}`
  return owner.length <= tagLengthMax ? owner : createHash('sha256').update(owner).digest('hex')
}

export function tagsOf(cluster: ClusterIdentity, settings: RdsSettings): Tag[] {
  return [{ Key: ownerTag, Value: ownerTagOf(cluster, settings) }]
}

export function isOwnedBy({ Tags = [] }: { readonly Tags?: readonly Tag[] }, owner: string): boolean {
  return Tags.some(({ Key, Value }) => Key === ownerTag && Value === owner)
}

/** What to throw for a resource that has our name and not our tag. */
export function notOurs(what: string): PostgresFailure {
  return new PostgresFailure('conflict', 'NotOurs', `${what} exists, and its tags say it is not ours`)
}
