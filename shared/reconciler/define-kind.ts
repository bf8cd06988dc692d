import { DefinitionError } from '../model/errors.ts'
import * as z from 'zod'
import { checkColumns } from '../model/crd/check-version.ts'
import { checkRuleCosts } from '../model/cel/cost/check-costs.ts'
import type { Conversion } from '../model/conversion.ts'
import type { AdmissionHooks } from '../model/admission-hooks.ts'
import { createConversion, type Convert } from '../model/create-conversion.ts'
import type { CustomResourceDefinition, CustomResourceDefinitionVersion } from '../model/custom-resource-definition.ts'
import { isObject, type Json, type JsonObject } from '../model/json.ts'
import { conversionAnnotation, convertedByFunctions } from '../model/control-annotations.ts'
import type { ObjectMeta } from '../model/object.ts'
import { approvalAnnotation, isKubernetesGroup } from '../model/kubernetes-groups.ts'
import type { PrinterColumn } from '../model/served-kind.ts'
import type { StructuralSchema } from '../model/schema/structural-schema.ts'
import { checkStructural } from '../model/schema/structural.ts'
import type { CustomObject, Kind, KindOptions } from './kind.ts'
import { refuseUnknownOptions, type KnownOptions } from './known-options.ts'
import { refuseWrongNames, requireNames } from './kind-names.ts'
import type { OlderVersion } from './older-version.ts'
import { findUnsaid, findWayOut, isIntOrString, keepFlags, leaveTypesOut, toIntOrString } from './zod-limits.ts'

/**
 * In a bundle for Lambda this is true: synthesis has loaded the same module, which checked each schema. So a definition
 * is worked out there when it is asked for, and a cold start need not wait for that.
 */
declare const SETPOINT_SCHEMAS_CHECKED: true | undefined

/**
 * Defines a kind from one schema: the types of its spec and status, and the CustomResourceDefinition that makes it
 * served. Throws a TypeError with the path and a hint if the schema says something that a Kubernetes schema cannot, or
 * if a name is none.
 */
export function defineKind<Spec extends z.ZodType, Status extends z.ZodType = z.ZodObject<{}>>(
  options: KindOptions<Spec, Status>,
): Kind<CustomObject<z.output<Spec>, z.output<Status>>, { readonly spec: z.input<Spec> }> {
  requireNames(options)
  refuseUnknownOptions(options.kind, options, knownOptions)
  const { group, version, kind, scope = 'Namespaced' } = options
  if (!scopes.includes(scope))
    throw new DefinitionError(`${kind}: scope: ${JSON.stringify(scope)} is none: give ${scopes.join(' or ')}`)
  const older = options.olderVersions?.((name, one) => ({ ...one, version: name })) ?? []
  let worked: CustomResourceDefinition | undefined
  const workOut = (): CustomResourceDefinition => (worked ??= definitionOf(options, scope, older))
  if (typeof SETPOINT_SCHEMAS_CHECKED === 'undefined') workOut()
  const conversion = older.length === 0 ? undefined : conversionOf(workOut(), older)
  return {
    group,
    version,
    kind,
    namespaced: scope === 'Namespaced',
    get definition() {
      return workOut()
    },
    ...(conversion && { conversion }),
    ...hooksOf(options),
  }
}

const scopes = ['Namespaced', 'Cluster'] as const

const knownOptions: KnownOptions<KindOptions<z.ZodType, z.ZodType>> = {
  group: true,
  version: true,
  kind: true,
  plural: true,
  shortNames: true,
  categories: true,
  scope: true,
  description: true,
  spec: true,
  status: true,
  rules: true,
  olderVersions: true,
  default: true,
  validate: true,
  columns: true,
}

/** They are given what is valid by the schemas that their types come from. */
function hooksOf(options: { readonly default?: unknown; readonly validate?: unknown }): Pick<Kind, 'hooks'> {
  const { default: complete, validate } = options
  if (complete === undefined && validate === undefined) return {}
  const hooks = { ...(complete !== undefined && { default: complete }), ...(validate !== undefined && { validate }) }
  return { hooks: hooks as AdmissionHooks }
}

type SchemaOptions = Pick<KindOptions<z.ZodType, z.ZodType>, 'kind' | 'description' | 'spec' | 'status' | 'rules'>

function definitionOf(
  options: SchemaOptions & Omit<KindOptions<z.ZodType, z.ZodType>, 'olderVersions' | 'default' | 'validate'>,
  scope: 'Namespaced' | 'Cluster',
  older: readonly OlderVersion[],
): CustomResourceDefinition {
  const { group, version, kind, plural = `${kind.toLowerCase()}s`, shortNames, categories } = options
  refuseSameVersions(options, older)
  const definition: CustomResourceDefinition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, ...annotationsOf(group, older) },
    spec: {
      group,
      scope,
      names: {
        kind,
        plural,
        singular: kind.toLowerCase(),
        listKind: `${kind}List`,
        ...(shortNames && { shortNames: [...shortNames] }),
        ...(categories && { categories: [...categories] }),
      },
      versions: [
        { name: version, served: true, storage: true, ...versionParts(options) },
        ...older.map((one) => olderPart(one, options)),
      ],
    },
  }
  refuseWrongNames(definition)
  refuseWrongColumns(kind, options, 'columns')
  for (const one of older) {
    refuseUnknownOptions(`${kind}: olderVersions: ${one.version}`, one, knownOlderOptions)
    refuseWrongColumns(kind, one, `olderVersions.${one.version}.columns`)
  }
  return definition
}

