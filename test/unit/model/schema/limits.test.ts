/** What bounds what is said, and what it costs to say it. */
import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../../shared/model/json.ts'
import type { ApiObject } from '../../../../shared/model/object.ts'
import { canonicalStart } from '../../../../shared/model/schema/canonical-json.ts'
import { compareSchemas } from '../../../../shared/model/schema/compare-schemas.ts'
import { applyDefaults } from '../../../../shared/model/schema/defaulting.ts'
import { concealValue, invalid, notSupported, numeral } from '../../../../shared/model/schema/field-error.ts'
import { optionsOf } from '../../../../shared/model/schema/options.ts'
import { hasField, setField } from '../../../../shared/model/schema/own-field.ts'
import { compilePattern } from '../../../../shared/model/schema/pattern.ts'
import { describeFaults } from '../../../../shared/model/schema/spec-faults.ts'
import type { StructuralSchema } from '../../../../shared/model/schema/structural-schema.ts'
import { metadataFault } from '../../../../shared/model/schema/type-fault.ts'
import { validate } from '../../../../shared/model/schema/validate.ts'

const text: StructuralSchema = { type: 'string' }
const whole: StructuralSchema = { type: 'integer' }

describe('a long value in an error', () => {
  it.each([
    ['a text as long as may be', 'x'.repeat(998), `"${'x'.repeat(998)}"`],
    ['a longer text', 'x'.repeat(999), `"${'x'.repeat(999)}…`],
    ['a text of other characters', '\u0007\u00a0é', '"\\a\\u00a0é"'],
    ['characters beyond ASCII', '\u007f\u0080\uffff\u{1d173}', '"\\x7f\\u0080\\uffff\\U0001d173"'],
    ['a list', Array(600).fill(1), `[${'1,'.repeat(499)}1…`],
    ['an object', { b: 'y'.repeat(2_000), a: 1 }, `{"a":1,"b":"${'y'.repeat(988)}…`],
    ['a number', 1e-7, '1e-07'],
  ])('is shown as far as a thousand characters: %s', (_what, value, shown) => {
    expect(invalid('f', value, 'no').message).toBe(`Invalid value: ${shown}: no`)
  })

  it('is one of a choice that is shown as far as people read', () => {
    const choice = Array.from({ length: 300 }, (_, i) => `option${i}`)
    const { message } = notSupported('f', 'x', choice)
    expect(message.startsWith('Unsupported value: "x": supported values: "option0", "option1", ')).toBe(true)
    expect(message.endsWith(', …')).toBe(true)
    expect(message.length).toBeLessThan(1_100)
    const fits = ['a'.repeat(998), 'b']
    expect(notSupported('f', 'x', fits).message.endsWith(`"${fits[0]}", "b"`)).toBe(true)
    expect(notSupported('f', 'x', [...fits, 'c']).message.endsWith('"b", …')).toBe(true)
  })

  it('is not shown where nobody may read it', () => {
    expect(concealValue(invalid('f', 'secret', 'no'))).toEqual({
      field: 'f',
      reason: 'FieldValueInvalid',
      message: 'Invalid value',
    })
  })

  it.each([
    [0, '0'],
    [1e-4, '0.0001'],
    [9.9e-5, '9.9e-05'],
    [-9.9e-5, '-9.9e-05'],
    [999_999.5, '999999.5'],
    [1_000_000.5, '1.0000005e+06'],
    [1e21, '1e+21'],
    [1.5e-10, '1.5e-10'],
    [1.5e300, '1.5e+300'],
  ])('%d is written as Go writes it: %s', (value, shown) => {
    expect(numeral(value)).toBe(shown)
  })
})

