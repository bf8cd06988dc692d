import type { CustomResourceDefinition } from '../model/custom-resource-definition.ts'
import type { StoredObject } from '../model/stored-object.ts'
import type { ObjectStore } from '../ports/object-store.ts'
import { customResourceDefinitionKind as definition } from './built-in-kinds.ts'

/** Whether objects of the kind are CustomResourceDefinitions. */
export function isDefinition(group: string, kind: string): boolean {
  return group === definition.group && kind === definition.kind
}

/** The definition of a kind, as it is stored now. */
export async function findDefinition(
  store: ObjectStore,
  { group, plural }: { readonly group: string; readonly plural: string },
): Promise<StoredObject | undefined> {
  return store.get({ group: definition.group, kind: definition.kind, namespace: '', name: `${plural}.${group}` })
}

/** All definitions in the store. */
export async function definitionsIn(store: ObjectStore): Promise<readonly CustomResourceDefinition[]> {
  const { items } = await store.list({ group: definition.group, kind: definition.kind })
  return items.map(({ object }) => object as unknown as CustomResourceDefinition)
}
