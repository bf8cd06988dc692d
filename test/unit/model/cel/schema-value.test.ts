import { describe, expect, it } from 'vitest'
import { celRulesOf } from '../../../../shared/model/cel/rules.ts'
import { escapeField, shapeOf } from '../../../../shared/model/cel/schema-value.ts'
import { showType } from '../../../../shared/model/cel/type.ts'
import { CelDuration, CelFailure, Timestamp, type Result, type ValueMap } from '../../../../shared/model/cel/value.ts'
import type { Json } from '../../../../shared/model/json.ts'
import type { StructuralSchema } from '../../../../shared/model/schema/structural-schema.ts'

const text: StructuralSchema = { type: 'string' }
const unfit = new CelFailure('the value does not fit its schema')
const free: StructuralSchema = { 'x-kubernetes-preserve-unknown-fields': true }

function read(schema: StructuralSchema, json: Json): Result | undefined {
  return shapeOf(schema)?.read(json)
}

describe('a value as its schema gives it to expressions', () => {
  it.each<[StructuralSchema, string | undefined]>([
    [text, 'string'],
    [{ type: 'integer' }, 'int'],
    [{ type: 'number' }, 'double'],
    [{ type: 'boolean' }, 'bool'],
    [{ 'x-kubernetes-int-or-string': true }, 'dyn'],
    [{ type: 'string', format: 'date' }, 'google.protobuf.Timestamp'],
    [{ type: 'string', format: 'date-time' }, 'google.protobuf.Timestamp'],
    [{ type: 'string', format: 'duration' }, 'google.protobuf.Duration'],
    [{ type: 'string', format: 'byte' }, 'bytes'],
    [{ type: 'string', format: 'uuid' }, 'string'],
    [{ type: 'array', items: text }, 'list(string)'],
    [{ type: 'object', additionalProperties: text }, 'map(string, string)'],
    [{ type: 'object' }, 'object'],
    [free, undefined],
    [{ type: 'array' }, undefined],
    [{ type: 'array', items: free }, undefined],
    [{ type: 'object', additionalProperties: free }, undefined],
  ])('by %j is of type %s', (schema, type) => {
    const shape = shapeOf(schema)
    expect(shape && showType(shape.type)).toBe(type)
  })

  it.each<[StructuralSchema, Json, Result]>([
    [text, 'a', 'a'],
    [text, 5, unfit],
    [text, null, null],
    [{ type: 'integer' }, 5, 5n],
    [{ type: 'integer' }, 0.5, unfit],
    [{ type: 'number' }, 0.5, 0.5],
    [{ type: 'number' }, 'a', unfit],
    [{ type: 'boolean' }, false, false],
    [{ type: 'boolean' }, 0, unfit],
    [{ 'x-kubernetes-int-or-string': true }, 'a', 'a'],
    [{ 'x-kubernetes-int-or-string': true }, 5, 5n],
    [{ 'x-kubernetes-int-or-string': true }, true, unfit],
    [{ type: 'string', format: 'byte' }, 'YWI=', new Uint8Array([97, 98])],
    [{ type: 'string', format: 'byte' }, 1234, unfit],
    [{ type: 'string', format: 'byte' }, '!', unfit],
    [{ type: 'string', format: 'byte' }, null, null],
    [{ type: 'string', format: 'date' }, '1970-01-02', new Timestamp(86_400_000_000_000n)],
    [{ type: 'string', format: 'date-time' }, '1970-01-01T00:00:01Z', new Timestamp(1_000_000_000n)],
    [{ type: 'string', format: 'date-time' }, 'soon', unfit],
    [{ type: 'string', format: 'duration' }, '1s', new CelDuration(1_000_000_000n)],
    [{ type: 'string', format: 'duration' }, '3 days', new CelDuration(259_200_000_000_000n)],
    [{ type: 'string', format: 'duration' }, 'soon', unfit],
    [{ type: 'array', items: text }, ['a', 'b'], ['a', 'b']],
    [{ type: 'array', items: text }, ['a', 5], unfit],
    [{ type: 'array', items: text }, 'a', unfit],
    [{ type: 'object', additionalProperties: text }, 'a', unfit],
    [{ type: 'object', additionalProperties: text }, [], unfit],
    [{ type: 'object' }, 'a', unfit],
    [{ type: 'object' }, null, null],
  ])('by %j: %j', (schema, json, value) => {
    expect(read(schema, json)).toEqual(value)
  })
})