describe('the start of the JSON of a value', () => {
  it('has the fields of very large objects as they are', () => {
    const fields = (count: number): JsonObject =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${String(count - i).padStart(4, '0')}`, i]))
    expect(canonicalStart(fields(1_000), 10)).toBe('{"f0001":9')
    expect(canonicalStart(fields(1_001), 10)).toBe('{"f1001":0')
  })

  it.each<[unknown, number, string]>([
    ['abc', 3, '"ab'],
    ['abc', 9, '"abc"'],
    [[1, undefined, 2], 9, '[1,null,2'],
    [[1, undefined, 2], 99, '[1,null,2]'],
    [{ b: 1, a: undefined }, 99, '{"b":1}'],
    [{ a: [], b: {} }, 99, '{"a":[],"b":{}}'],
    [null, 9, 'null'],
    [undefined, 9, 'null'],
  ])('%j as far as %d is %s', (value, length, start) => {
    expect(canonicalStart(value, length).slice(0, length)).toBe(start)
  })
})

it('the start of the JSON of a value is made of the starts of its parts', () => {
  const long = 'a'.repeat(99)
  for (const value of [long, [long], { b: long }, [[long], [long]]])
    expect(canonicalStart(value, 4).length).toBeLessThan(16)
})

it.each<[unknown, number, string]>([
  ['a'.repeat(99), 4, '"aaa'],
  [[1, 2], 2, '[1'],
  [[1, 2], 3, '[1,'],
  [{ a: 'b'.repeat(99) }, 8, '{"a":"bb'],
])('the start of the JSON of %j with %d characters is %s', (value, length, start) => {
  expect(canonicalStart(value, length).slice(0, length)).toBe(start)
  expect(canonicalStart([value, 1], length + 1)).toBe(`[${start}`)
})

describe('what two schemas differ in', () => {
  const nested = (depth: number, inner: StructuralSchema): StructuralSchema =>
    depth === 0 ? inner : { type: 'array', items: nested(depth - 1, inner) }

  it('is told twenty levels deep', () => {
    expect(compareSchemas(nested(20, text), nested(20, whole))).toHaveLength(1)
    expect(compareSchemas(nested(21, text), nested(21, whole))).toEqual([])
    const fields = (depth: number, inner: StructuralSchema): StructuralSchema =>
      depth === 0 ? inner : { type: 'object', properties: { a: fields(depth - 1, inner) } }
    expect(compareSchemas(fields(20, text), fields(20, whole))).toHaveLength(1)
    expect(compareSchemas(fields(21, text), fields(21, whole))).toEqual([])
  })

  it('is told two hundred times', () => {
    const object = (count: number, one: StructuralSchema): StructuralSchema => ({
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, one])),
    })
    expect(compareSchemas(object(201, text), object(201, whole))).toHaveLength(200)
  })

  it.each<[StructuralSchema, StructuralSchema, readonly string[]]>([
    [{ ...text, default: 'x'.repeat(58) }, text, ['has no default any more']],
    [text, { ...text, default: 'x'.repeat(58) }, [`has the default "${'x'.repeat(58)}"`]],
    [text, { ...text, default: 'x'.repeat(59) }, [`has the default "${'x'.repeat(59)}…`]],
    [{ ...text, nullable: true }, text, ['may not be null any more']],
    [text, { ...text, nullable: true }, []],
    [{ ...text, nullable: false }, text, []],
    [{ ...text, enum: ['a'] }, text, []],
    [{ ...text, enum: ['a', 'b', 'c'] }, { ...text, enum: ['b'] }, ['takes "a", "c" no more']],
    [{ enum: [{ a: 1 }] }, { enum: [{ a: 1 }] }, []],
    [{}, text, []],
    [text, {}, []],
    [{ type: 'object', additionalProperties: true }, { type: 'object', additionalProperties: text }, []],
    [{ type: 'array', items: text }, { type: 'array' }, []],
    [
      { type: 'object', additionalProperties: { ...text, maxLength: 5 } },
      { type: 'object', additionalProperties: true },
      [],
    ],
    [
      { type: 'object', additionalProperties: true },
      { type: 'object', additionalProperties: { ...text, maxLength: 5 } },
      [],
    ],
    [{ type: 'object' }, { type: 'object', additionalProperties: text }, []],
    [{ ...text, nullable: true }, { ...text, nullable: true, maxLength: 5 }, ['has maxLength 5']],
  ])('between %j and %j is %j', (before, after, says) => {
    expect(compareSchemas(before, after, 'p')).toEqual(says.map((one) => ({ path: 'p', says: one })))
  })

  it('is that a field is new, also one of a name that every object inherits', () => {
    const fields: StructuralSchema = { type: 'object', properties: { constructor: text } }
    expect(compareSchemas({ type: 'object' }, fields)).toEqual([{ path: 'constructor', says: 'is new' }])
  })

  it('is guessed only of a field of the same type that is required now', () => {
    const was: StructuralSchema = { type: 'object', properties: { a: text } }
    const gone = 'is gone: the next write of an object drops it'
    const told = (is: StructuralSchema) => compareSchemas(was, is).find(({ path }) => path === 'a')?.says
    expect(told({ type: 'object', properties: { b: text } })).toBe(gone)
    expect(told({ type: 'object', properties: { b: whole }, required: ['b'] })).toBe(gone)
    expect(told({ type: 'object', properties: { b: text }, required: ['b'] })).toContain('called b now')
    const needed = { ...was, properties: { a: { ...text, default: 'x' } }, required: ['a'] }
    expect(compareSchemas({ ...was, properties: { a: { ...text, default: 'x' } } }, needed)).toEqual([])
    expect(compareSchemas({ ...was, required: ['a'] }, { ...was, required: ['a'] })).toEqual([])
  })
})

describe('the options of an enum', () => {
  const options = optionsOf(['a', 1, null, true, { x: [1, 'yy'] }, [2], { p: 1, q: 'a long text' }, { n: null }])
  it.each<[Json, boolean]>([
    ['a', true],
    ['1', false],
    [1, true],
    [2, false],
    [null, true],
    [true, true],
    [false, false],
    [{ x: [1, 'yy'] }, true],
    [{ x: [1, 'yyy'] }, false],
    [{ q: 'a long text', p: 1 }, true],
    [{ q: 'a long text', p: 2 }, false],
    [{ n: null }, true],
    [{ n: [null] }, false],
    [{ x: [1, 'yy'], z: 1 }, false],
    [[2], true],
    [[2, 2], false],
    [{}, false],
    [[], false],
  ])('have %j: %s', (value, has) => {
    expect(options.has(value)).toBe(has)
  })

  it('have names as errors print them, a thousand at most', () => {
    expect(options.names.slice(0, 6)).toEqual(['a', '1', 'null', 'true', '{"x":[1,"yy"]}', '[2]'])
    expect(options.names).toBe(options.names)
    expect(optionsOf(Array.from({ length: 1_001 }, (_, i) => i)).names).toHaveLength(1_000)
    expect(optionsOf([]).has('a')).toBe(false)
  })
})

describe('a pattern', () => {
  it.each([
    ['a'.repeat(5_000), undefined],
    ['a'.repeat(5_001), 'unrolls to more than 5000 steps'],
    ['a'.repeat(10_001), 'has more than 10000 characters'],
    [`(${'a'.repeat(10)}){500}`, undefined],
    [`(${'a'.repeat(10)}){501}`, 'unrolls to more than 5000 steps'],
    [`(${'a'.repeat(10)}){1,500}`, undefined],
    [`(${'a'.repeat(10)}){1,501}`, 'unrolls to more than 5000 steps'],
    [`(${'a'.repeat(10)}){501,}`, 'unrolls to more than 5000 steps'],
    [`b{1000}(${'a'.repeat(10)}){400}`, undefined],
    [`b{1000}(${'a'.repeat(10)}){401}`, 'unrolls to more than 5000 steps'],
    [`(b(${'a'.repeat(9)}){10}){54}`, undefined],
    [`(b(${'a'.repeat(9)}){10}){55}`, 'unrolls to more than 5000 steps'],
  ])('of the form %# is refused: %s', (source, fault) => {
    if (fault === undefined) expect(() => compilePattern(source)).not.toThrow()
    else expect(() => compilePattern(source)).toThrow(fault)
  })

  it.each([
    ['', 0],
    ['abc', 3],
    ['a{3}', 3],
    ['a{3,5}', 5],
    ['a{0}', 1],
    ['(ab){3}c', 7],
    ['[a-z]{4}', 4],
    ['\\d{2}\\{', 3],
    ['\\pL{2}', 3],
    ['((a){2}b){2}', 6],
  ])('%s is worth so many steps a character: %d', (source, steps) => {
    expect(compilePattern(source).stepsPerCharacter).toBe(steps)
  })

  it('has the white space of RE2, and not that of JavaScript', () => {
    const { matches } = compilePattern('^\\s$')
    expect([' ', '\t', '\u00a0', '\u2003'].map(matches)).toEqual([true, true, false, false])
  })

  it('takes time in proportion to the text, also where nothing repeats but characters', () => {
    expect(compilePattern('^a*a*a*a*a*a*$').matches(`${'a'.repeat(2_000)}!`)).toBe(false)
  })

  it('matches a long text as it matches a short one', () => {
    const { matches } = compilePattern('^[a-z]+$')
    for (const length of [9_999, 10_000, 10_001])
      expect([matches('a'.repeat(length)), matches(`${'a'.repeat(length - 1)}!`)]).toEqual([true, false])
  })
})

describe('defaults', () => {
  const filled = (...values: readonly Json[]) =>
    applyDefaults(
      { type: 'object', properties: Object.fromEntries(values.map((value, i) => [`f${i}`, { default: value }])) },
      {},
    )
  const most = 350 * 1_024

  it('are no more than an object may hold, in values and characters', () => {
    expect(() => filled('x'.repeat(most - 1))).not.toThrow()
    expect(() => filled('x'.repeat(most))).toThrow(expect.objectContaining({ code: 'TOO_LARGE' }))
    expect(() => filled('x'.repeat(most - 5), [1, { a: 2 }, null])).toThrow('more than 358400 bytes')
    expect(() => filled('x'.repeat(most - 5), [1, { a: 2 }])).not.toThrow()
  })

  it('are not counted where there is none', () => {
    const properties = { f0: { ...text, default: 'x'.repeat(most - 1) }, f1: text }
    expect(() => applyDefaults({ type: 'object', properties }, { f1: null })).not.toThrow()
  })

  it('are for objects, and a null without one goes away', () => {
    const schema: StructuralSchema = { type: 'object', properties: { a: { ...text, default: 'x' }, b: text } }
    expect(applyDefaults(schema, 'x')).toBe('x')
    expect(applyDefaults(schema, null)).toBeNull()
    expect(Object.entries(applyDefaults(schema, { a: null, b: null }))).toEqual([['a', 'x']])
  })

  it('have their own nulls', () => {
    expect(filled({ a: null, b: [null] })).toEqual({ f0: { a: null, b: [null] } })
  })
})

describe('why an object does not fit its schema', () => {
  const schema: StructuralSchema = {
    type: 'object',
    required: ['spec', 'status'],
    properties: {
      spec: { type: 'object', additionalProperties: { ...text, maxLength: 3 } },
      status: { type: 'object', properties: { n: whole } },
    },
  }
  const object = (spec: JsonObject): ApiObject =>
    ({ apiVersion: 'v1', kind: 'K', metadata: { name: 'a' }, spec }) as never

  it('is nothing of what fits with its defaults', () => {
    const { spec: _, ...none } = object({})
    const spec: StructuralSchema = { type: 'object', default: {}, properties: { a: { ...text, default: 'x' } } }
    const withDefaults: StructuralSchema = { type: 'object', required: ['spec'], properties: { spec } }
    expect([object({}), object({ a: 'y' }), none as ApiObject].map((one) => describeFaults(withDefaults, one))).toEqual(
      [undefined, undefined, undefined],
    )
    expect(describeFaults(withDefaults, object({ a: 5 }))).toBe('spec.a: Invalid value: it is of another type')
  })

  it('is told by nobody where the schema is none', () => {
    const broken: StructuralSchema = {
      type: 'object',
      properties: { spec: { type: 'object', properties: { a: { ...text, pattern: '(' } } } },
    }
    expect(() => describeFaults(broken, object({ a: 'x' }))).toThrow('missing closing )')
  })

  it('is nothing of what fits, whatever its status says', () => {
    expect(describeFaults(schema, object({ a: 'abc' }))).toBeUndefined()
    expect(describeFaults(schema, { ...object({}), status: { n: 'x' } })).toBeUndefined()
    expect(describeFaults({ type: 'object' }, object({ a: 5 }))).toBeUndefined()
  })

  it('is told without the values, ten at a time', () => {
    const long = (count: number) =>
      object(Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, 'long'])))
    expect(describeFaults(schema, object({ a: 'secret', b: 5 }))).toBe(
      'spec.a: Too long, spec.b: Invalid value: it is of another type',
    )
    const told = (count: number): string => Array.from({ length: count }, (_, i) => `spec.f${i}: Too long`).join(', ')
    expect(describeFaults(schema, long(10))).toBe(told(10))
    expect(describeFaults(schema, long(11))).toBe(`${told(10)} and 1 more`)
  })

  it('is that its defaults are too large', () => {
    const large: StructuralSchema = {
      type: 'object',
      properties: { spec: { type: 'object', properties: { a: { ...text, default: 'x'.repeat(400_000) } } } },
    }
    expect(describeFaults(large, object({}))).toBe('with its defaults it is larger than an object may be')
  })
})

