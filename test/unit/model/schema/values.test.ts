/** Of each schema, values that fit it and values that do not, by the quick answer and by the walk alike. */
import { describe, expect, it } from 'vitest'
import type { Json } from '../../../../shared/model/json.ts'
import { question } from '../../../../shared/model/schema/fit/fit.ts'
import { objectFits } from '../../../../shared/model/schema/fit/fits.ts'
import { isSettled } from '../../../../shared/model/schema/settled.ts'
import type { StructuralSchema } from '../../../../shared/model/schema/structural-schema.ts'
import { interpretSchema, validate } from '../../../../shared/model/schema/validate.ts'

const text: StructuralSchema = { type: 'string' }
const whole: StructuralSchema = { type: 'integer' }
const number: StructuralSchema = { type: 'number' }
const flag: StructuralSchema = { type: 'boolean' }
const list = (more: StructuralSchema = {}): StructuralSchema => ({ type: 'array', items: whole, ...more })
const object = (more: StructuralSchema = {}): StructuralSchema => ({ type: 'object', ...more })
const preserving = { 'x-kubernetes-preserve-unknown-fields': true } as const
const big = 2 ** 53

const rows: readonly (readonly [string, StructuralSchema, readonly Json[], readonly Json[]])[] = [
  ['a text', text, ['', 'a'], [1, true, [], {}, null]],
  ['a text that may be null', { ...text, nullable: true }, ['', null], [1]],
  [
    'a text of some length',
    { ...text, minLength: 2, maxLength: 3 },
    ['ab', 'abc', '𝒳𝒳', '𝒳𝒳𝒳', 'a𝒳'],
    ['a', 'abcd', '𝒳', '𝒳𝒳𝒳𝒳', '𝒳a𝒳b'],
  ],
  ['a text of one length', { ...text, minLength: 1, maxLength: 1 }, ['a', '𝒳'], ['', 'ab', '𝒳a']],
  ['an empty text', { ...text, maxLength: 0 }, [''], ['a', '𝒳']],
  ['a text that is not empty', { ...text, minLength: 1 }, ['a', '𝒳'], ['']],
  ['a text by a pattern', { ...text, pattern: '^a+$' }, ['a', 'aa'], ['', 'b', 'ab']],
  ['an empty text by a pattern', { ...text, pattern: '^a*$' }, ['', 'a'], ['b']],
  ['one of some values, of which one is no text', { ...text, enum: ['a', 5] }, ['a'], [5]],
  ['a text, or else anything', { ...text, anyOf: [{}] }, ['a'], [5, {}]],
  ['a text by a pattern within it', { ...text, pattern: 'b' }, ['b', 'abc'], ['', 'a']],
  ['a text by a format', { ...text, format: 'date' }, ['2026-01-01'], ['2026-13-01', '']],
  ['a text by a format that nobody knows', { ...text, format: 'nobody' }, ['x', ''], [5]],
  ['a text by both', { ...text, format: 'ipv4', maxLength: 7 }, ['1.2.3.4'], ['11.2.3.4', '1.2.3']],
  ['a whole number', whole, [0, -1, big, 2 ** 63, -(2 ** 63)], [0.5, 2 ** 64, '1', true, null]],
  ['a whole number within bounds', { ...whole, minimum: -1, maximum: 2 }, [-1, 0, 2], [-2, 3, 0.5]],
  [
    'a whole number between bounds',
    { ...whole, minimum: -1, maximum: 2, exclusiveMinimum: true, exclusiveMaximum: true },
    [0, 1],
    [-1, 2],
  ],
  ['a whole number above a large bound', { ...whole, minimum: big }, [big, big + 2], [big - 1]],
  ['a whole number below a fraction', { ...whole, maximum: 1.5 }, [1], [2]],
  ['a whole number above a fraction', { ...whole, minimum: 0.5, exclusiveMinimum: true }, [1], [0]],
  ['a multiple', { ...whole, multipleOf: 3 }, [0, 3, -6, 3e15], [1, 4, 3e15 + 1]],
  ['an int32', { ...whole, format: 'int32' }, [2 ** 31 - 1, -(2 ** 31)], [2 ** 31, -(2 ** 31) - 1, 0.5]],
  ['an int64', { ...whole, format: 'int64' }, [2 ** 31, 2 ** 62], [2 ** 64]],
  ['a number', number, [0, 0.5, 1e300], ['0', null, true]],
  ['a number within bounds', { ...number, minimum: 0.5, maximum: 1.5 }, [0.5, 1, 1.5], [0.4, 1.6]],
  [
    'a number between bounds',
    { ...number, minimum: 0.5, maximum: 1.5, exclusiveMinimum: true, exclusiveMaximum: true },
    [0.6, 1.4],
    [0.5, 1.5],
  ],
  [
    'a multiple of a fraction',
    { ...number, multipleOf: 0.1 },
    [0.3, 0.7, 1e6, 1234567.1, 123456789.1],
    [0.35, 0.05, 1e-10 + 0.35],
  ],
  ['a multiple of a large number', { ...number, multipleOf: 1.5 }, [3e9, 4.5], [3e9 + 1, 2]],
  ['a float', { ...number, format: 'float' }, [3.4e38, -3.4e38], [3.5e38, -1e39]],
  ['a double', { ...number, format: 'double' }, [1e300], ['x']],
  ['a flag', flag, [true, false], [0, 'true', null]],
  ['a flag that may be null', { ...flag, nullable: true }, [true, null], [0]],
  ['an int or a text', { 'x-kubernetes-int-or-string': true }, [1, 'a'], [0.5, true, [], {}]],
  [
    'an int or a text, within bounds',
    { 'x-kubernetes-int-or-string': true, maximum: 2, maxLength: 1 },
    [1, 'a'],
    [3, 'ab'],
  ],
  ['one of some texts', { ...text, enum: ['a', 'b'] }, ['a', 'b'], ['c', '']],
  ['one of some numbers', { ...whole, enum: [1, 2] }, [1], [3]],
  ['one of some flags', { ...flag, enum: [true] }, [true], [false]],
  ['one of some objects', object({ ...preserving, enum: [{ a: 1 }] }), [{ a: 1 }], [{ a: 2 }, {}]],
  ['a list', list(), [[], [1, 2]], [['a'], [1, 0.5], {}, 'x', null]],
  ['a list of some length', list({ minItems: 1, maxItems: 2 }), [[1], [1, 2]], [[], [1, 2, 3]]],
  [
    'a list of unique items',
    list({ uniqueItems: true }),
    [[], [1], [1, 2]],
    [
      [1, 1],
      [1, 2, 1],
    ],
  ],
  ['a list that may repeat', list({ uniqueItems: false }), [[1, 1]], [['a']]],
  [
    'a list with all bounds',
    list({ minItems: 1, maxItems: 2, uniqueItems: true }),
    [[1], [1, 2]],
    [[], [1, 2, 3], [1, 1]],
  ],
  [
    'a number with all bounds',
    { ...whole, minimum: 0, maximum: 9, exclusiveMinimum: true, exclusiveMaximum: true, multipleOf: 3 },
    [3, 6],
    [0, 9, 4],
  ],
  [
    'an object with all bounds',
    object({ ...preserving, minProperties: 2, maxProperties: 3, required: ['a'] }),
    [
      { a: 1, b: 2 },
      { a: 1, b: 2, c: 3 },
    ],
    [{ a: 1 }, { b: 1, c: 2 }, { a: 1, b: 2, c: 3, d: 4 }],
  ],
  ['a text with all bounds', { ...text, minLength: 1, maxLength: 2, pattern: 'a' }, ['a', 'ab'], ['', 'b', 'abc']],
  ['a set', list({ 'x-kubernetes-list-type': 'set' }), [[], [1], [1, 2]], [[1, 1]]],
  ['an atomic list', list({ 'x-kubernetes-list-type': 'atomic' }), [[1, 1]], [['a']]],
  [
    'a list of texts within bounds',
    { type: 'array', items: { ...text, minLength: 1, maxLength: 2 } },
    [['a', 'ab', '𝒳𝒳']],
    [[''], ['abc'], ['a', 'abc'], [1]],
  ],
  ['a list of flags', { type: 'array', items: flag }, [[true, false]], [[1], ['true']]],
  ['a list of lists', { type: 'array', items: list({ maxItems: 1 }) }, [[[], [1]]], [[[1, 2]], [1]]],
  ['a list of items that may be null', { type: 'array', items: { ...whole, nullable: true } }, [[1, null]], [['a']]],
  ['an object', object(), [{}], [[], 'x', 1, null]],
  ['an object that may be null', object({ nullable: true }), [{}, null], [[]]],
  [
    'an object with fields',
    object({ properties: { a: whole, b: text } }),
    [{}, { a: 1 }, { a: 1, b: 'x' }, { b: 'x', a: 1 }],
    [{ a: 'x' }, { a: 1, b: 1 }, { b: 'x', a: 0.5 }],
  ],
  [
    'an object that must have fields',
    object({ required: ['a', 'b'], properties: { a: whole, b: text } }),
    [
      { a: 1, b: 'x' },
      { b: 'x', a: 1 },
    ],
    [{}, { a: 1 }, { b: 'x' }],
  ],
  [
    'an object that must have a field beyond those',
    object({ required: ['c'], properties: { a: whole }, ...preserving }),
    [{ c: 1 }, { a: 1, c: null }],
    [{ a: 1 }, {}],
  ],
  [
    'an object of some size',
    object({ ...preserving, minProperties: 1, maxProperties: 2 }),
    [{ a: 1 }, { a: 1, b: 2 }],
    [{}, { a: 1, b: 2, c: 3 }],
  ],
  ['a map', object({ additionalProperties: whole }), [{}, { a: 1, b: 2 }], [{ a: 'x' }, { a: 1, b: 'x' }]],
  [
    'a map of some size',
    object({ additionalProperties: whole, minProperties: 1, maxProperties: 1 }),
    [{ a: 1 }],
    [{}, { a: 1, b: 2 }],
  ],
  [
    'a map of maps',
    object({ additionalProperties: object({ additionalProperties: flag }) }),
    [{ a: { b: true } }],
    [{ a: { b: 1 } }, { a: true }],
  ],
  [
    'an object of no other fields',
    object({ properties: { a: whole }, additionalProperties: false }),
    [{ a: 1 }, {}],
    [{ b: 1 }, { a: 1, b: 1 }],
  ],
  [
    'an object of any other fields',
    object({ properties: { a: whole }, additionalProperties: true }),
    [{ a: 1 }, { b: 1 }, { b: 'x' }],
    [{ a: 'x' }],
  ],
  ['either of two', { ...whole, anyOf: [{ minimum: 5 }, { maximum: 1 }] }, [5, 1, 0, 9], [2, 4]],
  ['one of two', { ...whole, oneOf: [{ minimum: 3 }, { maximum: 5 }] }, [2, 6], [3, 4, 5]],
  ['both of two', { ...whole, allOf: [{ minimum: 3 }, { maximum: 5 }] }, [3, 5], [2, 6]],
  ['all of one', { ...whole, allOf: [{ minimum: 3 }] }, [3], [2]],
  ['either of one', { ...whole, anyOf: [{ minimum: 3 }] }, [3], [2]],
  ['one of one', { ...whole, oneOf: [{ minimum: 3 }] }, [3], [2]],
  ['either, and one', { ...whole, anyOf: [{ minimum: 3 }], oneOf: [{ maximum: 5 }] }, [3, 5], [2, 6]],
  ['all, and either', { ...whole, allOf: [{ minimum: 3 }], anyOf: [{ maximum: 5 }] }, [3, 5], [2, 6]],
  ['no other, and one', { ...whole, not: { maximum: 2 }, oneOf: [{ maximum: 5 }] }, [3, 5], [2, 6]],
  ['not another', { ...whole, not: { minimum: 3 } }, [2], [3]],
  ['not both of two', { ...whole, not: { allOf: [{ minimum: 3 }, { maximum: 5 }] } }, [2, 6], [4]],
  [
    'either of two by their fields',
    object({
      properties: { a: whole, b: whole },
      anyOf: [{ required: ['a'] }, { properties: { b: { minimum: 3 } }, required: ['b'] }],
    }),
    [{ a: 1 }, { b: 3 }],
    [{}, { b: 2 }],
  ],
  ['either of two, or null', { ...whole, nullable: true, anyOf: [{ minimum: 5 }] }, [5, null], [1]],
  ['anything', preserving, [1, 'a', [], {}, [{ a: [1] }]], []],
  [
    'anything that has a field, if it is an object',
    { ...preserving, required: ['a'] },
    [1, 'a', true, [], { a: 1 }],
    [{}],
  ],
  [
    'anything within bounds',
    { ...preserving, maximum: 2, maxLength: 1, maxItems: 1, maxProperties: 1 },
    [2, 0.5, 'a', [1], { a: 1 }, true],
    [3, 'ab', [1, 2], { a: 1, b: 2 }],
  ],
  [
    'a list by its keys',
    {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['a'],
      items: object({ properties: { a: text, b: text } }),
    },
    [[], [{ a: 'x' }], [{ a: 'x' }, { a: 'y' }], [{}]],
    [
      [{ a: 'x' }, { a: 'x', b: 'y' }],
      [{}, {}],
    ],
  ],
  [
    'a list by a key, of items and keys that may be null',
    {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['a'],
      items: object({ nullable: true, properties: { a: { ...text, nullable: true } } }),
    },
    [
      [{ a: 'x' }, {}],
      [{ a: null }, {}],
      [null, { a: 'x' }],
    ],
    [
      [null, null],
      [{}, {}],
      [{ a: null }, { a: null }],
    ],
  ],
  [
    'a list by a key, of anything',
    { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['a'], items: preserving },
    [[{ a: 1 }, { a: '1' }], [{}]],
    [[5], [{ a: 1 }, 5], [[]]],
  ],
  [
    'a set of anything',
    { type: 'array', 'x-kubernetes-list-type': 'set', items: { ...preserving, nullable: true } },
    [[1, '1', null]],
    [
      [null, null],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
    ],
  ],
  [
    'a list by two keys',
    {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['a', 'b'],
      items: object({ properties: { a: text, b: whole } }),
    },
    [
      [
        { a: 'x', b: 1 },
        { a: 'x', b: 2 },
      ],
      [{ a: 'x' }, { b: 1 }],
      [{ a: '1' }, { a: '1', b: 1 }],
    ],
    [
      [
        { a: 'x', b: 1 },
        { b: 1, a: 'x' },
      ],
      [{ a: 'x' }, { a: 'x' }],
    ],
  ],
]

