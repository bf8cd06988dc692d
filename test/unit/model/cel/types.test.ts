import { describe, expect, it } from 'vitest'
import { estimateCost } from '../../../../shared/model/cel/cost/estimate.ts'
import { Meter } from '../../../../shared/model/cel/meter.ts'
import { compileExpression } from '../../../../shared/model/cel/program.ts'
import { shapeOf } from '../../../../shared/model/cel/schema-value.ts'
import { validateRules } from '../../../../shared/model/cel/validate-rules.ts'
import {
  listOf,
  mapOf,
  objectOf,
  optionalOf,
  parseType,
  plain,
  showType,
  splitTypes,
  type Type,
} from '../../../../shared/model/cel/type.ts'
import { readUntyped } from '../../../../shared/model/cel/untyped-value.ts'
import { BuiltObject, CelFailure, Optional, type Result, type ValueMap } from '../../../../shared/model/cel/value.ts'
import type { Json } from '../../../../shared/model/json.ts'
import type { StructuralSchema } from '../../../../shared/model/schema/structural-schema.ts'

const variables: Readonly<Record<string, Type>> = {
  d: plain.dyn,
  o: objectOf('thing', new Map([['a', plain.int]])),
  any: objectOf('any'),
  l: listOf(plain.int),
  m: mapOf(plain.string, plain.int),
  s: plain.string,
  maybe: optionalOf(plain.int),
  time: plain.timestamp,
  ds: listOf(plain.dyn),
}

const compiled = (text: string) => compileExpression(text, variables, { gives: [] })

describe('the type of', () => {
  it.each([
    ['1', 'int'],
    ['1u', 'uint'],
    ['1.0', 'double'],
    ['"a"', 'string'],
    ['b"a"', 'bytes'],
    ['true', 'bool'],
    ['null', 'null'],
    ['int', 'type(int)'],
    ['type(1)', 'type(int)'],
    ['google.protobuf.Timestamp', 'type(google.protobuf.Timestamp)'],
    ['google.protobuf.Duration', 'type(google.protobuf.Duration)'],
    ['[1]', 'list(int)'],
    ['[]', 'list(dyn)'],
    ['[[], [1]]', 'list(list(int))'],
    ['{}', 'map(dyn, dyn)'],
    ['{"a": 1}', 'map(string, int)'],
    ['[d, 1]', 'list(dyn)'],
    ['d', 'dyn'],
    ['d.a', 'dyn'],
    ['d[0]', 'dyn'],
    ['o.a', 'int'],
    ['any.a', 'dyn'],
    ['l[0]', 'int'],
    ['m["a"]', 'int'],
    ['m.a', 'int'],
    ['has(o.a)', 'bool'],
    ['o.?a', 'optional_type(int)'],
    ['maybe.value()', 'int'],
    ['l[?0]', 'optional_type(int)'],
    ['optional.of(1)', 'optional_type(int)'],
    ['optional.none()', 'optional_type(dyn)'],
    ['optional.of(o).a', 'optional_type(int)'],
    ['optional.of(l)[0]', 'optional_type(int)'],
    ['[?maybe]', 'list(int)'],
    ['[?d]', 'list(dyn)'],
    ['{?"a": maybe}', 'map(string, int)'],
    ['1 + 2', 'int'],
    ['d + 1', 'int'],
    ['d + d', 'dyn'],
    ['-d', 'dyn'],
    ['d == 1', 'bool'],
    ['d in l', 'bool'],
    ['1 < 2.0', 'bool'],
    ['time - time', 'google.protobuf.Duration'],
    ['time - duration("1s")', 'google.protobuf.Timestamp'],
    ['time - d', 'dyn'],
    ['true && d', 'bool'],
    ['true ? 1 : 2', 'int'],
    ['true ? null : time', 'google.protobuf.Timestamp'],
    ['true ? time : null', 'google.protobuf.Timestamp'],
    ['l.all(x, x > 0)', 'bool'],
    ['[].all(x, x == x)', 'bool'],
    ['l.map(x, string(x))', 'list(string)'],
    ['l.filter(x, x > 0)', 'list(int)'],
    ['m.map(k, k)', 'list(string)'],
    ['m.filter(k, true)', 'list(string)'],
    ['l.transformList(i, x, i)', 'list(int)'],
    ['m.transformMap(k, v, k)', 'map(string, string)'],
    ['l.transformMap(i, x, "a")', 'map(int, string)'],
    ['l.transformMapEntry(i, x, {"a": x})', 'map(string, int)'],
    ['d.map(x, x)', 'list(dyn)'],
    ['maybe.optMap(x, "a")', 'optional_type(string)'],
    ['maybe.optFlatMap(x, optional.of("a"))', 'optional_type(string)'],
    ['ip("1.2.3.4")', 'net.IP'],
    ['quantity("1").add(1)', 'kubernetes.Quantity'],
    ['l + []', 'list(int)'],
    ['dyn(1)', 'dyn'],
  ])('%s is %s', (text, type) => {
    const program = compiled(text)
    expect('fault' in program ? program.fault : showType(program.type)).toBe(type)
  })
})

