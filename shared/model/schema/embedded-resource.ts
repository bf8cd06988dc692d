import { dnsLabelFault } from '../dns-name.ts'
import { isObject, type JsonObject } from '../json.ts'
import { hasField } from './own-field.ts'
import { child, type FieldError, invalid, fieldRequired } from './field-error.ts'

/** What `x-kubernetes-embedded-resource` asks of an object: an apiVersion, a kind, and metadata only as an object. */
export function resourceFaults(object: JsonObject, path: string): readonly FieldError[] {
  const { apiVersion, kind, metadata } = object
  const faults = [
    hasField(object, 'apiVersion')
      ? apiVersionFault(apiVersion, child(path, 'apiVersion'))
      : fieldRequired(child(path, 'apiVersion')),
    hasField(object, 'kind') ? kindFault(kind, child(path, 'kind')) : fieldRequired(child(path, 'kind')),
    metadata === undefined || isObject(metadata)
      ? undefined
      : invalid(child(path, 'metadata'), metadata, 'must be an object'),
  ]
  return faults.filter((fault) => fault !== undefined)
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