describe.each(rows)('%s', (_what, given, valid, invalid) => {
  /** What was found out of a schema is remembered: each test has one of its own. */
  const ask = () => {
    const schema = structuredClone(given)
    const holder: StructuralSchema = { type: 'object', properties: { v: schema, w: text } }
    return {
      holder,
      errorsOf: (value: Json) => validate(schema, value, { path: 'v' }),
      walked: (value: Json) => interpretSchema(schema, value, { path: 'v' }),
      fits: (value: Json) => objectFits(holder, { v: value }, question.valid),
    }
  }

  it('takes what fits, at once', () => {
    const { errorsOf, walked, fits } = ask()
    for (const value of valid) {
      expect({ value, errors: errorsOf(value) }).toEqual({ value, errors: [] })
      expect({ value, errors: walked(value) }).toEqual({ value, errors: [] })
      expect({ value, fits: fits(value) }).toEqual({ value, fits: true })
    }
  })

  it('refuses what does not', () => {
    const { holder, errorsOf, walked, fits } = ask()
    for (const value of invalid) {
      expect({ value, count: errorsOf(value).length }).not.toEqual({ value, count: 0 })
      expect(errorsOf(value)).toEqual(walked(value))
      expect({ value, fits: fits(value) }).toEqual({ value, fits: false })
      expect(isSettled(holder, { v: value })).toBe(false)
      // What was so before may stay.
      expect(validate(holder, { v: value, w: 'x' }, { old: { v: structuredClone(value) } })).toEqual([])
      expect(validate(holder, { v: value, w: 'x' }, { old: { v: valid[0] ?? null } })).not.toEqual([])
    }
  })
})
