import type { ComputedPlace } from '../../api/computed/computed-objects.ts'
import type { JsonObject } from '../../model/json.ts'
import type { ObjectKey } from '../../model/object-key.ts'

/** Where an object is told of that has no namespace: as events about it are. */
export const clusterNamespace = 'default'

/** The place of what is told of an object. Names of one kind of things are unique in a namespace. */
export function placeAbout(controller: string, { namespace, name }: ObjectKey): ComputedPlace {
  return { namespace: namespace || clusterNamespace, name: `${controller}.${name}` }
}

/** The object, as a field of what is told of it. */
export function describeKey({ group, kind, namespace, name }: ObjectKey): JsonObject {
  return { group, kind, ...(namespace === '' ? {} : { namespace }), name }
}

/** Whether a request for a namespace is for what is told of this object. */
export function isToldIn(asked: string, { namespace }: ObjectKey): boolean {
  return asked === '' || asked === (namespace || clusterNamespace)
}