describe('a part of metadata that is not of its type', () => {
  it.each<[Json, string | undefined]>([
    [{}, undefined],
    [null, undefined],
    [5, 'metadata must be an object'],
    [[], 'metadata must be an object'],
    [{ name: 5 }, 'metadata.name must be a string; quote it in YAML'],
    [{ name: null, unknown: 5 }, undefined],
    [{ generation: 1.5 }, 'metadata.generation must be an integer'],
    [{ labels: { a: 1 } }, 'metadata.labels.a must be a string; quote it in YAML'],
    [{ labels: [] }, 'metadata.labels must be an object'],
    [{ labels: { a: null, b: 'x' } }, undefined],
    [{ finalizers: ['a', 5] }, 'metadata.finalizers[1] must be a string; quote it in YAML'],
    [{ finalizers: 'a' }, 'metadata.finalizers must be a list'],
    [{ finalizers: [null] }, undefined],
    [{ ownerReferences: [{}, { controller: 'yes' }] }, 'metadata.ownerReferences[1].controller must be a boolean'],
    [{ creationTimestamp: 'soon' }, 'metadata.creationTimestamp must be a time such as 2026-01-01T00:00:00Z'],
    [{ creationTimestamp: '2026-01-01T00:00:00.5+01:00' }, undefined],
    [
      { creationTimestamp: '2026-02-30T00:00:00Z' },
      'metadata.creationTimestamp must be a time such as 2026-01-01T00:00:00Z',
    ],
    [
      { creationTimestamp: '2026-01-01t00:00:00z' },
      'metadata.creationTimestamp must be a time such as 2026-01-01T00:00:00Z',
    ],
    [
      { managedFields: [{ fieldsV1: { a: 5 }, time: 'x' }] },
      'metadata.managedFields[0].time must be a time such as 2026-01-01T00:00:00Z',
    ],
    [{ constructor: 5 }, undefined],
  ])('of %j: %s', (metadata, fault) => {
    const found = metadataFault(metadata)
    expect(found && `${found.field} ${found.why}`).toBe(fault)
  })
})

