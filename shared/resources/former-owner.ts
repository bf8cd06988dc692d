import { controllerOf } from '../model/object.ts'
import type { StoredObject } from '../model/stored-object.ts'

/**
 * The next state, with the owner that this write takes the object from: the relay wakes that one, too, which the object
 * names no more. The next change takes the note away.
 */
export function withFormerOwner(before: StoredObject, next: StoredObject): StoredObject {
  const owner = controllerOf(before.object)
  const { formerOwner: told, ...engine } = next.engine
  if (owner === undefined || owner.uid === controllerOf(next.object)?.uid)
    return told === undefined ? next : { object: next.object, engine }
  const { apiVersion, kind, name } = owner
  return { object: next.object, engine: { ...engine, formerOwner: { apiVersion, kind, name } } }
}
