import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../../shared/model/json.ts'
import { applyDefaults } from '../../../../shared/model/schema/defaulting.ts'
import type { StructuralSchema } from '../../../../shared/model/schema/structural-schema.ts'
import { schemaAndValue } from './schema-arbitrary.ts'

const one: StructuralSchema = { type: 'integer', default: 1 }

interface Row {
  readonly because: string
  readonly schema: StructuralSchema
  readonly given: Json
  readonly complete: Json
}

const rows: readonly Row[] = [
  {
    because: 'a missing field gets its default',
    schema: { type: 'object', properties: { a: one, b: { type: 'string' } } },
    given: { b: 'x' },
    complete: { b: 'x', a: 1 },
  },
  {
    because: 'a field that is there keeps its value, however empty',
    schema: {
      type: 'object',
      properties: { a: one, s: { type: 'string', default: 'x' }, f: { type: 'boolean', default: true } },
    },
    given: { a: 0, s: '', f: false },
    complete: { a: 0, s: '', f: false },
  },
  {
    because: 'an object that is missing is not made for the sake of what could be in it',
    schema: { type: 'object', properties: { o: { type: 'object', properties: { a: one } } } },
    given: {},
    complete: {},
  },
  {
    because: 'an object that is there is filled in, at any depth',
    schema: {
      type: 'object',
      properties: { o: { type: 'object', properties: { p: { type: 'object', properties: { a: one } } } } },
    },
    given: { o: { p: {} } },
    complete: { o: { p: { a: 1 } } },
  },
  {
    because: 'a default that is an object is itself filled in',
    schema: { type: 'object', properties: { o: { type: 'object', default: {}, properties: { a: one } } } },
    given: {},
    complete: { o: { a: 1 } },
  },
  {
    because: 'items of lists are filled in',
    schema: { type: 'array', items: { type: 'object', properties: { a: one } } },
    given: [{}, { a: 2 }],
    complete: [{ a: 1 }, { a: 2 }],
  },
  {
    because: 'entries of maps are filled in',
    schema: { type: 'object', additionalProperties: { type: 'object', properties: { a: one } } },
    given: { x: {}, y: { a: 2 } },
    complete: { x: { a: 1 }, y: { a: 2 } },
  },
  {
    because: 'a null that is not nullable becomes the default',
    schema: { type: 'object', properties: { a: one } },
    given: { a: null },
    complete: { a: 1 },
  },
  {
    because: 'a null that is nullable is a value',
    schema: { type: 'object', properties: { a: { ...one, nullable: true } } },
    given: { a: null },
    complete: { a: null },
  },
  {
    because: 'a null that is nullable is a value, where an object would be filled in',
    schema: { type: 'object', properties: { o: { type: 'object', nullable: true, properties: { a: one } } } },
    given: { o: null },
    complete: { o: null },
  },
  {
    because: 'a null that is neither nullable nor has a default goes away, and with it the error',
    schema: { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: true },
    given: { a: null, unknown: null },
    complete: { unknown: null },
  },
  {
    because: 'a null in a list cannot go away',
    schema: { type: 'array', items: { type: 'string' } },
    given: ['a', null],
    complete: ['a', null],
  },
  {
    because: 'a null in a list becomes the default of the items',
    schema: { type: 'array', items: one },
    given: [2, null],
    complete: [2, 1],
  },
  {
    because: 'a null in a map becomes the default of the entries',
    schema: { type: 'object', additionalProperties: one },
    given: { x: null },
    complete: { x: 1 },
  },
  {
    because: 'a field that every object inherits is missing all the same',
    schema: { type: 'object', properties: { constructor: one } },
    given: {},
    complete: { constructor: 1 },
  },
]

describe('applyDefaults', () => {
  it.each(rows)('$because', ({ schema, given, complete }) => {
    expect(applyDefaults(schema, given)).toEqual(complete)
  })

  it('gives each object a default of its own', () => {
    const schema: StructuralSchema = { type: 'object', properties: { o: { type: 'object', default: { list: [] } } } }
    const first = applyDefaults<JsonObject>(schema, {})
    const second = applyDefaults<JsonObject>(schema, {})
    expect(first).toEqual(second)
    expect(first['o']).not.toBe(second['o'])
    expect(first['o']).not.toBe(schema.properties?.['o']?.default)
  })

  it('sets a field named __proto__ as a field', () => {
    const schema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"integer","default":1}}}',
    ) as StructuralSchema
    expect(JSON.stringify(applyDefaults(schema, {}))).toBe('{"__proto__":1}')
  })

  it('never touches its input, and returns what is complete as it is', () => {
    fc.assert(
      fc.property(schemaAndValue({ kubernetes: true, nullable: true, defaults: true }), ({ schema, value }) => {
        const before = JSON.stringify(value)
        const complete = applyDefaults(schema, value)
        expect(JSON.stringify(value)).toBe(before)
        expect(applyDefaults(schema, complete)).toBe(complete)
      }),
    )
  })
})