const knownOlderOptions: KnownOptions<OlderVersion> = {
  version: true,
  spec: true,
  status: true,
  upgrade: true,
  downgrade: true,
  served: true,
  deprecated: true,
  description: true,
  rules: true,
  columns: true,
}

function refuseWrongColumns(
  kind: string,
  { columns = [] }: { readonly columns?: readonly PrinterColumn[] },
  path: string,
): void {
  const [error] = checkColumns([...columns, ...commonColumns], path)
  if (error !== undefined) throw new DefinitionError(`${kind}: ${error.field}: ${error.message}`)
}

/** A release without the functions learns by the definition that there are some. */
function annotationsOf(group: string, older: readonly OlderVersion[]): Pick<ObjectMeta, 'annotations'> {
  const annotations = {
    ...(isKubernetesGroup(group) && unapproved),
    ...(older.length > 0 && { [conversionAnnotation]: convertedByFunctions }),
  }
  return Object.keys(annotations).length === 0 ? {} : { annotations }
}

/** On a control plane without Kubernetes' own kinds a reconciler may bring one, such as CronJob of batch/v1. */
const unapproved = { [approvalAnnotation]: 'unapproved, brought by a reconciler' }

function refuseSameVersions(
  { kind, version }: { readonly kind: string; readonly version: string },
  older: readonly OlderVersion[],
): void {
  const names = older.map(({ version: name }) => name)
  if (names.includes(version))
    throw new DefinitionError(`${kind}: olderVersions: ${version} is the version of the kind itself`)
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  if (twice !== undefined) throw new DefinitionError(`${kind}: olderVersions: ${twice} is there twice`)
}

function olderPart(
  { version: name, served = true, deprecated = false, ...version }: OlderVersion,
  { kind, status }: SchemaOptions,
): CustomResourceDefinitionVersion {
  const parts = { ...version, kind, status: version.status ?? status } as SchemaOptions
  return {
    name,
    served,
    storage: false,
    ...(deprecated === false ? {} : { deprecated: true }),
    ...(typeof deprecated === 'string' ? { deprecationWarning: deprecated } : {}),
    ...versionParts(parts),
  }
}

function versionParts(
  options: SchemaOptions & { readonly columns?: readonly PrinterColumn[] },
): Omit<CustomResourceDefinitionVersion, 'name' | 'served' | 'storage'> {
  return {
    schema: { openAPIV3Schema: schemaOf(options) },
    subresources: { status: {} },
    additionalPrinterColumns: [...(options.columns ?? []), ...commonColumns],
  }
}

function conversionOf(
  { spec: { group, names, versions } }: CustomResourceDefinition,
  older: readonly OlderVersion[],
): Conversion {
  const schemas = new Map(versions.map(({ name, schema }) => [name, schema?.openAPIV3Schema ?? {}]))
  const version = versions[0]?.name ?? ''
  return createConversion({
    group,
    kind: names.kind,
    version,
    schema: schemas.get(version) ?? {},
    others: older.map(({ version: name, upgrade, downgrade, status }) => ({
      name,
      schema: schemas.get(name) ?? {},
      // What they are given is valid by the schemas that their types come from.
      upgrade: upgrade as Convert,
      downgrade: downgrade as Convert,
      sharesStatus: status === undefined,
    })),
  })
}

