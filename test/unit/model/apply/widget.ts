/** A kind with every way of merging, and the writes that the tests make of it. */
import { apply, type ApplyRequest, type ApplyResult } from '../../../../shared/model/apply/apply.ts'
import { trackUpdate, type UpdateRequest } from '../../../../shared/model/apply/track-update.ts'
import type { Tracked } from '../../../../shared/model/apply/tracked-write.ts'
import { isObject, type Json, type JsonObject } from '../../../../shared/model/json.ts'
import type { ManagedFieldsEntry } from '../../../../shared/model/object.ts'
import type { StructuralSchema } from '../../../../shared/model/schema/structural-schema.ts'

const text: StructuralSchema = { type: 'string' }
const number: StructuralSchema = { type: 'integer' }

export const widgetSchema: StructuralSchema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        size: number,
        colour: text,
        options: { type: 'object', additionalProperties: text },
        retention: { type: 'object', properties: { days: number, policy: text } },
        arguments: { type: 'array', items: text },
        tags: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
        ports: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['protocol', 'name'],
          items: {
            type: 'object',
            properties: { name: text, protocol: { type: 'string', default: 'TCP' }, port: number },
          },
        },
        quantity: { type: 'string', format: 'int-or-string' },
        anything: { type: 'object' },
        free: { 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
    status: { type: 'object', properties: { ready: { type: 'boolean' } } },
  },
}

export const start = '2026-01-01T00:00:00Z'
export const later = '2026-01-01T00:01:00Z'
const apiVersion = 'example.com/v1'

export function widget(spec: JsonObject, metadata: JsonObject = {}): JsonObject {
  return { apiVersion, kind: 'Widget', metadata: { namespace: 'default', name: 'demo', ...metadata }, spec }
}

type Options<R> = Partial<Omit<R, 'nowMs'>> & { readonly at?: string }

/** Applies a configuration, by alice unless said otherwise. */
export function tryApply(
  live: JsonObject | undefined,
  config: JsonObject,
  options: Options<ApplyRequest> = {},
): ApplyResult {
  const { at = start, ...rest } = options
  return apply({ schema: widgetSchema, live, config, manager: 'alice', apiVersion, nowMs: Date.parse(at), ...rest })
}

/** The same where nothing stands in the way. */
export function applied(
  live: JsonObject | undefined,
  config: JsonObject,
  options: Options<ApplyRequest> = {},
): JsonObject {
  const result = tryApply(live, config, options)
  if (result.outcome !== 'applied') throw new Error(result.message)
  return result.object
}

/** Writes a whole object, by bob unless said otherwise. */
export function update(
  live: JsonObject | undefined,
  object: JsonObject,
  options: Options<UpdateRequest> = {},
): Tracked {
  const { at = start, ...rest } = options
  return trackUpdate({ schema: widgetSchema, live, object, manager: 'bob', apiVersion, nowMs: Date.parse(at), ...rest })
}

export function entriesOf({ metadata }: JsonObject): readonly ManagedFieldsEntry[] {
  const entries = isObject(metadata) ? metadata['managedFields'] : undefined
  return (entries ?? []) as unknown as ManagedFieldsEntry[]
}

/** What each manager owns, by name. */
export function ownership(object: JsonObject): Readonly<Record<string, JsonObject>> {
  return Object.fromEntries(entriesOf(object).map(({ manager, fieldsV1 }) => [manager, fieldsV1]))
}

/** The object with another spec, as a client that read it writes it back. */
export function withSpec(object: JsonObject, spec: Json): JsonObject {
  return { ...object, spec }
}

export function withMetadata(object: JsonObject, metadata: JsonObject): JsonObject {
  return { ...object, metadata: { ...(object['metadata'] as JsonObject), ...metadata } }
}