describe('an expression is refused', () => {
  it.each([
    ['nope', "undeclared reference to 'nope'"],
    ['nope(1)', "undeclared reference to 'nope'"],
    ['"a".nope()', "undeclared reference to 'nope'"],
    ['o.b', "undefined field 'b'"],
    ['s.a', "type 'string' does not support field selection"],
    ['1 + "a"', "found no matching overload for '_+_' applied to '(int, string)'"],
    ['1 == "a"', "found no matching overload for '_==_' applied to '(int, string)'"],
    ['1 != "a"', "found no matching overload for '_!=_' applied to '(int, string)'"],
    ['"a".size(1)', "found no matching overload for 'size' applied to 'string.(int)'"],
    ['size(1)', "found no matching overload for 'size' applied to '(int)'"],
    ['startsWith("a", "b")', "found no matching overload for 'startsWith' applied to '(string, string)'"],
    ['s.startsWith()', "found no matching overload for 'startsWith' applied to 'string.()'"],
    ['!1', "found no matching overload for '!_' applied to '(int)'"],
    ['1 && true', "found no matching overload for '_&&_' applied to '(int, bool)'"],
    ['true || 1', "found no matching overload for '_||_' applied to '(bool, int)'"],
    ['1 ? 2 : 3', "found no matching overload for '_?_:_' applied to '(int, int, int)'"],
    ['true ? 2 : "a"', "found no matching overload for '_?_:_' applied to '(bool, int, string)'"],
    ['l["a"]', "found no matching overload for '_[_]' applied to '(list(int), string)'"],
    ['m[1]', "found no matching overload for '_[_]' applied to '(map(string, int), int)'"],
    ['s[0]', "found no matching overload for '_[_]' applied to '(string, int)'"],
    ['[1, "a"]', "expected type 'int' but found 'string'"],
    ['size([1, "a"])', "expected type 'int' but found 'string'"],
    ['int("x")', "type conversion error from 'string' to 'int'"],
    ['"%d".format(["a"])', 'decimal clause can only be used on integers'],
    [`"%s".format(["%s".format([[${Array(1_600).fill('1e308').join()}]])])`, 'takes too many steps'],
    ['{"a": 1, 2: 1}', "expected type 'string' but found 'int'"],
    ['{"a": 1, "b": "c"}', "expected type 'int' but found 'string'"],
    ['[?1]', "expected type 'optional_type' but found 'int'"],
    ['l.all(x, x)', "expected type 'bool' but found 'int'"],
    ['l.filter(x, "a")', "expected type 'bool' but found 'string'"],
    ['l.map(x, x, x)', "expected type 'bool' but found 'int'"],
    ['s.all(x, true)', "expression of type 'string' cannot be range of a comprehension"],
    ['s.all(i, x, true)', "expression of type 'string' cannot be range of a comprehension"],
    ['l.transformMapEntry(i, x, i)', "expected type 'map' but found 'int'"],
    ['l.map(x, y)', "undeclared reference to 'y'"],
    ['l.map(x, x)[0] == x', "undeclared reference to 'x'"],
    ['s.matches("(")', 'invalid matches argument: '],
    ['s.find("(")', 'invalid matches argument: '],
    ['Thing{}', "undeclared reference to 'Thing'"],
    ['time + time', "found no matching overload for '_+_'"],
    ['null + 1', "found no matching overload for '_+_'"],
    ['[].all(x, x == [x])', "found no matching overload for '_==_'"],
    [
      '[].all(x, sets.contains(x, [x]))',
      "found no matching overload for 'sets.contains' applied to '(dyn, list(dyn))'",
    ],
    ['1 == null', "found no matching overload for '_==_' applied to '(int, null)'"],
  ])('%s: %s', (text, fault) => {
    const program = compiled(text)
    expect('fault' in program ? program.fault : 'it compiles').toContain(fault)
  })

  it.each([
    ['time == null', undefined],
    ['null == time', undefined],
    ['o == null', undefined],
    ['maybe == null', undefined],
    ['d == null', undefined],
    ['null == null', undefined],
    ['duration("1s") == null', undefined],
    ['ip("::1") == null', undefined],
    ['type(1) == type("a")', undefined],
    ['[1] == [d]', undefined],
    ['{"a": [1]} == {"b": []}', undefined],
    ['s == null', 'no matching overload'],
    ['l == null', 'no matching overload'],
    ['null == m', 'no matching overload'],
    ['[1] == ["a"]', 'no matching overload'],
    ['ip("::1") == cidr("::1/8")', 'no matching overload'],
    ['optional.of(1) == optional.of("a")', 'no matching overload'],
    ['[[1]] == [1]', 'no matching overload'],
  ])('or taken: %s, %s', (text, fault) => {
    const program = compiled(text)
    const found = 'fault' in program ? program.fault : undefined
    if (fault === undefined) expect(found).toBeUndefined()
    else expect(found).toContain(fault)
  })
})

