import { isObject, type JsonObject } from '../model/json.ts'
import type { ApiObject } from '../model/object.ts'
import { isQualifiedName } from '../model/qualified-name.ts'
import { nanosPerOne, parseQuantity } from '../model/quantity.ts'
import { child, entry, forbidden, invalid, type FieldError } from '../model/schema/field-error.ts'
import type { StructuralSchema } from '../model/schema/structural-schema.ts'
import { defineBuiltInKind } from '../model/served-kind.ts'
import { objectSchema, texts } from './schema-parts.ts'

/** How many objects there may be in a namespace, by their kinds. */

const quantities: StructuralSchema = {
  type: 'object',
  additionalProperties: { 'x-kubernetes-int-or-string': true },
  maxProperties: 200,
}

export const resourceQuotaKind = defineBuiltInKind({
  group: '',
  kind: 'ResourceQuota',
  plural: 'resourcequotas',
  shortNames: ['quota'],
  namespaced: true,
  hidesGeneration: true,
  hasStatus: true,
  schema: objectSchema('How many objects of which kinds may be in a namespace.', {
    spec: {
      type: 'object',
      properties: {
        hard: {
          ...quantities,
          description: 'The most there may be, by `count/<resource>.<group>`, or `secrets`, `configmaps` and the like.',
        },
        scopes: { ...texts, nullable: true },
        scopeSelector: { type: 'object', nullable: true, 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
    status: { type: 'object', properties: { hard: quantities, used: quantities } },
  }),
})

/** Limits as texts, whichever way they were written. */
export function withQuantityTexts(body: JsonObject): JsonObject {
  const { spec } = body
  if (!isObject(spec) || !isObject(spec['hard'])) return body
  const hard = Object.fromEntries(
    Object.entries(spec['hard']).map(([name, value]) => [name, typeof value === 'number' ? String(value) : value]),
  )
  return { ...body, spec: { ...spec, hard } }
}

/** In the words of Kubernetes' `ValidateResourceQuota`. */
export function checkQuota({ spec, status }: ApiObject): readonly FieldError[] {
  return [...(isObject(spec) ? checkSpec(spec) : []), ...['hard', 'used'].flatMap((part) => checkTold(part, status))]
}

/** Amounts that programs in Go could not read would break their whole list. */
function checkTold(part: string, status: JsonObject | undefined): readonly FieldError[] {
  const amounts = status?.[part]
  return Object.entries(isObject(amounts) ? amounts : {}).flatMap(([name, value]) =>
    parseQuantity(String(value)) === undefined ? [noQuantity(entry(`status.${part}`, name), String(value))] : [],
  )
}

function noQuantity(field: string, value: string): FieldError {
  const form = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
  return invalid(field, value, form)
}

function checkSpec(spec: JsonObject): readonly FieldError[] {
  const hard = isObject(spec['hard']) ? spec['hard'] : {}
  return [
    ...Object.entries(hard).flatMap(([name, value]) => checkLimit(name, String(value))),
    ...['scopes', 'scopeSelector'].flatMap((field) => checkScope(field, spec[field])),
  ]
}

function checkLimit(name: string, value: string): readonly FieldError[] {
  const field = entry('spec.hard', name)
  if (!isLimitName(name)) return [invalid(field, name, 'must be a standard resource for quotas')]
  const nano = parseQuantity(value)
  if (nano === undefined) return [noQuantity(field, value)]
  return [
    ...(nano < 0n ? [invalid(field, value, 'must be greater than or equal to 0')] : []),
    ...(isCountName(name) && nano % nanosPerOne !== 0n ? [invalid(field, value, 'must be an integer')] : []),
  ]
}

const countPrefix = 'count/'

/** Kinds of the core group that may be limited by their plural alone. */
const shortNames: readonly string[] = [
  'configmaps',
  'persistentvolumeclaims',
  'pods',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
  'services',
  'services.loadbalancers',
  'services.nodeports',
]

/** What only a cluster has, so that none of it is used here. */
const amounts = /^(?:(?:requests\.|limits\.)?(?:cpu|memory|ephemeral-storage|storage)|hugepages-.+)$/

function isCountName(name: string): boolean {
  return name.startsWith(countPrefix) || shortNames.includes(name)
}

function isLimitName(name: string): boolean {
  if (name.includes('/')) return isQualifiedName(name)
  return shortNames.includes(name) || amounts.test(name)
}

/** They choose Pods, of which there are none here: without them the quota would count everything. */
function checkScope(field: string, value: unknown): readonly FieldError[] {
  if (value === undefined || value === null || (Array.isArray(value) && value.length === 0)) return []
  return [forbidden(child('spec', field), 'scopes are for Pods, which there are none of')]
}

/** By which names of a quota objects of the kind count. */
export function limitNamesOf({
  group,
  plural,
}: {
  readonly group: string
  readonly plural: string
}): readonly string[] {
  if (group !== '') return [`${countPrefix}${plural}.${group}`]
  return [`${countPrefix}${plural}`, ...(shortNames.includes(plural) ? [plural] : [])]
}