const commonColumns: readonly PrinterColumn[] = [
  { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
]

function schemaOf(options: SchemaOptions): StructuralSchema {
  const given = structural(options, 'spec', options.spec)
  requireObject(options, 'spec', given)
  const isRequired = (given.required ?? []).length > 0
  // Left out as a whole it is empty, and filled with its defaults: the type says that it is always there.
  const spec: StructuralSchema = isRequired ? given : { ...given, default: {} }
  const status =
    options.status === undefined ? { type: 'object' as const } : structural(options, 'status', options.status)
  requireObject(options, 'status', status)
  refuseTaken(options, status)
  const schema: StructuralSchema = {
    type: 'object',
    ...(options.description !== undefined && { description: options.description }),
    ...(isRequired ? { required: ['spec'] } : {}),
    ...(options.rules !== undefined && { 'x-kubernetes-validations': options.rules }),
    properties: { spec, status: withConditions(status) },
  }
  const [error] = [...checkStructural(schema), ...checkRuleCosts(schema, '')]
  if (error !== undefined) throw new DefinitionError(`${options.kind}: ${error.field}: ${error.message}`)
  return schema
}

function requireObject({ kind }: SchemaOptions, field: string, { type }: StructuralSchema): void {
  if (type !== 'object') throw new DefinitionError(`${kind}: the ${field} is an object: write z.object({ … })`)
}

/** Refuses a status that a reconciler reports and that readers would not find in the object. */
function refuseTaken({ kind }: SchemaOptions, { properties = {}, additionalProperties }: StructuralSchema): void {
  if (additionalProperties !== undefined)
    throw new DefinitionError(`${kind}: a status has fields such as conditions: put the record into a field of its own`)
  if ('reconcile' in properties)
    throw new DefinitionError(`${kind}: status.reconcile is what the control plane shows: give the field another name`)
}

/** zod's JSON Schema for OpenAPI 3.0 is structural but for a few spellings. */
function structural({ kind }: { readonly kind: string }, field: string, type: z.ZodType): StructuralSchema {
  const refuse = ({ path, message }: { readonly path: readonly (string | number)[]; readonly message: string }) => {
    throw new DefinitionError(`${kind}: ${schemaPath(['properties', field, ...path])}: ${message}`)
  }
  const unrepresentable: z.core.ToJSONSchemaParams['unrepresentable'] = ({ zodSchema, path, message }) => {
    const wayOut = findWayOut(zodSchema)
    return refuse({ path, message: wayOut === undefined ? message : `${message}: ${wayOut}` })
  }
  const override: z.core.ToJSONSchemaParams['override'] = ({ zodSchema, jsonSchema, path }) => {
    const json = jsonSchema as JsonObject
    const message = findUnsaid(zodSchema, json)
    if (message !== undefined) refuse({ path, message })
    keepFlags(zodSchema, json)
    leaveTypesOut(zodSchema, json)
  }
  const options = { target: 'openapi-3.0', io: 'input', unrepresentable, override } as const
  return tidySchema(z.toJSONSchema(type, options) as JsonObject)
}

/** `properties[spec].properties[when]`, as the checks of a structural schema say it. */
function schemaPath(path: readonly (string | number)[]): string {
  const [keyword, name, ...rest] = path
  if (keyword === undefined) return ''
  const isNamed = keyword === 'properties' && name !== undefined
  const deeper = schemaPath(isNamed ? rest : path.slice(1))
  return `${keyword}${isNamed ? `[${name}]` : ''}${deeper === '' ? '' : `.${deeper}`}`
}

function tidySchema(schema: JsonObject): StructuralSchema {
  const { additionalProperties, ...rest } = isIntOrString(schema) ? toIntOrString(schema) : schema
  const tidy: JsonObject = {}
  for (const keyword in rest) if (!isSafeIntegerBound(keyword, rest[keyword])) tidy[keyword] = rest[keyword]
  if (Array.isArray(tidy['allOf'])) tidy['allOf'] = tidy['allOf'].map(withoutType)
  for (const keyword of ['items', 'not'])
    if (isObject(tidy[keyword])) tidy[keyword] = tidySchema(tidy[keyword]) as JsonObject
  if (isObject(tidy['properties']))
    tidy['properties'] = Object.fromEntries(
      Object.entries(tidy['properties']).map(([name, field]) => [name, tidySchema(field as JsonObject) as JsonObject]),
    )
  // Of a field that has them, null is one of the values, or refused.
  if (tidy['nullable'] === true && Array.isArray(tidy['enum'])) tidy['enum'] = [...new Set([...tidy['enum'], null])]
  if (isObject(additionalProperties)) tidy['additionalProperties'] = tidySchema(additionalProperties) as JsonObject
  return tidy
}

/** zod says again in each of several patterns that they are of a text, which a structural schema says once. */
function withoutType(branch: Json): Json {
  const { type: _, ...rest } = branch as JsonObject
  return rest
}

/** zod bounds every integer by what a double holds exactly; a schema need not say so. */
function isSafeIntegerBound(keyword: string, value: unknown): boolean {
  return (
    (keyword === 'maximum' && value === Number.MAX_SAFE_INTEGER) ||
    (keyword === 'minimum' && value === Number.MIN_SAFE_INTEGER)
  )
}

/**
 * What the engine writes into every status, beside the kind's own fields. Until the first run nothing of it is there,
 * and Ready is Unknown (kstatus).
 */
function withConditions({ required: _, ...status }: StructuralSchema): StructuralSchema {
  return {
    ...status,
    properties: {
      ...status.properties,
      conditions,
      observedGeneration: {
        type: 'integer',
        format: 'int64',
        description: 'The generation that the last run worked on that was successful, or stopped.',
      },
      lastHandledReconcileAt: { type: 'string' },
    },
    default: {
      conditions: [
        {
          type: 'Ready',
          status: 'Unknown',
          reason: 'Pending',
          message: 'waiting for the controller',
          lastTransitionTime: '1970-01-01T00:00:00Z',
        },
      ],
    },
  }
}

const conditions: StructuralSchema = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
  items: {
    type: 'object',
    required: ['type', 'status', 'reason', 'message', 'lastTransitionTime'],
    properties: {
      type: { type: 'string' },
      status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
      reason: { type: 'string' },
      message: { type: 'string' },
      lastTransitionTime: { type: 'string', format: 'date-time' },
      observedGeneration: { type: 'integer', format: 'int64' },
    },
  },
}
