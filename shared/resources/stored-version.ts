import { applyDefaults } from '../model/schema/defaulting.ts'
import { functionsLacking } from '../model/conversion-failed.ts'
import type { Conversion } from '../model/conversion.ts'
import { hasCode } from '../model/errors.ts'
import { equal } from '../model/json.ts'
import { mergeChange } from '../model/merge-change.ts'
import { apiVersionOf, parseApiVersion, type ApiObject, type ObjectMeta } from '../model/object.ts'
import type { FieldError } from '../model/schema/field-error.ts'
import type { ServedKind } from '../model/served-kind.ts'
import { changesContent, checkSchema, refuse } from './admission.ts'
import { withGeneration } from './transitions.ts'

/** One object before a write: as it was read from the store, and as the writer saw it. */
export interface LiveStates {
  readonly found: ApiObject
  readonly before: ApiObject
}

/**
 * The object as it is stored, of what a writer made of it in a version of their own. What the writer left as it was
 * stays, also what their version does not show. Throws INVALID if it cannot be converted, or does not fit the version
 * that is stored, and CONVERSION_FAILED if this release lacks the functions.
 */
export function toStoredVersion(kind: ServedKind, next: ApiObject, live?: LiveStates): ApiObject {
  const { conversion } = kind
  if (conversion === undefined) return next
  const isRaw = live !== undefined && live.found.apiVersion !== storedVersionOf(conversion)
  if (kind.version === conversion.version && !isRaw) return next
  const isSameSpec = live !== undefined && !changesContent(next, live.before)
  if (isSameSpec && equal(live.before.status, next.status)) {
    // Functions convert no metadata; a webhook may convert labels and annotations.
    if (isRaw || conversion.prepare === undefined) return { ...live.found, metadata: next.metadata }
    if (hasTextsOf(next, live.before)) return { ...live.found, metadata: withTextsOf(live.found, next.metadata) }
  }
  if (isRaw && isSameSpec) return { ...live.found, metadata: next.metadata, ...statusOf(next) }
  refuseLacking(conversion, live?.found ?? next)
  refuseLacking(conversion, next)
  if (kind.version === conversion.version) return next
  return upgrade(kind, conversion, { next, live: isRaw ? undefined : live })
}

function hasTextsOf({ metadata: a }: ApiObject, { metadata: b }: ApiObject): boolean {
  return equal(a.labels, b.labels) && equal(a.annotations, b.annotations)
}

/** The metadata with labels and annotations of the object. */
function withTextsOf({ metadata: { labels, annotations } }: ApiObject, metadata: ObjectMeta): ObjectMeta {
  const { labels: _, annotations: __, ...rest } = metadata
  return { ...rest, ...(labels && { labels }), ...(annotations && { annotations }) }
}

function storedVersionOf({ group, version }: Conversion): string {
  return apiVersionOf(group, version)
}

/** What only another release can convert would be stored under the name of a version that it is not in. */
function refuseLacking(conversion: Conversion, object: ApiObject): void {
  if (conversion.lacks?.(parseApiVersion(object.apiVersion).version) !== true) return
  throw functionsLacking(conversion, object, conversion.version)
}

function statusOf({ status }: ApiObject): Pick<ApiObject, 'status'> {
  return status === undefined ? {} : { status }
}

interface Upgrade {
  readonly next: ApiObject
  readonly live: LiveStates | undefined
}

function upgrade(kind: ServedKind, conversion: Conversion, { next, live }: Upgrade): ApiObject {
  const to = convertSent(kind, conversion, next)
  const stored = { ...kind, version: conversion.version, schema: conversion.schema }
  const object = applyDefaults(conversion.schema, live === undefined ? to : merge(conversion, live, to))
  const errors = checkSchema(stored, object, live?.found)
  refuse(
    kind,
    next.metadata.name,
    errors.map((error) => asConverted(error, conversion.version)),
  )
  return live === undefined || next.metadata.generation !== live.before.metadata.generation
    ? object
    : withGeneration(stored, applyDefaults(conversion.schema, live.found), object)
}

/** The stored object with what the write changed. */
function merge(conversion: Conversion, { found, before }: LiveStates, to: ApiObject): ApiObject {
  const from = conversion.convert(before, conversion.version)
  const { properties = {} } = conversion.schema
  const merged: ApiObject = { ...to }
  for (const field of Object.keys({ ...found, ...to })) {
    if (field === 'metadata' || field === 'apiVersion' || field === 'kind') continue
    const value = mergeChange(found[field], [from[field], to[field]], properties[field])
    if (value === undefined) delete merged[field]
    else merged[field] = value
  }
  return merged
}

function convertSent(kind: ServedKind, { convert, version }: Conversion, next: ApiObject): ApiObject {
  try {
    return convert(next, version)
  } catch (error) {
    if (!hasCode(error, 'CONVERSION_FAILED')) throw error
    const reason = 'FieldValueInvalid'
    const message = `Invalid value: ${error.message}`
    return refuse(kind, next.metadata.name, [{ field: 'spec', reason, message }]) as never
  }
}

function asConverted(error: FieldError, version: string): FieldError {
  return { ...error, message: `${error.message} (in ${version}, which it is stored in)` }
}
