import { describe, expect, it } from 'vitest'
import { readUntyped } from '../../../../shared/model/cel/untyped-value.ts'
import { shapeOf } from '../../../../shared/model/cel/schema-value.ts'
import { findMisnamed, toJson } from '../../../../shared/model/cel/to-json.ts'
import { Meter } from '../../../../shared/model/cel/meter.ts'
import {
  BuiltMap,
  BuiltObject,
  CelDuration,
  CelFailure,
  keyName,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from '../../../../shared/model/cel/value.ts'

const object = (type: string, fields: Readonly<Record<string, Value>>): BuiltObject =>
  new BuiltObject(type, new Map(Object.entries(fields)))
const map = (...entries: readonly (readonly [Value, Value])[]): BuiltMap =>
  new BuiltMap(new Map(entries.map((entry) => [keyName(entry[0]) ?? '', entry])))
const fields = (json: Readonly<Record<string, string | number | null>>): Value =>
  shapeOf({ type: 'object', properties: { a: { type: 'string' } } })?.read(json) as Value

describe('what an expression has come to, as JSON', () => {
  it.each<[Value, unknown, number]>([
    [true, true, 2],
    ['a', 'a', 2],
    [5n, 5, 2],
    [0.5, 0.5, 2],
    [null, null, 2],
    [new Uint(5n), 5, 2],
    [new Uint8Array(80).fill(1), 'AQEB'.repeat(26) + 'AQE=', 12],
    [new Timestamp(0n), '1970-01-01T00:00:00Z', 2],
    [new CelDuration(1_500_000_000n), '1.5s', 2],
    [[1n, 'a', [true]], [1, 'a', [true]], 10],
    [map(['a', 1n], ['b', map()]), { a: 1, b: {} }, 6],
    [object('Object', { a: [1n] }), { a: [1] }, 6],
    [readUntyped({ a: { b: 1 } }), { a: { b: 1 } }, 6],
    [fields({ a: 'x' }), { a: 'x' }, 4],
    [fields({ a: null }), {}, 2],
  ])('%o is %j', (value, json, steps) => {
    const meter = new Meter(100)
    expect(toJson(value, meter)).toEqual(json)
    expect(100 - meter.left).toBe(steps)
  })

  it('may have a field of any name', () => {
    const made = toJson(map(['__proto__', 1n]), new Meter(100))
    expect(Object.getOwnPropertyNames(made)).toEqual(['__proto__'])
  })

  it.each<[Value, string]>([
    [Infinity, 'Infinity cannot be made into JSON'],
    [NaN, 'NaN cannot be made into JSON'],
    [new Optional(1n), 'optional_type cannot be made into JSON'],
    [new TypeValue('int'), 'type cannot be made into JSON'],
    [map([1n, 1n]), 'a map key of type int cannot be made into JSON'],
    [[1n, NaN], 'NaN cannot be made into JSON'],
    [map(['a', NaN]), 'NaN cannot be made into JSON'],
    [fields({ a: 5 }), 'the value does not fit its schema'],
  ])('there is none of %o', (value, message) => {
    expect(toJson(value, new Meter(100))).toEqual(new CelFailure(message))
  })
})

describe('an object within an object has the type of its place', () => {
  it.each<[Value, readonly string[], number]>([
    [5n, [], 1],
    [object('Object', {}), [], 1],
    [object('Object', { spec: object('Object.spec', { a: object('Object.spec.a', {}) }) }), [], 3],
    [object('Thing', {}), ['Thing Object'], 1],
    [object('Object', { spec: object('Object', {}) }), ['Object Object.spec'], 2],
    [object('Object', { list: [object('Object.list', {}), object('Object', {})] }), ['Object Object.list'], 4],
    [object('Object', { map: map(['k', object('Object.map', {})]) }), [], 3],
    [object('Object', { map: map(['k', object('Object.map.k', {})]) }), ['Object.map.k Object.map'], 3],
    [object('A', { b: object('B', {}) }), ['A Object', 'B Object.b'], 2],
  ])('%o', (value, wrong, steps) => {
    const meter = new Meter(100)
    const found = findMisnamed(value, 'Object', meter)
    expect(found.map((line) => /"(.*)", expected "(.*)", which/.exec(line)?.slice(1).join(' '))).toEqual(wrong)
    expect(100 - meter.left).toBe(steps)
  })
})
