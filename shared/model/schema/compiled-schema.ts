import type { Json } from '../json.ts'
import { stringFormat } from './formats.ts'
import { optionsOf, type Options } from './options.ts'
import { compilePattern, type Pattern } from './pattern.ts'
import type { SchemaType, StructuralSchema } from './structural-schema.ts'

/** JSON types as bits. `integer` and `fraction` split JSON's number as Kubernetes does. */
export const jsonType = { object: 1, array: 2, string: 4, integer: 8, fraction: 16, boolean: 32 } as const

/** A schema node made ready for the walks over values: every node has the same shape, and child lookups are by map. */
export interface CompiledSchema {
  /** Accepted JSON types; 0 accepts any. */
  readonly types: number
  readonly typeNames: string
  readonly nullable: boolean
  readonly defaultValue: Json | undefined
  /** The format as written, if it is one that is checked for this type. */
  readonly format: string | undefined
  readonly matchesFormat: ((text: string) => boolean) | undefined
  readonly properties: ReadonlyMap<string, CompiledSchema>
  readonly propertiesWithDefault: readonly (readonly [string, CompiledSchema])[]
  /** Fields beyond `properties`: unknown ones, ones that are kept unchecked, none at all, or ones with a schema. */
  readonly others: 'unknown' | 'kept' | 'refused' | CompiledSchema
  readonly items: CompiledSchema | undefined
  readonly preservesUnknown: boolean
  readonly isResource: boolean
  readonly listType: 'set' | 'map' | undefined
  readonly listMapKeys: readonly string[]
  readonly branches: Branches | undefined
  /** Undefined if no keyword restricts values of that type, which spares the walk the look. */
  readonly forString: StringKeywords | undefined
  readonly forNumber: Picked<NumberKeyword> | undefined
  readonly forArray: Picked<'minItems' | 'maxItems' | 'uniqueItems'> | undefined
  readonly forObject: Picked<'minProperties' | 'maxProperties' | 'required'> | undefined
  readonly enum: Options | undefined
}

type StringKeywords = Picked<'minLength' | 'maxLength'> & {
  /** Compiled when first asked for; throws for a pattern that `checkStructural` refuses. */
  readonly pattern: (() => Pattern) | undefined
}
type NumberKeyword = 'minimum' | 'maximum' | 'exclusiveMinimum' | 'exclusiveMaximum' | 'multipleOf'
type Picked<Keyword extends keyof StructuralSchema> = { readonly [K in Keyword]: StructuralSchema[K] | undefined }

/** The logical junctors of a node; a list is empty if its keyword is not used. */
export interface Branches {
  readonly allOf: readonly CompiledSchema[]
  readonly anyOf: readonly CompiledSchema[]
  readonly oneOf: readonly CompiledSchema[]
  readonly not: CompiledSchema | undefined
}

const compiled = new WeakMap<StructuralSchema, CompiledSchema>()

/** The compiled form of a schema, made once per schema object: schemas in use are never changed. */
export function compile(schema: StructuralSchema): CompiledSchema {
  const known = compiled.get(schema)
  if (known !== undefined) return known
  const fresh = compileNode(schema)
  compiled.set(schema, fresh)
  return fresh
}

/** The schema of an object's field; undefined if nothing is said about it. */
export function fieldSchema(node: CompiledSchema, name: string): CompiledSchema | undefined {
  const property = node.properties.get(name)
  if (property !== undefined) return property
  return typeof node.others === 'object' ? node.others : undefined
}

const accepted: Readonly<Record<SchemaType, number>> = {
  object: jsonType.object,
  array: jsonType.array,
  string: jsonType.string,
  integer: jsonType.integer,
  number: jsonType.integer | jsonType.fraction,
  boolean: jsonType.boolean,
}

