import fc from 'fast-check'
import { isObject, type Json, type JsonObject } from '../../../../shared/model/json.ts'
import type { StructuralSchema } from '../../../../shared/model/schema/structural-schema.ts'

/** What generated schemas may use; each test asks for the keywords its claim holds for. */
export interface Keywords {
  readonly formats?: readonly string[]
  readonly branches?: boolean
  readonly defaults?: boolean
  readonly nullable?: boolean
  readonly kubernetes?: boolean
}

export interface Case {
  readonly schema: StructuralSchema
  readonly value: JsonObject
}

export interface UpdateCase extends Case {
  /** What may have been there before: parts of it are the very same values as in `value`. */
  readonly old: JsonObject
}

/** An object schema with a value that mostly fits it, and now and then does not in one place or another. */
export function schemaAndValue(keywords: Keywords): fc.Arbitrary<Case> {
  return fc.gen().map((draw) => {
    const schema = objectSchema({ draw, keywords }, 3)
    return { schema, value: fieldsFor({ draw, keywords }, schema) }
  })
}

/** The same, with what the value may have been before. */
export function schemaAndUpdate(keywords: Keywords): fc.Arbitrary<UpdateCase> {
  return fc.gen().map((draw) => {
    const source = { draw, keywords }
    const schema = objectSchema(source, 3)
    const value = fieldsFor(source, schema)
    return { schema, value, old: changed(source, schema, value) as JsonObject }
  })
}

interface Source {
  readonly draw: fc.GeneratorValue
  readonly keywords: Keywords
}

type Draft = { -readonly [K in keyof StructuralSchema]: StructuralSchema[K] }

const names = ['a', 'b', 'c', 'dd', 'x-y', 'constructor']
const words = [
  '',
  'a',
  'b',
  'ab',
  'abc',
  'A1',
  '10s',
  '2026-02-28T10:00:00Z',
  '2026-02-29',
  'ää',
  '𝒳𝒳',
  '10.0.0.1',
  'a b',
  'null',
  '1',
]
const patterns = ['^a', '^[a-z]+$', 'b|1', '^(a|ab)*c?$', '^\\d+s$', '.', '\\bb\\b']
const numbers = [-3, -1, 0, 1, 2, 3, 4, 0.5, 1.5, 2.25, 2 ** 31, 1e10]

function objectSchema(source: Source, depth: number): StructuralSchema {
  const { draw } = source
  const schema: Draft = { type: 'object' }
  const properties = picked(draw, names)
  if (properties.length > 0)
    schema.properties = Object.fromEntries(properties.map((name) => [name, anySchema(source, depth - 1)]))
  else if (chance(draw, 2)) schema.additionalProperties = chance(draw, 4) ? true : anySchema(source, depth - 1)
  if (chance(draw, 3)) schema.required = picked(draw, properties)
  if (chance(draw, 6)) schema.minProperties = draw(fc.nat, { max: 3 })
  if (chance(draw, 6)) schema.maxProperties = draw(fc.nat, { max: 4 })
  if (source.keywords.kubernetes === true && chance(draw, 6)) schema['x-kubernetes-preserve-unknown-fields'] = true
  if (source.keywords.kubernetes === true && chance(draw, 10)) schema['x-kubernetes-embedded-resource'] = true
  return decorated(source, schema, depth)
}

function anySchema(source: Source, depth: number): StructuralSchema {
  const { draw, keywords } = source
  const kinds = ['string', 'integer', 'number', 'boolean', ...(depth > 0 ? ['object', 'array', 'object', 'array'] : [])]
  const kind = draw(fc.constantFrom, ...kinds, ...(keywords.kubernetes === true ? ['intOrString', 'untyped'] : []))
  if (kind === 'object') return objectSchema(source, depth)
  if (kind === 'array') return arraySchema(source, depth)
  if (kind === 'string') return decorated(source, stringSchema(source), depth)
  if (kind === 'boolean') return decorated(source, { type: 'boolean' }, depth)
  if (kind === 'intOrString') return decorated(source, { 'x-kubernetes-int-or-string': true }, depth)
  if (kind === 'untyped') return { 'x-kubernetes-preserve-unknown-fields': true }
  return decorated(source, { type: kind as 'integer' | 'number', ...numberKeywords(draw) }, depth)
}

function arraySchema(source: Source, depth: number): StructuralSchema {
  const { draw, keywords } = source
  const schema: Draft = { type: 'array', items: anySchema(source, depth - 1) }
  if (chance(draw, 5)) schema.minItems = draw(fc.nat, { max: 3 })
  if (chance(draw, 5)) schema.maxItems = draw(fc.nat, { max: 3 })
  if (chance(draw, 6)) schema.uniqueItems = true
  if (keywords.kubernetes === true && chance(draw, 3)) {
    schema['x-kubernetes-list-type'] = schema.items?.type === 'object' ? 'map' : 'set'
    if (schema.items?.type === 'object') schema['x-kubernetes-list-map-keys'] = draw(fc.constantFrom, ['a'], ['a', 'b'])
  }
  return decorated(source, schema, depth)
}

function stringSchema({ draw, keywords }: Source): Draft {
  const schema: Draft = { type: 'string', ...stringKeywords(draw) }
  if (keywords.formats !== undefined && chance(draw, 3)) schema.format = draw(fc.constantFrom, ...keywords.formats)
  return schema
}

