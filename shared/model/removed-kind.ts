import type { ObjectKey } from './object-key.ts'
import { parseApiVersion, type ApiObject } from './object.ts'

const prefix = 'removed.'

/** The kind of the records of removed objects of a kind. Nobody serves it. */
export function removedKindOf({ group, kind }: Pick<ObjectKey, 'group' | 'kind'>): Pick<ObjectKey, 'group' | 'kind'> {
  return { group: `${prefix}${group || 'core'}`, kind }
}

export function isOfRemovedKind({ apiVersion }: Pick<ApiObject, 'apiVersion'>): boolean {
  return isRemovedGroup(parseApiVersion(apiVersion).group)
}

export function isRemovedGroup(group: string): boolean {
  return group.startsWith(prefix)
}