describe('the fields of an object', () => {
  const list: StructuralSchema = { type: 'array', items: text }
  const schema: StructuralSchema = { type: 'object', properties: { a: text, 'b-c': text, 'd e': text, free, l: list } }
  const object = read(schema, { a: 'x', 'b-c': 'y', 'd e': 'z', free: 1, l: ['v'], more: 5 }) as ValueMap

  it('are those that expressions can name, and that have a type', () => {
    expect([...(shapeOf(schema)?.type.fields?.keys() ?? [])]).toEqual(['a', 'b__dash__c', 'l'])
    expect(object.keys()).toEqual(['a', 'b__dash__c', 'l'])
    expect(object.size).toBe(6)
    expect(object.hidden?.keys()).toEqual(['d e', 'free', 'more'])
    expect(['a', 'b__dash__c', 'b-c', 'free', 'more', 1n].map((key) => object.get(key))).toEqual([
      'x',
      'y',
      undefined,
      undefined,
      undefined,
      undefined,
    ])
  })

  it('are read once', () => {
    expect(object.get('l')).toEqual(['v'])
    expect(object.get('l')).toBe(object.get('l'))
  })

  it('are those of every object in a resource, whichever was asked for first', () => {
    const resource = ['a', 'apiVersion', 'kind', 'metadata']
    for (const order of [
      [true, false],
      [false, true],
    ]) {
      const one: StructuralSchema = { type: 'object', properties: { a: text } }
      for (const isResource of order)
        expect([...(shapeOf(one, isResource)?.type.fields?.keys() ?? [])]).toEqual(isResource ? resource : ['a'])
      expect(shapeOf(one)).toBe(shapeOf(one))
      expect(shapeOf(one, true)).toBe(shapeOf(one, true))
    }
    const embedded: StructuralSchema = { type: 'object', 'x-kubernetes-embedded-resource': true }
    expect([...(shapeOf(embedded)?.type.fields?.keys() ?? [])]).toEqual(resource.slice(1))
  })
})

describe('the entries of a map', () => {
  const map = read({ type: 'object', additionalProperties: text }, { 1: 'x', b: null, c: 5 }) as ValueMap

  it('are those of the JSON, and nothing that is inherited', () => {
    expect(map.keys()).toEqual(['1', 'b', 'c'])
    expect(map.size).toBe(3)
    expect(['1', 1n, 'b', 'c', 'd', 'constructor'].map((key) => map.get(key))).toEqual([
      'x',
      undefined,
      null,
      unfit,
      undefined,
      undefined,
    ])
  })
})

it.each([
  ['a', 'a'],
  ['_a1', '_a1'],
  ['a-b', 'a__dash__b'],
  ['a.b/c', 'a__dot__b__slash__c'],
  ['a.b-c/d', 'a__dot__b__dash__c__slash__d'],
  ['a__b', 'a__underscores__b'],
  ['a_b', 'a_b'],
  ['in', '__in__'],
  ['namespace', '__namespace__'],
  ['while', '__while__'],
  ['whiles', 'whiles'],
  ['.a', '__dot__a'],
  ['a b', undefined],
  ['1a', undefined],
  ['ä', undefined],
  ['', undefined],
])('the field %s is called %s in expressions', (name, escaped) => {
  expect(escapeField(name)).toBe(escaped)
})

describe('the rules of a schema', () => {
  const rules = (...some: readonly { readonly rule: string; readonly messageExpression?: string }[]) =>
    celRulesOf({ type: 'object', 'x-kubernetes-validations': some }, false)

  it('are those that compile, and the faults of the others', () => {
    const found = rules(
      { rule: 'true' },
      { rule: 'self.' },
      { rule: 'true', messageExpression: '1' },
      { rule: '1', messageExpression: '1' },
      { rule: 'false', messageExpression: '"a"' },
    )
    expect(found.rules.map(({ rule }) => rule.rule)).toEqual(['true', 'false'])
    expect(found.faults.map(({ i, field }) => [i, field])).toEqual([
      [1, 'rule'],
      [2, 'messageExpression'],
      [3, 'rule'],
      [3, 'messageExpression'],
    ])
  })

  it('are compiled once', () => {
    const schema: StructuralSchema = { type: 'object', 'x-kubernetes-validations': [{ rule: 'true' }] }
    expect(celRulesOf(schema, false)).toBe(celRulesOf(schema, false))
  })

  it('know no functions of policies, and policies none of changes', () => {
    const fault = (rule: string): string | undefined => rules({ rule }).faults[0]?.fault
    expect(fault('"a".path("b")')).toContain("undeclared reference to 'path'")
    expect(fault('jsonpatch.escapeKey("a") == ""')).toContain("undeclared reference to 'jsonpatch'")
  })
})
