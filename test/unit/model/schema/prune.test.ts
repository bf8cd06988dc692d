import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../../shared/model/json.ts'
import { isSettled } from '../../../../shared/model/schema/settled.ts'
import { prune, pruneValue } from '../../../../shared/model/schema/prune.ts'
import type { StructuralSchema } from '../../../../shared/model/schema/structural-schema.ts'
import { schemaAndValue } from './schema-arbitrary.ts'

const text: StructuralSchema = { type: 'string' }
const known: StructuralSchema = { type: 'object', properties: { a: text } }
const preserving = { 'x-kubernetes-preserve-unknown-fields': true } as const

interface Row {
  readonly because: string
  readonly spec: StructuralSchema
  readonly given: JsonObject
  readonly kept: JsonObject
  readonly unknown?: readonly string[]
}

const rows: readonly Row[] = [
  {
    because: 'a field the schema does not know goes',
    spec: known,
    given: { a: '1', colour: 'red' },
    kept: { a: '1' },
    unknown: ['spec.colour'],
  },
  {
    because: 'paths go through lists, and are sorted',
    spec: { type: 'object', properties: { list: { type: 'array', items: known } } },
    given: { z: 1, list: [{ a: '1', b: 2 }, { a: '2' }, { c: 3 }] },
    kept: { list: [{ a: '1' }, { a: '2' }, {}] },
    unknown: ['spec.list[0].b', 'spec.list[2].c', 'spec.z'],
  },
  {
    because: 'entries of a map have any name, but a known shape',
    spec: { type: 'object', additionalProperties: known },
    given: { x: { a: '1', b: 2 } },
    kept: { x: { a: '1' } },
    unknown: ['spec.x.b'],
  },
  {
    because: 'additionalProperties without a schema keep the entries, not what is in them',
    spec: { type: 'object', additionalProperties: true },
    given: { n: 1, o: { a: 1 }, l: [{ a: 1 }] },
    kept: { n: 1, o: {}, l: [{}] },
    unknown: ['spec.l[0].a', 'spec.o.a'],
  },
  {
    because: 'preserved fields stay whole',
    spec: { type: 'object', ...preserving },
    given: { any: { thing: [1, { goes: true }] } },
    kept: { any: { thing: [1, { goes: true }] } },
  },
  {
    because: 'below preserved fields, described ones are pruned again',
    spec: { type: 'object', ...preserving, properties: { inner: known } },
    given: { free: { b: 1 }, inner: { a: '1', b: 2 } },
    kept: { free: { b: 1 }, inner: { a: '1' } },
    unknown: ['spec.inner.b'],
  },
  {
    because: 'a list that preserves hands that on to its items',
    spec: { type: 'object', properties: { list: { type: 'array', items: known, ...preserving } } },
    given: { list: [{ a: '1', b: 2 }] },
    kept: { list: [{ a: '1', b: 2 }] },
  },
  {
    because: 'a list that preserves, of items that nobody describes, stays whole',
    spec: { type: 'object', properties: { list: { type: 'array', ...preserving }, other: { type: 'array' } } },
    given: { list: [{ a: 1 }, [{ b: 2 }]], other: [{ a: 1 }, 5] },
    kept: { list: [{ a: 1 }, [{ b: 2 }]], other: [{}, 5] },
    unknown: ['spec.other[0].a'],
  },
  {
    because: 'an embedded resource keeps its apiVersion, kind and what is known of metadata',
    spec: {
      type: 'object',
      properties: { template: { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { spec: known } } },
    },
    given: { template: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x', odd: 1 }, spec: { b: 1 }, other: 2 } },
    kept: { template: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' }, spec: {} } },
    unknown: ['spec.template.metadata.odd', 'spec.template.other', 'spec.template.spec.b'],
  },
  {
    because: 'an embedded resource keeps what its managers own',
    spec: { type: 'object', properties: { template: { type: 'object', 'x-kubernetes-embedded-resource': true } } },
    given: { template: { metadata: { managedFields: [{ manager: 'a', fieldsV1: { 'f:spec': { 'f:b': {} } } }] } } },
    kept: { template: { metadata: { managedFields: [{ manager: 'a', fieldsV1: { 'f:spec': { 'f:b': {} } } }] } } },
  },
  {
    because: 'kind is a field like any other inside an object that is no resource',
    spec: known,
    given: { kind: 'x' },
    kept: {},
    unknown: ['spec.kind'],
  },
  {
    because: 'what every JavaScript object inherits is not thereby known',
    spec: known,
    given: { constructor: 1, toString: 2, hasOwnProperty: 3 },
    kept: {},
    unknown: ['spec.constructor', 'spec.hasOwnProperty', 'spec.toString'],
  },
  {
    because: 'values of a wrong type are left for validation',
    spec: known,
    given: { a: 5 },
    kept: { a: 5 },
  },
]

describe('prune', () => {
  it.each(rows)('$because', ({ spec, given, kept, unknown = [] }) => {
    const object = { apiVersion: 'v1', kind: 'X', metadata: { anything: 'goes' }, spec: given }
    const pruned = prune({ type: 'object', properties: { spec } }, object)
    expect(pruned).toEqual({ value: { ...object, spec: kept }, unknown })
  })

  it('returns an object without unknown fields as it is', () => {
    const object = { spec: { a: '1' } }
    expect(prune({ type: 'object', properties: { spec: known } }, object).value).toBe(object)
  })

  it('shares what it did not change with the object it was given', () => {
    const object = { spec: { a: '1' }, status: { gone: 1 } }
    const { value } = prune({ type: 'object', properties: { spec: known, status: known } }, object)
    expect(value.spec).toBe(object.spec)
  })

  it('takes a field named __proto__ for a field', () => {
    const given = JSON.parse('{"spec": {"__proto__": {"b": 1}, "a": "1"}}') as JsonObject
    const entries: StructuralSchema = { type: 'object', additionalProperties: known }
    const { value, unknown } = prune({ type: 'object', properties: { spec: entries } }, given)
    expect(unknown).toEqual(['spec.__proto__.b'])
    expect(JSON.stringify(value)).toBe('{"spec":{"__proto__":{},"a":"1"}}')
  })

  it('reports a hundred unknown fields and removes them all', () => {
    const given = { spec: Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`field${i}`, i])) }
    const { value, unknown } = prune({ type: 'object', properties: { spec: known } }, given)
    expect(unknown).toHaveLength(100)
    expect(value).toEqual({ spec: {} })
  })

  it('of a value inside an object, takes kind for a field like any other', () => {
    expect(pruneValue(known, { a: '1', kind: 'x' })).toEqual({ value: { a: '1' }, unknown: ['kind'] })
  })

  it('never touches its input, and finds nothing the second time', () => {
    fc.assert(
      fc.property(schemaAndValue({ kubernetes: true, nullable: true }), ({ schema, value }) => {
        const before = JSON.stringify(value)
        const once = pruneValue(schema, value)
        expect(JSON.stringify(value)).toBe(before)
        const twice = pruneValue(schema, once.value)
        expect(twice.value).toBe(once.value)
        expect(twice.unknown).toEqual([])
        expect(once.value === value).toBe(once.unknown.length === 0)
      }),
    )
  })
})

it('is asked for an embedded resource whose metadata has an unknown field', () => {
  const template = { type: 'object', 'x-kubernetes-embedded-resource': true, ...preserving } as const
  const schema: StructuralSchema = { type: 'object', properties: { template } }
  const settled = (metadata: JsonObject) =>
    isSettled(schema, { template: { apiVersion: 'v1', kind: 'Pod', metadata, other: 1 } })
  expect([settled({ name: 'a' }), settled({ name: 'a', odd: 1 }), settled({ labels: { a: 1 } })]).toEqual([
    true,
    false,
    false,
  ])
})
