import { isObject, type Json, type JsonObject } from '../json.ts'
import { child, entry, type FieldError, forbidden, invalid } from './field-error.ts'
import { pruneValue } from './prune.ts'
import type { StructuralSchema } from './structural-schema.ts'
import { validate } from './validate.ts'

/**
 * Checks that a value from outside is a schema at all: known keywords with values of their types, at every level. Only
 * if this finds nothing may the value be taken for a StructuralSchema.
 */
export function checkKeywords(schema: Json, path: string): readonly FieldError[] {
  const errors = validate(oneSchema, schema, { path })
  if (!isObject(schema)) return errors
  const unknown = pruneValue(oneSchema, schema).unknown.map((keyword) => unknownKeyword(keyword, path))
  const below = subschemas(schema, path).flatMap((sub) => checkKeywords(sub.schema, sub.path))
  return [...unknown, ...errors, ...neitherFlagNorSchema(schema, path), ...below]
}

/** Whether Kubernetes' type of a schema has such a field, though it may refuse it. */
export function isKeyword(name: string): boolean {
  return Object.hasOwn(oneSchema.properties, name) || refused.has(name)
}

const refused = new Set(
  ['id', '$schema', '$ref'].concat('definitions', 'dependencies', 'patternProperties', 'additionalItems'),
)

function unknownKeyword(keyword: string, path: string): FieldError {
  const hint = hints[keyword]
  return forbidden(child(path, keyword), `${keyword} is not supported${hint === undefined ? '' : `; ${hint}`}`)
}

const hints: { readonly [keyword: string]: string } = {
  $ref: 'write the schema out where it is used',
  const: 'use enum with one value',
  definitions: 'write the schemas out where they are used',
  examples: 'use example',
  patternProperties: 'use additionalProperties, which applies to every name',
  prefixItems: 'use items, which applies to every item',
}

function neitherFlagNorSchema({ additionalProperties: others }: JsonObject, path: string): readonly FieldError[] {
  if (others === undefined || typeof others === 'boolean' || isObject(others)) return []
  return [invalid(child(path, 'additionalProperties'), others, 'must be a boolean or a schema')]
}

interface Subschema {
  readonly path: string
  readonly schema: Json
}

function subschemas(schema: JsonObject, path: string): readonly Subschema[] {
  const found: Subschema[] = []
  const { properties } = schema
  if (isObject(properties)) {
    const below = child(path, 'properties')
    for (const name in properties)
      if (isObject(properties[name])) found.push({ path: entry(below, name), schema: properties[name] })
  }
  for (const keyword of singleSchemas) {
    const sub = schema[keyword]
    if (isObject(sub)) found.push({ path: child(path, keyword), schema: sub })
  }
  for (const keyword of schemaLists) {
    const branches = schema[keyword]
    if (!Array.isArray(branches)) continue
    for (const [i, sub] of branches.entries())
      if (isObject(sub)) found.push({ path: entry(child(path, keyword), i), schema: sub })
  }
  return found
}

const singleSchemas = ['items', 'not', 'additionalProperties'] as const
const schemaLists = ['allOf', 'anyOf', 'oneOf'] as const

const text: StructuralSchema = { type: 'string' }
const flag: StructuralSchema = { type: 'boolean' }
const number: StructuralSchema = { type: 'number' }
const count: StructuralSchema = { type: 'integer', minimum: 0 }
const names: StructuralSchema = { type: 'array', items: text }
const anything: StructuralSchema = { 'x-kubernetes-preserve-unknown-fields': true, nullable: true }
const schema: StructuralSchema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
const schemas: StructuralSchema = { type: 'array', items: schema }

const rule: StructuralSchema = {
  type: 'object',
  required: ['rule'],
  properties: {
    rule: text,
    message: text,
    messageExpression: text,
    reason: {
      type: 'string',
      enum: ['FieldValueRequired', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueDuplicate'],
    },
    fieldPath: text,
    optionalOldSelf: flag,
  },
}

/** One level of a schema, in the dialect it describes. */
const oneSchema = {
  type: 'object',
  properties: {
    type: { type: 'string', enum: ['array', 'boolean', 'integer', 'number', 'object', 'string'] },
    format: text,
    title: text,
    description: text,
    example: anything,
    default: anything,
    externalDocs: { type: 'object', properties: { description: text, url: text } },
    nullable: flag,
    enum: { type: 'array', items: anything },
    pattern: text,
    minimum: number,
    maximum: number,
    exclusiveMinimum: flag,
    exclusiveMaximum: flag,
    multipleOf: { type: 'number', minimum: 0, exclusiveMinimum: true },
    minLength: count,
    maxLength: count,
    minItems: count,
    maxItems: count,
    uniqueItems: flag,
    minProperties: count,
    maxProperties: count,
    required: names,
    properties: { type: 'object', additionalProperties: schema },
    additionalProperties: anything,
    items: schema,
    allOf: schemas,
    anyOf: schemas,
    oneOf: schemas,
    not: schema,
    'x-kubernetes-preserve-unknown-fields': flag,
    'x-kubernetes-int-or-string': flag,
    'x-kubernetes-embedded-resource': flag,
    'x-kubernetes-list-type': { type: 'string', enum: ['atomic', 'set', 'map'] },
    'x-kubernetes-list-map-keys': names,
    'x-kubernetes-map-type': { type: 'string', enum: ['atomic', 'granular'] },
    'x-kubernetes-validations': { type: 'array', items: rule },
  },
} as const satisfies StructuralSchema
