import { parseApiVersion } from '../model/object.ts'
import type { StoredObject } from '../model/stored-object.ts'
import type { ObjectStore } from '../ports/object-store.ts'
import { isDefinition } from './stored-definitions.ts'

/**
 * The store, which calls `tell` after each write of a CustomResourceDefinition, whoever makes it and however it ends:
 * one whose fate is unknown may have been written.
 */
export function tellDefinitionWrites(store: ObjectStore, tell: () => void): ObjectStore {
  const notify = ({ object }: StoredObject, write: Promise<StoredObject>): Promise<StoredObject> =>
    isDefinition(parseApiVersion(object.apiVersion).group, object.kind) ? write.finally(tell) : write
  return {
    ...store,
    create: (stored) => notify(stored, store.create(stored)),
    replace: (stored, touched) => notify(stored, store.replace(stored, touched)),
    remove: (stored) => notify(stored, store.remove(stored)),
  }
}