it.each(['.optMap(v, {v: v})', '.optMap(v, [{v: v}])', '.optMap(v, {v: [v]}.map(w, {w: w}))'])(
  'an expression whose types double with each %s is refused',
  (step) => {
    expect(compiled(`optional.of(s)${step.repeat(3)}`)).not.toHaveProperty('fault')
    expect(compiled(`optional.of(s)${step.repeat(40)}`)).toMatchObject({
      fault: expect.stringContaining('has types that are too large'),
    })
  },
)

describe('a value that is only known when it is run', () => {
  const run = (text: string, json: unknown, maybe: Result = new Optional(undefined)): Result => {
    const program = compiled(text)
    if ('fault' in program) throw new Error(program.fault)
    const values = Object.keys(variables).map((name): Result => {
      if (name === 'd') return readUntyped(json as never)
      if (name === 'maybe') return maybe
      return name === 'ds' ? [1n, 'a', null] : name === 'm' ? readUntyped({ a: 1 }) : [1n, 2n]
    })
    const result = program.run(values, new Meter(100_000))
    return result instanceof CelFailure ? result.message : result
  }

  it.each<[string, unknown, Result]>([
    ['d + 1', 2, 3n],
    ['d + 1', 'a', 'no such overload'],
    ['d.a', { a: 5 }, 5n],
    ['d.a', { b: 5 }, 'no such key: a'],
    ['d.a', null, 'no such key: a'],
    ['d.a', 5, 'no such overload'],
    ['d.a.b', { a: { b: true } }, true],
    ['d.a.b', {}, 'no such key: a'],
    ['1 == d.z', {}, 'no such key: z'],
    ['has(d.a)', { a: null }, true],
    ['has(d.a)', {}, false],
    ['has(d.a)', 5, 'no such overload'],
    ['has(d.a.b)', {}, 'no such key: a'],
    ['has(d.?a.b)', { a: { b: 1 } }, true],
    ['has(d.?a.c)', { a: { b: 1 } }, false],
    ['has(d.?z.b)', {}, false],
    ['d.z.?a', {}, 'no such key: z'],
    ['d[?"a"]', [1], "unsupported index type 'string' in list"],
    ['d[int(d[0]) / 0]', [1], 'division by zero'],
    ['d[0]', [7], 7n],
    ['d[1]', [7], 'index out of bounds: 1'],
    ['d["a"]', [7], "unsupported index type 'string' in list"],
    ['d[0u]', [7], 7n],
    ['d[0]', 'a', 'no such overload'],
    ['d["a"]', { a: 1.5 }, 1.5],
    ['d.?a.orValue(3)', {}, 3n],
    ['d.?a.orValue(3)', { a: 4 }, 4n],
    ['d.?a.?b.orValue(3)', { a: {} }, 3n],
    ['d.?a.orValue(3)', 5, 3n],
    ['d[?0].orValue(3)', [], 3n],
    ['d[?0].orValue(3)', [4], 4n],
    ['d == 1', 1, true],
    ['d == 1', 'a', false],
    ['d != 1', 'a', true],
    ['d == null', null, true],
    ['d && false', 5, false],
    ['d && true', 5, 'no such overload'],
    ['false && d', 5, false],
    ['d || true', 5, true],
    ['d || false', 5, 'no such overload'],
    ['d.a == 1 || true', {}, true],
    ['d.a == 1 && false', {}, false],
    ['d.a == 1 || false', {}, 'no such key: a'],
    ['d.a == 1 && true', {}, 'no such key: a'],
    ['true || d.a == 1', {}, true],
    ['d ? 1 : 2', true, 1n],
    ['d ? 1 : 2', false, 2n],
    ['d ? 1 : 2', 5, 'no such overload'],
    ['d.a ? 1 : 2', {}, 'no such key: a'],
    ['d.all(x, x > 1)', [2, 3], true],
    ['d.all(x, x > 1)', [1, 'a'], false],
    ['d.all(x, x > 1)', ['a', 1], false],
    ['d.all(x, x > 1)', ['a', 2], 'no such overload'],
    ['d.exists(x, x > 1)', ['a', 2], true],
    ['d.exists(x, x > 1)', ['a', 1], 'no such overload'],
    ['d.exists(x, x > 1)', [1], false],
    ['d.exists_one(x, x > 1)', [1, 2], true],
    ['d.exists_one(x, x > 1)', [2, 2], false],
    ['d.exists_one(x, x > 1)', [2, 'a'], 'no such overload'],
    ['d.all(x, true)', 5, 'no such overload'],
    ['d.all(i, x, true)', 5, 'no such overload'],
    ['d.z.all(x, true)', {}, 'no such key: z'],
    ['d.z.all(i, x, true)', {}, 'no such key: z'],
    ['d.all(k, k == "a")', { a: 1 }, true],
    ['d.all(k, v, v == 1)', { a: 1, b: 1 }, true],
    ['d.all(i, x, i == x)', [0, 1], true],
    ['d.map(x, x + 1).size()', [1, 2], 2n],
    ['d.map(x, x + 1).size()', [1, 'a'], 'no such overload'],
    ['d.map(x, x > 1, x).size()', [1, 2], 1n],
    ['d.map(x, x, x).size()', [5], 'no such overload'],
    ['d.filter(x, x > 1).size()', [1, 2, 3], 2n],
    ['d.filter(x, x > 1).size()', ['a'], 'no such overload'],
    ['d.transformMap(k, v, v).size()', { a: 1, b: 2 }, 2n],
    ['d.transformMapEntry(k, v, {v: k}).size()', { a: 1, b: 2 }, 2n],
    ['d.transformMapEntry(k, v, {v: k}).size()', { a: 1, b: 1 }, 'insert failed: key 1 already exists'],
    ['d.transformMapEntry(k, v, {v: k}).size()', { a: 1.5 }, 'unsupported key type'],
    ['d.transformMapEntry(k, v, d).size()', { a: 1 }, 1n],
    ['d.transformMapEntry(k, v, v).size()', { a: 5 }, 'no such overload'],
    ['d.transformMapEntry(k, v, v).size()', { a: [1] }, 'no such overload'],
    ['{d: 1}.size()', 1.5, 'unsupported key type'],
    ['{d: 1}.size()', 2, 1n],
    ['{d.a: 1}.size()', {}, 'no such key: a'],
    ['{1: d.a}.size()', {}, 'no such key: a'],
    ['[d.a].size()', {}, 'no such key: a'],
    ['d in l', 2, true],
    ['d in l', 'a', false],
    ['d in m', 'a', true],
    ['"a" in d', { a: 1 }, true],
    ['"a" in d', ['a'], true],
    ['"a" in d', 5, 'no such overload'],
    ['d.size()', { a: 1, b: 2 }, 2n],
    ['d.size()', 'abc', 3n],
    ['size(d)', [1], 1n],
    ['d.startsWith("a")', 'ab', true],
    ['d.startsWith("a")', 5, 'no such overload'],
    ['type(d) == int', 5, true],
    ['type(d) == double', 1.5, true],
    ['type(d) == map', {}, true],
    ['type(d) == list', [], true],
    ['d == {"a": [dyn(1), null]}', { a: [1, null] }, true],
    ['d == {"a": [dyn(1), null]}', { a: [1, 2] }, false],
    ['d == {"a": 1}', { a: 1, b: 2 }, false],
    ['d == 9007199254740993.0', 2 ** 53, true],
    ['type(d) == double', 2 ** 60, true],
    ['ds == [dyn(1), "a", null]', 0, true],
    ['ds.map(x, type(x)) == [int, string, null_type]', 0, true],
    ['l.map(x, l.map(x, x * 10)[0] + x) == [11, 12]', 0, true],
    ['l.all(x, l.exists(y, y == x) && l.map(z, z + x).size() == 2)', 0, true],
  ])('%s with %j is %s', (text, json, is) => {
    expect(run(text, json)).toEqual(is)
  })

  it('may not be there', () => {
    expect([
      run('maybe.optMap(x, x + 1).orValue(9)', 0),
      run('maybe.optMap(x, x + 1).orValue(9)', 0, new Optional(4n)),
      run('maybe.optFlatMap(x, x > 3 ? optional.of(x) : optional.none()).hasValue()', 0, new Optional(3n)),
      run('maybe.hasValue()', 0, new CelFailure('lost')),
      run('[?maybe].size()', 0),
      run('[?maybe].size()', 0, new Optional(1n)),
    ]).toEqual([9n, 5n, false, 'lost', 0n, 1n])
  })
})

