import { dnsLabelFault } from '../dns-name.ts'
import type { Json, JsonObject } from '../json.ts'
import { checkMetadata, checkNamespaceName } from '../metadata.ts'
import type { ObjectMeta } from '../object.ts'
import { writableParts } from '../writable-metadata.ts'
import { hasField } from './own-field.ts'
import { child, type FieldError, invalid, fieldRequired } from './field-error.ts'
import { objectMetaSchema } from './object-meta.ts'
import { pruneValue } from './prune.ts'
import { metadataFault } from './type-fault.ts'

/**
 * What `x-kubernetes-embedded-resource` asks of an object: an apiVersion, a kind, and metadata as every object has it,
 * but for a name. Source: apiextensions-apiserver, `schema/objectmeta`.
 */
export function resourceFaults(object: JsonObject, path: string): readonly FieldError[] {
  const { apiVersion, kind, metadata } = object
  const faults = [
    hasField(object, 'apiVersion')
      ? apiVersionFault(apiVersion, child(path, 'apiVersion'))
      : fieldRequired(child(path, 'apiVersion')),
    hasField(object, 'kind') ? kindFault(kind, child(path, 'kind')) : fieldRequired(child(path, 'kind')),
    ...metadataFaults(metadata, path),
  ]
  return faults.filter((fault) => fault !== undefined)
}

function metadataFaults(metadata: Json | undefined, path: string): readonly FieldError[] {
  if (metadata === undefined || metadata === null) return []
  const misfit = metadataFault(metadata)
  if (misfit !== undefined) return [invalid(child(path, misfit.field), misfit.value, misfit.why)]
  const parts = writableParts(metadata as JsonObject)
  const errors = checkMetadata({ name: anyName, ...parts } as ObjectMeta, 'path segment')
  const { namespace } = parts
  return [
    ...errors.map((error) => ({ ...error, field: child(path, error.field) })),
    ...(namespace === undefined ? [] : checkNamespaceName(child(path, 'metadata.namespace'), namespace)),
  ]
}

/** Stands for a name that is left out. */
const anyName = 'name'

/** Whether its metadata has fields that no metadata has, at any depth. */
export function hasUnknownMetadata({ metadata }: JsonObject): boolean {
  return metadata !== undefined && pruneValue(objectMetaSchema, metadata).value !== metadata
}

function apiVersionFault(apiVersion: unknown, field: string): FieldError | undefined {
  if (typeof apiVersion !== 'string') return invalid(field, apiVersion, 'must be a string')
  if (apiVersion === '') return invalid(field, apiVersion, 'must not be empty')
  if (apiVersion.split('/', 3).length <= 2) return undefined
  return invalid(field, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)
}

function kindFault(kind: unknown, field: string): FieldError | undefined {
  if (typeof kind !== 'string') return invalid(field, kind, 'must be a string')
  if (kind === '') return invalid(field, kind, 'must not be empty')
  const fault = dnsLabelFault(kind.toLowerCase())
  return fault === undefined
    ? undefined
    : invalid(field, kind, `may have mixed case, but should otherwise match: ${fault}`)
}
