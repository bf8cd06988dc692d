import type { JsonObject } from '../json.ts'
import {
  difference,
  differenceBelow,
  intersection,
  isSubset,
  noFields,
  sameFields,
  union,
  unionOf,
  type FieldSet,
} from './fields/field-set.ts'
import { mapIn } from './json-parts.ts'
import { changesIn, type ChangesIn, type OwnerViews } from './owner-views.ts'
import { fieldsOf } from './typed/fields-of.ts'
import type { MergeType } from './typed/merge-type.ts'
import { merge } from './typed/merge.ts'
import { unmanagedFields } from './typed/unmanaged-fields.ts'
import { pruneUnowned } from './typed/prune.ts'

/** Who writes: one entry of `metadata.managedFields` without its fields. */
export interface Manager {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly apiVersion: string
  readonly subresource?: string
  /** When this manager last changed something, RFC 3339 in whole seconds. */
  readonly time?: string
}

export interface FieldOwner extends Manager {
  readonly fields: FieldSet
}

/** Who owns what, by `ownerId`. Nobody in it owns nothing. */
export type Owners = ReadonlyMap<string, FieldOwner>

/** Kubernetes' own identifier. An applier is the same in every version, an updater is another one in each. */
export function ownerId({ manager, operation, apiVersion, subresource }: Manager): string {
  return JSON.stringify({ manager, operation, ...(operation === 'Update' && { apiVersion }), subresource })
}

/** What a claim would lead to if it is carried through. */
export interface Claimed {
  /** The live object itself, if nothing changes in it. */
  readonly object: JsonObject
  /** The owners themselves, if nothing changes at all. */
  readonly owners: Owners
  /** The others who lose fields to the claim, each with just these fields. */
  readonly conflicts: Owners
}

/** One manager's claim on an object: the fields of its configuration, and no others. */
export interface Claim {
  readonly self: Manager
  readonly live: JsonObject
  readonly config: JsonObject
  readonly type: MergeType
  /** Fields that are not the manager's to write here, with all that is below them. The configuration has none. */
  readonly ignored: FieldSet
  readonly views?: OwnerViews | undefined
}

/**
 * Merges the configuration into the live object, removes what only this manager had applied and no longer does, and
 * moves the ownership. Whether conflicts forbid it is the caller's decision.
 */
export function claim(owners: Owners, { self, live, config, type, ignored, views }: Claim): Claimed {
  const id = ownerId(self)
  const previous = owners.get(id)
  const last = differenceBelow(previous?.fields ?? noFields, ignored)
  const fields = fieldsOf(config, type)
  const others = new Map(owners)
  others.delete(id)
  // What was applied in another version is not taken for what is applied now: nothing goes because the version changed.
  const isSameVersion = views === undefined || previous === undefined || previous.apiVersion === self.apiVersion
  const merged = mapIn(merge(live, config, type))
  const object = isSameVersion ? pruneOwned(merged, type, { last, fields, others, views }) : merged
  const changes = changesIn(live, object, { type, views })
  const mine = { ...self, fields: difference(fields, unmanagedFields) }
  const isSame = object === live && previous !== undefined && sameClaim(previous, mine)
  return {
    object,
    owners: isSame ? owners : add(release(others, changes), id, mine),
    conflicts: overlaps(others, changes),
  }
}

function sameClaim(a: FieldOwner, b: FieldOwner): boolean {
  return a.apiVersion === b.apiVersion && sameFields(a.fields, b.fields)
}

interface Applied {
  readonly last: FieldSet
  readonly fields: FieldSet
  readonly others: Owners
  readonly views: OwnerViews | undefined
}

function pruneOwned(object: JsonObject, type: MergeType, { last, fields, others, views }: Applied): JsonObject {
  if (isSubset(last, fields)) return object
  const [alike, elsewise] = splitByView(others, views)
  const owned = unionOf([fields, ...alike.map((owner) => owner.fields)])
  const pruned = pruneUnowned(object, type, { last, owned })
  if (elsewise.length === 0 || pruned === object) return pruned
  // What somebody else owns in another version stays, and so does what stands with it.
  const changes = changesIn(object, pruned, { type, views })
  const isOwned = elsewise.some((owner) => {
    if (views?.(owner.apiVersion)?.convert(pruned) === undefined) return true
    const { written, removed } = changes(owner.apiVersion)
    return intersection(owner.fields, union(written, removed)) !== noFields
  })
  return isOwned ? object : pruned
}

/** Those who own fields of the version that is written, and those who own fields of others. */
function splitByView(owners: Owners, views: OwnerViews | undefined): readonly [FieldOwner[], FieldOwner[]] {
  const all = [...owners.values()]
  if (views === undefined) return [all, []]
  const isElsewise = ({ apiVersion }: FieldOwner): boolean => views(apiVersion) !== undefined
  return [all.filter((owner) => !isElsewise(owner)), all.filter(isElsewise)]
}

/** One manager's write of a whole object. */
export interface OwnedWrite {
  readonly self: Manager
  readonly before: JsonObject
  readonly after: JsonObject
  readonly type: MergeType
  /** Fields whose changes do not count, with all that is below them. */
  readonly ignored: FieldSet
  readonly views?: OwnerViews | undefined
}

/** Added and changed fields go to the writer; they and the removed ones leave everybody else. */
export function recordWrite(owners: Owners, { self, before, after, type, ignored, views }: OwnedWrite): Owners {
  const all = changesIn(before, after, { type, views })
  const changes: ChangesIn = (apiVersion) => {
    const { written, removed } = all(apiVersion)
    return { written: differenceBelow(written, ignored), removed: differenceBelow(removed, ignored) }
  }
  const mine = difference(changes(self.apiVersion).written, unmanagedFields)
  const released = release(owners, changes)
  if (mine === noFields) return released
  const id = ownerId(self)
  return add(released, id, { ...self, fields: union(released.get(id)?.fields ?? noFields, mine) })
}

function release(owners: Owners, changes: ChangesIn): Owners {
  return withFields(owners, (fields, { apiVersion }) => {
    const { written, removed } = changes(apiVersion)
    return difference(difference(fields, written), removed)
  })
}

function overlaps(owners: Owners, changes: ChangesIn): Owners {
  return withFields(owners, (fields, { apiVersion }) => intersection(fields, changes(apiVersion).written))
}

/**
 * Each owner with the fields it is left with; who is left with none drops out, and who keeps all stays the same value.
 */
export function withFields(owners: Owners, change: (fields: FieldSet, owner: FieldOwner) => FieldSet): Owners {
  const result = new Map<string, FieldOwner>()
  for (const [id, owner] of owners) {
    const fields = change(owner.fields, owner)
    if (fields !== noFields) result.set(id, fields === owner.fields ? owner : { ...owner, fields })
  }
  return result
}

function add(owners: Owners, id: string, owner: FieldOwner): Owners {
  return owner.fields === noFields ? owners : new Map(owners).set(id, owner)
}
