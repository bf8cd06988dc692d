import type { JsonObject } from '../json.ts'
import {
  difference,
  differenceBelow,
  intersection,
  isSubset,
  noFields,
  sameFields,
  union,
  type FieldSet,
} from './fields/field-set.ts'
import { mapIn } from './json-parts.ts'
import { compare, type Comparison } from './typed/compare.ts'
import { fieldsOf } from './typed/fields-of.ts'
import type { MergeType } from './typed/merge-type.ts'
import { merge } from './typed/merge.ts'
import { unmanagedFields } from './typed/object-meta.ts'
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
}

/**
 * Merges the configuration into the live object, removes what only this manager had applied and no longer does, and
 * moves the ownership. Whether conflicts forbid it is the caller's decision.
 */
export function claim(owners: Owners, { self, live, config, type, ignored }: Claim): Claimed {
  const id = ownerId(self)
  const previous = owners.get(id)
  const last = differenceBelow(previous?.fields ?? noFields, ignored)
  const fields = fieldsOf(config, type)
  const others = new Map(owners)
  others.delete(id)
  const object = pruneOwned(mapIn(merge(live, config, type)), type, { last, fields, others })
  const changes = compare(live, object, type)
  const mine = { ...self, fields: difference(fields, unmanagedFields) }
  const isSame = object === live && previous !== undefined && sameClaim(previous, mine)
  return {
    object,
    owners: isSame ? owners : add(release(others, changes), id, mine),
    conflicts: overlaps(others, changes.written),
  }
}

function sameClaim(a: FieldOwner, b: FieldOwner): boolean {
  return a.apiVersion === b.apiVersion && sameFields(a.fields, b.fields)
}

interface Applied {
  readonly last: FieldSet
  readonly fields: FieldSet
  readonly others: Owners
}

function pruneOwned(object: JsonObject, type: MergeType, { last, fields, others }: Applied): JsonObject {
  if (isSubset(last, fields)) return object
  const owned = [...others.values()].reduce((set, owner) => union(set, owner.fields), fields)
  return pruneUnowned(object, type, { last, owned })
}

/** One manager's write of a whole object. */
export interface OwnedWrite {
  readonly self: Manager
  readonly before: JsonObject
  readonly after: JsonObject
  readonly type: MergeType
  /** Fields whose changes do not count, with all that is below them. */
  readonly ignored: FieldSet
}

/** Added and changed fields go to the writer; they and the removed ones leave everybody else. */
export function recordWrite(owners: Owners, { self, before, after, type, ignored }: OwnedWrite): Owners {
  const { written, removed } = compare(before, after, type)
  const changes = { written: differenceBelow(written, ignored), removed: differenceBelow(removed, ignored) }
  const mine = difference(changes.written, unmanagedFields)
  const released = release(owners, changes)
  if (mine === noFields) return released
  const id = ownerId(self)
  return add(released, id, { ...self, fields: union(released.get(id)?.fields ?? noFields, mine) })
}

function release(owners: Owners, { written, removed }: Comparison): Owners {
  return withFields(owners, (fields) => difference(difference(fields, written), removed))
}

function overlaps(owners: Owners, written: FieldSet): Owners {
  return written === noFields ? noOwners : withFields(owners, (fields) => intersection(fields, written))
}

const noOwners: Owners = new Map()

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
