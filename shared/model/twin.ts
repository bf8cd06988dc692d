import { isObject, type Json, type JsonObject } from './json.ts'
import { apiVersionOf, type ApiObject } from './object.ts'
import type { ServedKind, Twin } from './served-kind.ts'

/**
 * One kind in two groups: the same objects, some fields under other names, as Kubernetes has Events. They are stored as
 * the first kind. Renaming twice is no renaming, so that one function goes both ways.
 */

/** The kind in another group. `renames` are pairs of names, the other group's first. */
export function twinOf(of: ServedKind, group: string, renames: Readonly<Record<string, string>>): ServedKind {
  const pairs = Object.entries(renames)
  const both = new Map([...pairs, ...pairs.map(([here, there]) => [there, here] as const)])
  const { properties = {}, ...schema } = of.schema
  return {
    ...of,
    group,
    schema: { ...schema, properties: rename(properties, both) },
    selectableFields: of.selectableFields
      .filter((path) => of.selectedAt?.[path] === undefined)
      .map((path) => renamePath(path, both)),
    twinGroup: of.group,
    twin: { of: { ...of, askedAs: group }, renames: both },
  }
}

/** What is stored as the other kind shows it, or what the other kind means by a body or a merge patch. */
export function toTwin(object: ApiObject, twin: Twin, kind: ServedKind): ApiObject
export function toTwin(body: JsonObject, twin: Twin, kind: ServedKind): JsonObject
export function toTwin(body: JsonObject, { renames }: Twin, kind: ServedKind): JsonObject {
  const renamed = rename(body, renames)
  if (renamed['apiVersion'] !== undefined) renamed['apiVersion'] = apiVersionOf(kind.group, kind.version)
  const { metadata } = renamed
  if (isObject(metadata) && Array.isArray(metadata['managedFields'])) {
    const managedFields = metadata['managedFields'].map((entry) => renameOwned(entry, renames, kind))
    renamed['metadata'] = { ...metadata, managedFields }
  }
  return renamed
}

/** An operation of a JSON patch about the other kind. */
export function operationToTwin(operation: JsonObject, twin: Twin, kind: ServedKind): JsonObject {
  const { path, from, value } = operation
  const isWhole = path === '' && isObject(value)
  return {
    ...operation,
    ...(typeof path === 'string' ? { path: renamePointer(path, twin) } : {}),
    ...(typeof from === 'string' ? { from: renamePointer(from, twin) } : {}),
    ...(isWhole ? { value: toTwin(value, twin, kind) } : {}),
  }
}

function rename<Value>(
  fields: { readonly [name: string]: Value },
  renames: Twin['renames'],
  prefix = '',
): { [name: string]: Value } {
  const renamed = Object.entries(fields).map(([name, value]) => {
    const other = name.startsWith(prefix) ? renames.get(name.slice(prefix.length)) : undefined
    return [other === undefined ? name : `${prefix}${other}`, value] as const
  })
  return Object.fromEntries(renamed)
}

function renamePath(path: string, renames: Twin['renames']): string {
  const [first = '', ...rest] = path.split('.')
  return [renames.get(first) ?? first, ...rest].join('.')
}

function renamePointer(pointer: string, { renames }: Twin): string {
  const [root = '', first = '', ...rest] = pointer.split('/')
  return pointer === '' ? pointer : [root, renames.get(first) ?? first, ...rest].join('/')
}

/** An entry of the managedFields: who owns a field owns it under both names. */
function renameOwned(entry: Json, renames: Twin['renames'], { group, version }: ServedKind): Json {
  if (!isObject(entry)) return entry
  const { fieldsV1 } = entry
  const fields = isObject(fieldsV1) ? { fieldsV1: rename(fieldsV1, renames, 'f:') } : {}
  return { ...entry, apiVersion: apiVersionOf(group, version), ...fields }
}
