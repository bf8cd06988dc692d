import { parseApiVersion, type ApiObject } from './object.ts'

/** Identity of an object for as long as anything of that name exists: what a queue message and a lock carry. */
export interface ObjectKey {
  readonly group: string
  readonly kind: string
  /** Empty for cluster-scoped objects. */
  readonly namespace: string
  readonly name: string
}

export function keyOf(object: ApiObject): ObjectKey {
  const { namespace = '', name } = object.metadata
  return { group: parseApiVersion(object.apiVersion).group, kind: object.kind, namespace, name }
}

export function namespaceKeyOf(name: string): ObjectKey {
  return { group: '', kind: 'Namespace', namespace: '', name }
}

/** One text per key: no part of a key can hold a slash. */
export function keyText(key: ObjectKey): string {
  return `${key.group}/${key.kind}/${key.namespace}/${key.name}`
}

export function parseKeyText(text: string): ObjectKey {
  const [group = '', kind = '', namespace = '', name = ''] = text.split('/')
  return { group, kind, namespace, name }
}