function compileNode(schema: StructuralSchema): CompiledSchema {
  const properties = new Map(Object.entries(schema.properties ?? {}).map(([name, child]) => [name, compile(child)]))
  const listType = schema['x-kubernetes-list-type']
  return {
    ...typesOf(schema),
    ...formatOf(schema),
    nullable: schema.nullable === true,
    defaultValue: schema.default ?? undefined,
    properties,
    propertiesWithDefault: [...properties].filter(([, child]) => child.defaultValue !== undefined),
    others: othersOf(schema),
    items: itemsOf(schema),
    preservesUnknown: schema['x-kubernetes-preserve-unknown-fields'] === true,
    isResource: schema['x-kubernetes-embedded-resource'] === true,
    listType: listType === 'atomic' ? undefined : listType,
    listMapKeys: schema['x-kubernetes-list-map-keys'] ?? [],
    branches: branchesOf(schema),
    forString: stringKeywords(schema),
    forNumber: pick(schema, 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'),
    forArray: pick(schema, 'minItems', 'maxItems', 'uniqueItems'),
    forObject: pick(schema, 'minProperties', 'maxProperties', 'required'),
    enum: schema.enum === undefined || schema.enum.length === 0 ? undefined : optionsOf(schema.enum),
  }
}

function typesOf(schema: StructuralSchema): Pick<CompiledSchema, 'types' | 'typeNames'> {
  if (schema['x-kubernetes-int-or-string'] === true) {
    return { types: jsonType.integer | jsonType.string, typeNames: 'integer,string' }
  }
  return schema.type === undefined
    ? { types: 0, typeNames: '' }
    : { types: accepted[schema.type], typeNames: schema.type }
}

const numberFormats: { readonly [type: string]: readonly string[] } = {
  integer: ['int32', 'int64'],
  number: ['float', 'double'],
}

function formatOf(schema: StructuralSchema): Pick<CompiledSchema, 'format' | 'matchesFormat'> {
  const { format, type } = schema
  if (format === undefined) return { format: undefined, matchesFormat: undefined }
  const known = type === undefined ? undefined : numberFormats[type]
  if (known !== undefined) return { format: known.includes(format) ? format : undefined, matchesFormat: undefined }
  const matchesFormat = type === undefined || type === 'string' ? stringFormat(format) : undefined
  return { format: matchesFormat && format, matchesFormat }
}

/** A list that preserves unknown fields hands that on to its items; an object does not hand it on to its fields. */
function itemsOf(schema: StructuralSchema): CompiledSchema | undefined {
  const items = schema.items && compile(schema.items)
  const preservesUnknown = schema['x-kubernetes-preserve-unknown-fields'] === true
  return items && preservesUnknown ? { ...items, preservesUnknown } : items
}

function stringKeywords(schema: StructuralSchema): StringKeywords | undefined {
  const { minLength, maxLength, pattern } = schema
  if (minLength === undefined && maxLength === undefined && pattern === undefined) return undefined
  return { minLength, maxLength, pattern: pattern === undefined ? undefined : once(() => compilePattern(pattern)) }
}

function once<Value>(make: () => Value): () => Value {
  let value: Value | undefined
  return () => (value ??= make())
}

function othersOf({ additionalProperties }: StructuralSchema): CompiledSchema['others'] {
  if (additionalProperties === undefined) return 'unknown'
  if (typeof additionalProperties === 'object') return compile(additionalProperties)
  return additionalProperties ? 'kept' : 'refused'
}

function branchesOf({ allOf = [], anyOf = [], oneOf = [], not }: StructuralSchema): Branches | undefined {
  if (allOf.length + anyOf.length + oneOf.length === 0 && not === undefined) return undefined
  return { allOf: allOf.map(compile), anyOf: anyOf.map(compile), oneOf: oneOf.map(compile), not: not && compile(not) }
}

function pick<K extends keyof StructuralSchema>(schema: StructuralSchema, ...keywords: K[]): Picked<K> | undefined {
  if (keywords.every((keyword) => schema[keyword] === undefined)) return undefined
  return Object.fromEntries(keywords.map((keyword) => [keyword, schema[keyword]])) as Picked<K>
}