describe('a value that was read by a schema', () => {
  const run = (text: string, schema: StructuralSchema, json: Json): Result => {
    const program = compileExpression(text, { d: plain.dyn, e: plain.dyn }, { gives: [] })
    if ('fault' in program) throw new Error(program.fault)
    const read = (): Result => shapeOf(schema)?.read(json) ?? null
    const result = program.run([read(), read()], new Meter(1_000))
    return result instanceof CelFailure ? result.message : result
  }
  const object: StructuralSchema = { type: 'object', properties: { a: { type: 'string', nullable: true } } }
  const map: StructuralSchema = { type: 'object', additionalProperties: { type: 'integer' } }

  it.each<[string, StructuralSchema, Json, Result]>([
    ['d == e', object, { a: 'x' }, true],
    // As in Kubernetes: a field that is null is none, so that nothing equals it.
    ['d == e', object, { a: null }, false],
    ['d.all(k, v, false)', object, { a: null }, true],
    ['d.all(k, v, true)', map, { a: 1 }, true],
    ['d.all(k, v, true)', map, { a: 'x' }, 'the value does not fit its schema'],
    ['d.?a.hasValue()', map, { a: 1 }, true],
    ['d.?a.hasValue()', map, { a: 'x' }, 'the value does not fit its schema'],
  ])('%s of %j with %j is %s', (text, schema, json, is) => {
    expect(run(text, schema, json)).toBe(is)
  })
})

