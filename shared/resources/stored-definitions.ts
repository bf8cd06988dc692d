import type { CustomResourceDefinition } from '../model/custom-resource-definition.ts'
import type { ObjectStore } from '../ports/object-store.ts'
import { customResourceDefinitionKind as definition } from './built-in-kinds.ts'

/** Whether objects of the kind are CustomResourceDefinitions. */
export function isDefinition(group: string, kind: string): boolean {
  return group === definition.group && kind === definition.kind
}

/** All definitions in the store. */
export async function definitionsIn(store: ObjectStore): Promise<readonly CustomResourceDefinition[]> {
  const { items } = await store.list({ group: definition.group, kind: definition.kind })
  return items.map(({ object }) => object as unknown as CustomResourceDefinition)
}
