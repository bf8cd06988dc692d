import { unionOf, type FieldSet } from './fields/field-set.ts'
import { byAge } from './managed-fields.ts'
import { ownerId, type Manager, type FieldOwner, type Owners } from './ownership.ts'

const maxUpdaters = 10

/**
 * Keeps the number of updaters at ten, as every user agent makes one: of those above, the oldest of a version become
 * one, `ancient-changes`. Appliers all stay: what they remove later depends on what they applied before.
 */
export function capUpdaters(owners: Owners): Owners {
  const updaters = [...owners].filter(([, { operation }]) => operation === 'Update')
  const maxSize = owners.size - updaters.length + maxUpdaters
  const result = new Map(owners)
  const oldestIds = new Map<string, string>()
  const gathered = new Map<string, FieldSet[]>()
  for (const [id, owner] of updaters.sort(oldestFirst)) {
    if (result.size <= maxSize) break
    const oldestId = oldestIds.get(owner.apiVersion)
    if (oldestId === undefined) oldestIds.set(owner.apiVersion, id)
    else moveToBucket({ owners: result, gathered }, { id, owner, oldestId })
  }
  for (const [id, fields] of gathered) {
    const bucket = result.get(id)
    if (bucket !== undefined) result.set(id, { ...bucket, fields: unionOf(fields) })
  }
  return result
}

function oldestFirst([idA, a]: readonly [string, FieldOwner], [idB, b]: readonly [string, FieldOwner]): number {
  return byAge(a, b) || (idA < idB ? -1 : 1)
}

interface Move {
  readonly id: string
  readonly owner: FieldOwner
  /** The oldest updater of the same version: what the bucket starts from. */
  readonly oldestId: string
}

interface Moving {
  readonly owners: Map<string, FieldOwner>
  /** What each bucket has so far: it becomes one set when all are there. */
  readonly gathered: Map<string, FieldSet[]>
}

function moveToBucket({ owners, gathered }: Moving, { id, owner, oldestId }: Move): void {
  const { apiVersion, time } = owner
  const bucket: Manager = { manager: 'ancient-changes', operation: 'Update', apiVersion, ...(time && { time }) }
  const bucketId = ownerId(bucket)
  const sourceId = owners.has(bucketId) ? bucketId : oldestId
  const source = owners.get(sourceId)
  owners.delete(sourceId)
  owners.delete(id)
  owners.set(bucketId, { ...bucket, fields: owner.fields })
  const fields = gathered.get(bucketId) ?? (source === undefined ? [] : [source.fields])
  fields.push(owner.fields)
  gathered.set(bucketId, fields)
}