describe('a variable', () => {
  const run = (text: string, types: Readonly<Record<string, Type>>, ...values: readonly Result[]): Result => {
    const program = compileExpression(text, types, { gives: [] })
    if ('fault' in program) throw new Error(program.fault)
    const result = program.run(values, new Meter(1_000))
    return result instanceof CelFailure ? result.message : result
  }

  it('may have a dot in its name, and no value', () => {
    const types = { a: objectOf('thing', new Map([['c', plain.int]])), 'a.b': plain.int }
    const thing = readUntyped({ c: 5 })
    expect(run('a.b + a.c', types, thing, 3n)).toBe(8n)
    expect(run('a.b', types, thing)).toBe('no such attribute')
    expect(run('a.c', types)).toBe('no such attribute: a')
  })

  it('may have the name that functions stand behind', () => {
    expect(run('sets.contains("b")', { sets: plain.string }, 'abc')).toBe(true)
  })
})

describe('an object that an expression makes', () => {
  const thing = objectOf('Object', new Map([['a', plain.int]]))
  const compile = (text: string) =>
    compileExpression(
      text,
      { d: plain.dyn },
      { gives: [], constructs: (name) => (name === 'Object' ? thing : undefined) },
    )
  const made = (text: string, json: Json): unknown => {
    const program = compile(text)
    if ('fault' in program) return program.fault
    const result = program.run([readUntyped(json)], new Meter(1_000))
    return result instanceof CelFailure ? result.message : result instanceof BuiltObject ? [...result.keys()] : result
  }

  it.each<[string, Json, unknown]>([
    ['Object{a: 1}', null, ['a']],
    ['Object{a: d}', 5, ['a']],
    ['Object{?a: optional.of(1)}', null, ['a']],
    ['Object{?a: d.?a}', {}, []],
    ['Object{a: d.z}', {}, 'no such key: z'],
    ['Object{b: 1}', null, expect.stringContaining("undefined field 'b'")],
    [
      'Object{a: "x"}',
      null,
      expect.stringContaining("expected type of field 'a' is 'int' but provided type is 'string'"),
    ],
    ['Thing{}', null, expect.stringContaining("undeclared reference to 'Thing'")],
  ])('%s with %j has these fields: %j', (text, json, fields) => {
    expect(made(text, json)).toEqual(fields)
  })
})