it('a field is one that an object has itself, whatever it is called', () => {
  const object = JSON.parse('{"a":null,"__proto__":1}') as JsonObject
  const fields = ['a', '__proto__', 'constructor', 'b']
  expect(fields.map((name) => hasField({ ...object, b: undefined }, name))).toEqual([true, true, false, false])
  const made: JsonObject = {}
  setField(made, '__proto__', 1)
  setField(made, 'a', 2)
  for (const name of ['__proto__', 'a'])
    expect(Object.getOwnPropertyDescriptor(made, name)).toMatchObject({
      writable: true,
      enumerable: true,
      configurable: true,
    })
})

describe('the work of checking a value', () => {
  it('ends, and the value is refused', () => {
    const branch: StructuralSchema = { anyOf: Array.from({ length: 200 }, () => ({ required: ['x'] })) }
    const schema: StructuralSchema = { type: 'array', items: { type: 'object', ...branch } }
    const [error] = validate(
      schema,
      Array.from({ length: 1_000 }, () => ({})),
      { path: 'p' },
    )
    expect(error?.field).toBe('p[0]')
    const fitting: StructuralSchema = { type: 'array', items: { type: 'object', anyOf: [...(branch.anyOf ?? []), {}] } }
    const items = (count: number) => Array.from({ length: count }, () => ({ a: 1 }))
    expect(validate(fitting, items(125), { path: 'p' })).toEqual([])
    expect(validate(fitting, items(200), { path: 'p' })).toMatchObject([
      { field: 'p', message: expect.stringContaining('takes too many steps to be checked') as string },
    ])
  })
})
