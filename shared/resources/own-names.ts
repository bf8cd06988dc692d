import type { CustomResourceDefinition } from '../model/custom-resource-definition.ts'
import { equal } from '../model/json.ts'
import type { ApiObject } from '../model/object.ts'
import { isRemovedGroup } from '../model/removed-kind.ts'
import { invalid, type FieldError } from '../model/schema/field-error.ts'
import type { ServedKind } from '../model/served-kind.ts'
import { builtInKinds, twinKinds } from './built-in-kinds.ts'

/**
 * What of the names of a definition a kind of the control plane itself has. Objects are stored by group and kind: both
 * would share them, and they would go with the definition. The same holds for the groups where last states of removed
 * objects are. A definition that is stored so already can be written until it goes.
 */
export function checkOwnNames(object: ApiObject, live: ApiObject | undefined): readonly FieldError[] {
  const { group, names } = specOf(object)
  if (live !== undefined && equal(specOf(live).names, names)) return []
  if (isRemovedGroup(group)) return [invalid('spec.group', group, 'is kept for records of the control plane')]
  const own = [...builtInKinds, ...twinKinds].filter((kind) => kind.group === group)
  const { plural, kind, singular = kind.toLowerCase(), listKind = `${kind}List` } = names
  return [
    ...refuse('plural', plural, own.flatMap(resourceNames)),
    ...refuse('singular', singular, own.flatMap(resourceNames)),
    ...refuse('kind', kind, own.flatMap(kindNames)),
    ...refuse('listKind', listKind, own.flatMap(kindNames)),
  ]
}

function specOf(object: ApiObject): CustomResourceDefinition['spec'] {
  return (object as unknown as CustomResourceDefinition).spec
}

function resourceNames({ plural, singular }: ServedKind): readonly string[] {
  return [plural, singular]
}

function kindNames({ kind, listKind }: ServedKind): readonly string[] {
  return [kind, listKind]
}

function refuse(field: string, name: string, taken: readonly string[]): readonly FieldError[] {
  if (!taken.includes(name)) return []
  return [invalid(`spec.names.${field}`, name, 'a kind of the control plane in this group has this name')]
}