it.each([
  ['int', 'int'],
  ['list(A)', 'list(A)'],
  ['map(string, list(int))', 'map(string, list(int))'],
  ['optional(A)', 'optional_type(A)'],
  ['type(A)', 'type(A)'],
  ['net.IP', 'net.IP'],
  ['list', 'list(dyn)'],
  ['timestamp', 'google.protobuf.Timestamp'],
])('a signature writes %s for the type %s', (text, shown) => {
  expect(showType(parseType(text))).toBe(shown)
})

it('a signature has one letter for any type, and longer names for types of libraries', () => {
  expect(['A', 'Z', 'AB', 'a', 'net.IP', 'int'].map((text) => parseType(text).kind)).toEqual([
    'parameter',
    'parameter',
    'opaque',
    'opaque',
    'opaque',
    'int',
  ])
})

it('JSON without a schema is read once, and has nothing that is inherited', () => {
  const map = readUntyped({ 1: 'x', l: [1, { a: null }], n: undefined }) as ValueMap
  expect(map.keys()).toEqual(['1', 'l'])
  expect(map.size).toBe(2)
  expect(['1', 1n, 'n', 'constructor', 'z'].map((key) => map.get(key))).toEqual(['x', ...Array<undefined>(4)])
  expect(map.get('l')).toMatchObject([1n, expect.any(Object)])
  expect(map.get('l')).toBe(map.get('l'))
})

it.each([
  ['', []],
  ['int', ['int']],
  ['int, map(A, B), list(list(A))', ['int', 'map(A, B)', 'list(list(A))']],
])('of the types %j there are %j', (text, parts) => {
  expect(splitTypes(text)).toEqual(parts)
})

it('a rule comes to one of the kinds that are asked for', () => {
  const fault = (text: string, ...kinds: readonly Type['kind'][]) => {
    const program = compileExpression(text, variables, kinds)
    return 'fault' in program ? program.fault.split('\n')[0] : undefined
  }
  const faults = [fault('1', 'int'), fault('d', 'bool'), fault('[][0]', 'bool'), fault('1', 'bool', 'int')]
  expect(faults.every((one) => one === undefined)).toBe(true)
  expect(fault('1', 'bool', 'string')).toBe('ERROR: <input>:1:1: must evaluate to bool or string, not int')
  expect(compileExpression('1', {}, { gives: [plain.bool, plain.string] })).toMatchObject({
    fault: expect.stringContaining('must evaluate to bool or string but got int') as string,
  })
})

it('a policy knows no functions of changes', () => {
  expect(compileExpression('jsonpatch.escapeKey("a")', {}, { gives: [] })).toMatchObject({
    fault: expect.stringContaining("undeclared reference to 'jsonpatch'") as string,
  })
})

it('what goes wrong elsewhere while an expression is checked or run is not taken for a fault of it', () => {
  const broken = (): never => {
    throw new Error('mine')
  }
  const type = Object.defineProperty({ name: 'a', of: [] }, 'kind', { get: broken }) as unknown as Type
  const value = Object.defineProperty({}, 'a', { get: broken, enumerable: true })
  const ruled = {
    type: 'object',
    properties: { a: { type: 'string', 'x-kubernetes-validations': [{ rule: 'true' }] } },
  } as const
  expect(() => compileExpression('A{}', {}, { gives: [], constructs: broken })).toThrow('mine')
  expect(() => estimateCost('a + 1', { a: type }, { most: 0, bytesMin: 0 })).toThrow('mine')
  expect(() => validateRules(ruled, value)).toThrow('mine')
})
