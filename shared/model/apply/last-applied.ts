import { parseJson } from '../parse-json.ts'
import { isObject, type Json, type JsonObject } from '../json.ts'
import { nameElement } from './fields/field-path.ts'
import { difference, noFields, setOfPaths, union, type FieldSet } from './fields/field-set.ts'
import { entryOf, mapIn } from './json-parts.ts'
import { checkConfig } from './typed/check-config.ts'
import { compare } from './typed/compare.ts'
import { fieldsOf } from './typed/fields-of.ts'
import type { MergeType } from './typed/merge-type.ts'

/**
 * The way from client-side to server-side apply. `kubectl apply` used to keep its last configuration in an annotation,
 * and what it wrote belongs to an updater of another name; without this the first `kubectl apply --server-side` would
 * conflict with the user's own earlier applies.
 */
const annotation = 'kubectl.kubernetes.io/last-applied-configuration'

/** Kubernetes' limit for all annotations of an object together. */
const maxAnnotationsBytes = 256 * 1024

/**
 * The fields that kubectl applied client-side and that still have the value it gave them: nobody else changed them, so
 * it may take them over. None if there is no usable annotation.
 */
export function fieldsLastApplied(live: JsonObject, type: MergeType): FieldSet {
  const config = lastConfig(live)
  if (config === undefined || config['apiVersion'] !== live['apiVersion']) return noFields
  if (checkConfig(config, type).length > 0) return noFields
  const { written, removed } = compare(config, live, type)
  return difference(difference(fieldsOf(config, type), written), removed)
}

/** What of an object belongs to its client-side applies: the fields last applied, and the annotation that says so. */
export function fieldsOfClientSideApply(live: JsonObject, type: MergeType): FieldSet {
  if (annotationOf(live) === undefined) return noFields
  return union(fieldsLastApplied(live, type), setOfPaths([['metadata', 'annotations', annotation].map(nameElement)]))
}

function lastConfig(object: JsonObject): JsonObject | undefined {
  const text = annotationOf(object)
  if (text === undefined) return undefined
  try {
    const config: unknown = parseJson(text)
    return isObject(config) ? config : undefined
  } catch {
    // The annotation is the user's to write. One that cannot be read grants nothing.
    return undefined
  }
}

/**
 * The object with its annotation, if it has one, brought up to the configuration applied now; without it if too long.
 */
export function refreshLastApplied(object: JsonObject, config: JsonObject): JsonObject {
  const metadata = mapIn(object['metadata'])
  const { [annotation]: previous, ...others } = mapIn(metadata['annotations'])
  if (previous === undefined || previous === '') return object
  const text = `${JSON.stringify(withoutAnnotation(config), sortFields)}\n`.replace(escapedInGo, escapeCharacter)
  const updated = { ...others, [annotation]: text }
  return { ...object, metadata: { ...metadata, annotations: fits(updated) ? updated : others } }
}

function withoutAnnotation(config: JsonObject): JsonObject {
  if (annotationOf(config) === undefined) return config
  const metadata = mapIn(config['metadata'])
  const { [annotation]: _, ...annotations } = mapIn(metadata['annotations'])
  return { ...config, metadata: { ...metadata, annotations } }
}

function annotationOf(object: JsonObject): string | undefined {
  const text = entryOf(mapIn(mapIn(object['metadata'])['annotations']), annotation)
  return typeof text === 'string' && text !== '' ? text : undefined
}

function fits(annotations: JsonObject): boolean {
  const bytes = (text: Json | undefined) => (typeof text === 'string' ? new TextEncoder().encode(text).length : 0)
  const total = Object.entries(annotations).reduce((sum, [name, text]) => sum + bytes(name) + bytes(text), 0)
  return total <= maxAnnotationsBytes
}

// The text is byte for byte what kubectl itself writes, so its next client-side apply sees no difference in it.

function sortFields(_field: string, value: unknown): unknown {
  return isObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value
}

const escapedInGo = /[<>&\u2028\u2029]/g

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