function stringKeywords(draw: fc.GeneratorValue): Draft {
  const schema: Draft = {}
  if (chance(draw, 5)) schema.minLength = draw(fc.nat, { max: 3 })
  if (chance(draw, 5)) schema.maxLength = draw(fc.nat, { max: 3 })
  if (chance(draw, 5)) schema.pattern = draw(fc.constantFrom, ...patterns)
  if (chance(draw, 8)) schema.enum = draw(fc.constantFrom, ['a', 'b'], ['ab', ''], ['1'])
  return schema
}

function numberKeywords(draw: fc.GeneratorValue): Draft {
  const schema: Draft = {}
  const bound = (): number => draw(fc.constantFrom, ...numbers.filter(Number.isInteger))
  if (chance(draw, 4)) Object.assign(schema, { minimum: bound(), ...(chance(draw, 3) && { exclusiveMinimum: true }) })
  if (chance(draw, 4)) Object.assign(schema, { maximum: bound(), ...(chance(draw, 3) && { exclusiveMaximum: true }) })
  if (chance(draw, 5)) schema.multipleOf = draw(fc.constantFrom, 1, 2, 3)
  if (chance(draw, 8)) schema.enum = draw(fc.constantFrom, [1, 2], [0], [1.5, 3])
  return schema
}

function decorated(source: Source, schema: Draft, depth: number): StructuralSchema {
  const { draw, keywords } = source
  if (keywords.nullable === true && chance(draw, 4)) schema.nullable = true
  if (keywords.branches === true && chance(draw, 5)) Object.assign(schema, branches(source, schema))
  if (keywords.defaults === true && depth < 3 && chance(draw, 3)) schema.default = valueFor(source, schema)
  return schema
}

/** Value validations only: types and structure have no place under a logical junctor. */
function branches(source: Source, schema: StructuralSchema): StructuralSchema {
  const { draw } = source
  const junctor = draw(fc.constantFrom, 'allOf', 'anyOf', 'oneOf', 'not')
  if (junctor === 'not') return { not: validation(source, schema) }
  return { [junctor]: [validation(source, schema), validation(source, schema)] }
}

function validation({ draw }: Source, schema: StructuralSchema): StructuralSchema {
  if (schema.type === 'string') return stringKeywords(draw)
  if (schema.type === 'integer' || schema.type === 'number') return numberKeywords(draw)
  if (schema.type === 'array') return { minItems: draw(fc.nat, { max: 2 }) }
  if (schema.type === 'object') return { required: picked(draw, Object.keys(schema.properties ?? {})) }
  return { enum: draw(fc.constantFrom, [true], [false, 'a'], [1, 'b']) }
}

function valueFor(source: Source, schema: StructuralSchema): Json {
  const { draw } = source
  if (chance(draw, 12)) return draw(fc.constantFrom, null, 1, 'a', true, [], {}, 1.5, [null], { zz: 1 }) as Json
  if (schema.enum !== undefined && chance(draw, 2)) return draw(fc.constantFrom, ...schema.enum)
  if (schema.type === 'object') return fieldsFor(source, schema)
  if (schema.type === 'array') return draw(fc.nat, { max: 4 }) === 0 ? [] : items(source, schema)
  if (schema.type === 'boolean') return draw(fc.boolean)
  if (schema.type === 'string') return draw(fc.constantFrom, ...words)
  if (schema.type === 'integer') return draw(fc.constantFrom, ...numbers.filter(Number.isInteger))
  if (schema.type === 'number') return draw(fc.constantFrom, ...numbers)
  return draw(fc.constantFrom, ...words, ...numbers, { zz: [{ a: 1 }] }) as Json
}

function items(source: Source, schema: StructuralSchema): Json[] {
  const count = 1 + source.draw(fc.nat, { max: 2 })
  return Array.from({ length: count }, () => valueFor(source, schema.items ?? {}))
}

function fieldsFor(source: Source, schema: StructuralSchema): JsonObject {
  const { draw } = source
  const fields: JsonObject = {}
  const known = Object.keys(schema.properties ?? {})
  for (const name of known) {
    const property = schema.properties?.[name]
    const isWanted = schema.required?.includes(name) === true ? !chance(draw, 15) : chance(draw, 2)
    if (property !== undefined && isWanted) fields[name] = valueFor(source, property)
  }
  const { additionalProperties: others } = schema
  if (others !== undefined || chance(draw, 10)) {
    for (const name of picked(draw, ['a', 'zz', 'k.l', 'toString', 'apiVersion', 'kind', 'metadata'])) {
      if (!known.includes(name)) fields[name] = valueFor(source, typeof others === 'object' ? others : {})
    }
  }
  return fields
}

/** The value as it may have been: some of its fields are the same values, some are equal, some are others. */
function changed(source: Source, schema: StructuralSchema, value: JsonObject): Json {
  const { draw } = source
  const before: JsonObject = {}
  for (const name in value) {
    const field = value[name]
    const property = schema.properties?.[name]
    const was = draw(fc.constantFrom, 'absent', 'other', 'other', 'equal', 'equal', 'same', 'same', 'same')
    if (field === undefined || was === 'absent') continue
    if (was === 'other') before[name] = property === undefined ? 'other' : valueFor(source, property)
    else if (was === 'equal') before[name] = structuredClone(field)
    else before[name] = isObject(field) && property !== undefined ? changed(source, property, field) : field
  }
  return before
}

function picked(draw: fc.GeneratorValue, from: readonly string[]): string[] {
  return from.filter(() => chance(draw, 2))
}

/** True once in so many times. */
function chance(draw: fc.GeneratorValue, times: number): boolean {
  return draw(fc.nat, { max: times - 1 }) === 0
}
